"""UT for video whose steps follow its dictionary, as those of dust_bounded: training cannot lengthen them.

With the constant c of the start constrained UT lengthens one direction of its dictionary until single inputs
explode at the paper's size (data/evidence/NOTES.md).
"""

from descent.models.ut import Budget, Settings, build, width

__all__ = ["Budget", "Settings", "build", "width"]

LABEL = "UT, bounded steps"
TASK = "video"
INPUTS = "patches"
LIKE = "ut"
