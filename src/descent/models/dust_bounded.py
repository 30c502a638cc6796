"""DUST with a dictionary a layer in every arm, whose steps are as long as descent on the reconstruction allows.

Its c follows each dictionary through training. With the constant c of the start training may make steps of which
(76) is no descent any more: it does, in both arms, and the more so in plain training (data/evidence/NOTES.md).
"""

from descent.models.dust import Budget, Settings, build, width

__all__ = ["Budget", "Settings", "build", "width"]

LABEL = "DUST, bounded steps"
TASK = "video"
INPUTS = "patches"
LIKE = "dust"
