"""DUST with a dictionary a layer in every arm: a pair of equal capacity beside the paper's."""

from descent.models.dust import Budget, Settings, build, width

__all__ = ["Budget", "Settings", "build", "width"]

LABEL = "DUST, a dictionary a layer"
TASK = "video"
INPUTS = "patches"
LIKE = "dust"
