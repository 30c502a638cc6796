"""The published parts of a profile's programme, judged as one: what the README begins with.

The programme may be run and published in parts, each of its own settings; the primary claims stay one family for
Holm.
"""

from pathlib import Path

from descent.analysis import grounds, parts, scorecard, sensitivity
from descent.config import Params
from descent.figures.beyond import fig_forest
from descent.figures.parts import style
from descent.io.folders import write_text
from descent.report import first_screen

CLAIMS, AVERAGES, FOREST = "claims.csv", "sensitivity.csv", "fig_forest.png"
DIGITS = "%.6g"


def parted(root: Path, profile: str) -> tuple[list[Path], list[Path]]:
    """The folders of what was published of a profile and is judged together, and those of runs that were announced
    to be judged alone, and join no other's claim (`judged`)."""
    digits = "[0-9a-f]" * 8  # evidence.folder_name
    folders = sorted(file.parent for file in root.glob(f"{profile}-{digits}/facts.csv"))
    alone = [folder for folder in folders if _alone(folder)]
    return [folder for folder in folders if folder not in alone], alone


def _alone(folder: Path) -> bool:
    return grounds.parameters(folder).get("judged") == "alone"


def write(root: Path, params: Params) -> str:
    """Write claims.csv, sensitivity.csv, the forest plot and a README.md of all parts into `root`.

    Returns the README's first screen.

    Raises:
        UserError: as of parts.joined.
    """
    folders, others = parted(root, params.profile)
    pairs, facts = parts.joined(folders)
    card = scorecard.judged(pairs, facts)
    models = scorecard.by_model(pairs, facts)
    write_text(root / CLAIMS, card.to_csv(index=False, float_format=DIGITS, lineterminator="\n"))
    style.use(params)
    style.save(fig_forest.forest(card, models, params), root / FOREST)
    averages = sensitivity.table(pairs, facts)
    write_text(root / AVERAGES, averages.to_csv(index=False, float_format=DIGITS, lineterminator="\n"))
    cells = parts.counting(folders)
    page = first_screen.behind(card, models, averages, cells, folders, others, params)
    write_text(root / first_screen.PARTS, page)
    return first_screen.first_screen(card, models, averages, cells, folders, others, params)
