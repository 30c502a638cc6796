"""UT for video with weights of its own in every layer."""

from descent.models.ut import Budget, Settings, build, width

__all__ = ["Budget", "Settings", "build", "width"]

LABEL = "UT, untied"
TASK = "video"
INPUTS = "patches"
LIKE = "ut"
