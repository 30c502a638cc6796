"""ERM on a range of noise levels: plain noise augmentation, the other way to what descent constraints promise."""

from descent.arms.unconstrained import Arm, Settings

__all__ = ["Arm", "Settings"]

LABEL = "ERM, range of noise"
ENFORCES = False
ALL_LAYERS = False
NOISE = "range"  # the level of each input is drawn from U(0, eps); validation is at eps, as of every arm
