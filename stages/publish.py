"""python -m stages.publish: the README's pictures to data/evidence/<profile>/; no stage of the DAG."""

import shutil
from pathlib import Path

from descent import config, errors

PICTURES = ("video/fig02_video_robustness.png", "beyond/fig_frames.png", "beyond/fig_lens.png")


def main() -> None:
    """Copy what the README shows from the figures of the last run.

    Raises:
        UserError: no run has made them.
    """
    profile = config.load(config.OF_RESULTS).profile
    folder = Path("data/evidence") / profile
    folder.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        made = Path("figures") / name
        if not made.is_file():
            raise errors.UserError(f"{made} is missing: run `make repro`")
        shutil.copyfile(made, folder / made.name)
        print(f"{folder / made.name}: published from profile {profile}")


if __name__ == "__main__":
    errors.run(main)
