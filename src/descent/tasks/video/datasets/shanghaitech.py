"""ShanghaiTech Campus: thirteen cameras along roads, people and cyclists."""

from pathlib import Path

from descent.tasks.video.synthetic import scenery
from descent.tasks.video.synthetic.footage import Frames, write_pictures, write_video
from descent.tasks.video.synthetic.scenes import Scene

LABEL = "ShanghaiTech"
TREE = "training/videos/*.avi and testing/frames/01_0014/*.jpg"
ADDRESS = "https://svip-lab.github.io/dataset/campus_dataset.html (by hand)"
SIZE = {"train": (330, 274515), "test": (107, 42883)}  # clips and frames of the official set, for estimates
SCENE = Scene(
    width=428,
    height=240,
    backdrop=scenery.campus,
    mean=122.0,
    contrast=45.0,
    views=13,
    people=(7, 11),
    horizon=0.3,
    feet=(0.6, 1.02),
    tallest=0.5,
    speed=0.035,
    across=0.85,
    cyclists=0.35,
    lean=(0.35, 0.15),
)


def write(out: Path, split: str, number: int, frames: Frames) -> None:
    """Write one clip as the real data set has it: training clips as videos, test clips as pictures."""
    camera = (number - 1) % SCENE.views + 1
    if split == "train":
        write_video(out / f"training/videos/{camera:02d}_{number:03d}.avi", frames)
    else:
        write_pictures(out / f"testing/frames/{camera:02d}_{number:04d}", "{:03d}.jpg", 0, frames)
