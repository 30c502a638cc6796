"""DUST with a dictionary a layer in every arm, whose steps and threshold follow each dictionary.

A dictionary times a number is then the same layer. In dust_bounded training can make a threshold that is fixed
count for less, or more, by a smaller or larger dictionary: this model tells what its steps do from that.
"""

from descent.models.dust import Budget, Settings, build, width

__all__ = ["Budget", "Settings", "build", "width"]

LABEL = "DUST, scaled"
TASK = "video"
INPUTS = "patches"
LIKE = "dust"
