"""DUST with a dictionary a layer in every arm and no soft threshold: what is left are its attention and its steps.

The code of a layer is then no sparse one. It trains to its end in minutes, where plain training does not descend.
"""

from descent.models.dust import Budget, Settings, build, width

__all__ = ["Budget", "Settings", "build", "width"]

LABEL = "DUST, no threshold"
TASK = "video"
INPUTS = "patches"
LIKE = "dust"
