"""python -m stages.publish: the README's pictures to data/evidence/<profile>/; no stage of the DAG."""

import shutil
from pathlib import Path

from descent import config, errors, kept
from descent.figures.parts import catalogue
from descent.io.folders import atomic_file

PICTURES = ("video/fig02_video_robustness.png", "beyond/fig_frames.png", "beyond/fig_lens.png")


def main() -> None:
    """Copy what the README shows from the last run's figures, of real data no picture of single inputs.

    Raises:
        UserError: no run has made them.
    """
    params = config.load(kept.OF_RESULTS)
    folder = Path("data/evidence") / params.profile
    folder.mkdir(parents=True, exist_ok=True)
    entries = {Path("figures") / name: catalogue.module(Path(name).stem) for name in PICTURES}
    pictures = {made: catalogue.unpublished(entry, params) for made, entry in entries.items()}
    shown = [made for made, why in pictures.items() if not why]
    if missing := [str(made) for made in shown if not made.is_file()]:
        raise errors.UserError(f"{' and '.join(missing)} missing: run `make repro`")
    for made, why in pictures.items():
        if why:
            print(f"{made}: not published, as {why}")
            continue
        with atomic_file(folder / made.name) as partial:
            shutil.copyfile(made, partial)
        print(f"{folder / made.name}: published from profile {params.profile}")


if __name__ == "__main__":
    errors.run(main)
