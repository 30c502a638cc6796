"""CUHK Avenue: one camera before a hall of columns, few people, near and slow."""

from pathlib import Path

from descent.tasks.video.synthetic import scenery
from descent.tasks.video.synthetic.footage import Frames, write_video
from descent.tasks.video.synthetic.scenes import Scene

LABEL = "Avenue"
TREE = "Avenue Dataset/training_videos/*.avi and Avenue Dataset/testing_videos/*.avi"
ADDRESS = "http://www.cse.cuhk.edu.hk/leojia/projects/detectabnormal/Avenue_Dataset.zip"
SIZE = {"train": (16, 15328), "test": (21, 15324)}  # clips and frames of the official set, for estimates
SCENE = Scene(
    width=320,
    height=180,
    backdrop=scenery.colonnade,
    mean=103.0,
    contrast=62.0,
    views=1,
    people=(4, 6),
    horizon=0.1,
    feet=(0.62, 1.05),
    tallest=0.72,
    speed=0.035,
    across=0.95,
    cyclists=0.0,
    lean=(0.5, 0.12),
)


def write(out: Path, split: str, number: int, frames: Frames) -> None:
    """Write one clip as the real data set has it."""
    write_video(out / f"Avenue Dataset/{split}ing_videos/{number:02d}.avi", frames)
