"""python -m stages.denoise <clip> [cell] [gamma]: a trained model on one's own clip; no stage of the DAG."""

import sys
from pathlib import Path

from descent import config, errors
from descent.errors import UserError
from descent.inference import denoise, trained


def main(clip: str = "", cell: str = "", gamma: str = "") -> None:
    """Write data/denoised/<clip>/: what the model makes of it, and that beside what was given."""
    if not clip:
        raise UserError("name a video or a folder of frames: make denoise FILE=clip.avi")
    params = config.load()
    folder = Path(cell) if cell else trained.default(params, "video")
    try:
        level = float(gamma or 0)
    except ValueError:
        raise UserError(f"NOISE={gamma}: the level of noise to add is a number") from None
    print("\n".join(denoise.clip(params, Path(clip), folder, level)))


if __name__ == "__main__":
    errors.run(main, *sys.argv[1:])
