"""UCSD Ped1 and Ped2: a walkway from above, many people, far away and gray."""

from pathlib import Path

import cv2

from descent.tasks.video.synthetic import scenery
from descent.tasks.video.synthetic.footage import Frames, write_pictures
from descent.tasks.video.synthetic.scenes import Scene

LABEL = "UCSD"
TREE = "UCSDped2/Train/Train001/*.tif and UCSDped2/Test/Test001/*.tif"
ADDRESS = "http://www.svcl.ucsd.edu/projects/anomaly/UCSD_Anomaly_Dataset.tar.gz"
SIZE = {"train": (16, 2550), "test": (12, 2010)}  # clips and frames of Ped2, for estimates
SCENE = Scene(
    width=238,
    height=158,
    backdrop=scenery.walkway,
    mean=115.0,
    contrast=45.0,
    views=1,
    people=(16, 24),
    horizon=-0.9,
    feet=(0.2, 1.05),
    tallest=0.26,
    speed=0.06,
    across=0.5,
    cyclists=0.05,
    lean=(-0.45, 0.1),
)


def write(out: Path, split: str, number: int, frames: Frames) -> None:
    """Write one clip as the real data set has it."""
    gray = (cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY) for frame in frames)
    part = split.capitalize()
    write_pictures(out / f"UCSDped2/{part}/{part}{number:03d}", "{:03d}.tif", 1, gray)
