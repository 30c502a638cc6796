"""DUST with a dictionary a layer in every arm and, in profile small, more atoms than pixels, as the paper's."""

from descent.models.dust import Budget, Settings, build, width

__all__ = ["Budget", "Settings", "build", "width"]

LABEL = "DUST, overcomplete"
TASK = "video"
INPUTS = "patches"
LIKE = "dust"
