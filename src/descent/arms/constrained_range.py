"""Algorithm 1 on a range of noise levels: whether constraints add to plain noise augmentation."""

from descent.arms.constrained import COLUMNS, Arm, Settings

__all__ = ["COLUMNS", "Arm", "Settings"]

LABEL = "constrained, range of noise"
ENFORCES = True
ALL_LAYERS = True
NOISE = "range"  # the level of each input is drawn from U(0, eps); validation is at eps, as of every arm
