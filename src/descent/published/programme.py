"""The published parts of a profile's programme, judged as one: what the README begins with.

The programme may be run and published in parts, each of its own settings; the primary claims stay one family for
Holm.
"""

from pathlib import Path

import pandas as pd

from descent.analysis import csv_files, scorecard, sensitivity
from descent.config import Params
from descent.figures.beyond import fig_forest, fig_price
from descent.figures.parts import style
from descent.io.folders import write_text
from descent.published import (
    files,
    first_screen,
    in_place,
    matchings,
    otherwise,
    page_behind,
    parts,
    priced,
    runs_page,
)
from descent.published.told import PAGE, Verdicts

CLAIMS, AVERAGES, FOREST, VERDICTS = "claims.csv", "sensitivity.csv", "fig_forest.png", "fig_verdicts.png"
PRICES, PRICE = "price.csv", "fig_price.png"


def parted(root: Path, profile: str) -> tuple[list[Path], list[Path]]:
    """The folders of what was published of a profile and is judged together, and those, of any profile, of runs
    that were announced to be judged alone, and join no other's claim (`judged`)."""
    folders = _folders(root)
    alone = [folder for folder in folders if files.values(folder).get("judged") == "alone"]
    return [folder for folder in folders if folder not in alone and _profile(folder) == profile], alone


def leading(root: Path, params: Params) -> Params | None:
    """The parameters that the README begins with: those in use, or where nothing of their profile is judged
    together those of the first part of another one that is; None where there is no such part."""
    for profile in dict.fromkeys([params.profile, *map(_profile, _folders(root))]):
        together, _ = parted(root, profile)
        if together:
            return params if profile == params.profile else files.params(together[0])
    return None


def _folders(root: Path) -> list[Path]:
    return sorted(file.parent for file in root.glob(f"*-{'[0-9a-f]' * 8}/facts.csv"))  # run_folder.folder_name


def _profile(folder: Path) -> str:
    return folder.name.rpartition("-")[0]


def write(root: Path, params: Params) -> str | None:
    """Write claims.csv, sensitivity.csv, pictures of the verdicts, a README.md and a RUNS.md of all parts into
    `root`, and of those with videos what descent costs, price.csv and its picture.

    Returns the README's first screen. Where no part is judged together there is none, and no claim's file.

    Raises:
        UserError: as of parts.joined.
    """
    folders, others = parted(root, params.profile)
    pairs, facts = parts.joined(folders) if folders else (pd.DataFrame(), pd.DataFrame())
    found = otherwise.beside(pairs, facts, folders, others, params) if folders else {}
    prices = priced.settings([*folders, *others])
    said = {otherwise.TITLE: otherwise.tables(found, params), priced.TITLE: priced.table(prices, params)}
    write_text(root / runs_page.PAGE, runs_page.page(folders, others, said, params))
    style.use(params)
    if len(prices):
        csv_files.write(root / PRICES, prices)
        style.save(fig_price.drawn(prices), root / PRICE)
    if not folders:
        return None
    card = scorecard.judged(pairs, facts)
    models = scorecard.by_model(pairs, facts)
    csv_files.write(root / CLAIMS, card)
    style.save(fig_forest.forest(card, models, params), root / FOREST)
    style.save(fig_forest.brief(card, params), root / VERDICTS)
    averages = sensitivity.table(pairs, facts)
    csv_files.write(root / AVERAGES, averages)
    told = Verdicts(params, folders, others, card, models, averages, parts.counted(folders))
    matched = matchings.table(pairs, facts, card)
    solved = otherwise.sentence(found, runs_page.PAGE)
    instead = in_place.markdown(in_place.table(found, pairs, facts, card))
    write_text(root / PAGE, page_behind.page(told, solved, instead, matchings.markdown(matched)))
    return first_screen.text(told, matched)
