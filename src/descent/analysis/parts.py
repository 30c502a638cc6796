"""Several published parts of a programme judged together: pairs and facts that scorecard.judged makes verdicts of.

The settings of a claim may be spread over parts: other data sets, other models. As in one run, a model's cells of
all parts are asked together whether the constraint was there (P3) and whether training had ended (P4); whatever
else keeps it out of the claim in one part does so in all. What a claim says of differences between cells of one
model and data set (depths, values of alpha) must lie in one part. Where parts hold the same model and data set,
the one that trained for more epochs counts, then the one with more trials of the rate (PROTOCOL.md, "What is run
again").
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from descent.analysis import again, alike, preconditions, scorecard
from descent.analysis.case import Case
from descent.analysis.claims import CLAIMS
from descent.analysis.evidence import Evidence
from descent.analysis.preconditions import NOTHING
from descent.analysis.scorecard import FACTS, SETTING, WHOLE
from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError


def joined(folders: Sequence[Path], params: Params) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs and facts of all parts, of which params names the arms that are compared.

    A claim that none tested has the reason of a part whose models it is about, if there is one.

    Raises:
        UserError: two parts hold pairs of one claim, data set and model and neither was trained or tuned for
            longer, or that one lacks settings of the other's; or pairs of one claim that they measured otherwise.
    """
    pairs, facts = map(_stacked, zip(*map(scorecard.load, folders), strict=True))
    trained, found, judged = cells(folders), [], []
    for claim, told in facts.groupby("claim", sort=False):
        own = pairs[pairs["claim"] == claim]
        gone = again.replaced(own, trained[trained["experiment"] == CLAIMS[claim].experiment], folders)
        judged.append(own := again.without(gone, own))
        holding = sorted(set(own["part"]))
        if len(holding) > 1:
            alike.check(str(claim), own, folders)
            found += _facts(told, own, again.without(gone, trained), params)
        else:
            found += _of_one(told, holding)
    return pd.concat(judged).drop(columns="part"), pd.DataFrame(found)[FACTS].reset_index(drop=True)


def _stacked(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([table.assign(part=number) for number, table in enumerate(tables)], ignore_index=True)


def cells(folders: Sequence[Path]) -> pd.DataFrame:
    """The published cells of all parts (summary.cells_table), with the number of their `part`."""
    read = [pd.read_csv(folder / "cells.csv", dtype={"varied": str}, low_memory=False) for folder in folders]
    return _stacked([table.fillna({"varied": ""}) for table in read])


def counting(folders: Sequence[Path]) -> pd.DataFrame:
    """`cells` without a grid's, and those of twice its epochs, that are `replaced`; other studies' cells stay, as
    what a claim says of a study lies in one part.

    Raises:
        UserError: as of joined.
    """
    found = cells(folders)
    of_grid = found["experiment"].isin(TASKS) | found["experiment"].str.startswith(preconditions.LONGER)
    left = again.without(replaced(folders), found[of_grid])
    return pd.concat([left, found[~of_grid]]).sort_index()


def replaced(folders: Sequence[Path]) -> set[tuple[str, str, int]]:
    """Data set, model and number of the part whose grid another part has trained or tuned for longer.

    Raises:
        UserError: as of joined.
    """
    found = cells(folders)
    grid = found[found["experiment"].isin(TASKS) & found["trained"]]
    return again.replaced(grid, grid, folders)


def _of_one(told: pd.DataFrame, holding: Sequence[int]) -> list[dict]:
    """The facts of a claim that at most one part holds pairs of."""
    said = told[told["part"].isin(holding)] if holding else told[told["why"] != NOTHING]
    said = told if said.empty else said
    return said[said["part"] == said["part"].iloc[0]].to_dict("records")


def _facts(told: pd.DataFrame, pairs: pd.DataFrame, cells: pd.DataFrame, params: Params) -> list[dict]:
    """The facts of a claim that several parts hold pairs of: one row for the claim, one for each of its models."""
    held = set(pairs[["model", "part"]].itertuples(index=False, name=None))
    held |= {(WHOLE, part) for _, part in held}
    told = told[[place in held for place in told[["model", "part"]].itertuples(index=False, name=None)]]
    of_models, models = told[told["model"] != WHOLE], []
    for name, rows in of_models.groupby("model"):
        own = pairs[pairs["model"] == name]
        why = _why(rows, own, cells[cells["part"].isin(rows["part"])], params)
        models.append(rows.iloc[0].to_dict() | {"why": "; ".join(dict.fromkeys(why))} | _items(rows["items"]))
    return [_of_claim(told, of_models, models, pairs), *models]


def _why(rows: pd.DataFrame, pairs: pd.DataFrame, cells: pd.DataFrame, params: Params) -> Iterable[str]:
    """What keeps a model out of a claim: P3 and P4 of its cells of all parts, the rest of each part's data sets.

    A part of a relaxed problem may have passed P3 where its cells alone do not tell why: then it is asked no more.
    """
    name = rows["claim"].iloc[0]

    def asked(part: int | None) -> list[str]:
        of = (lambda table: table) if part is None else (lambda table: table[table["part"] == part])
        evidence = Evidence(pd.DataFrame(), params, of(cells))
        return preconditions.of_cells(Case(name, CLAIMS[name], of(pairs), evidence))

    told = {row.part: row.why.split("; ") if row.why else [] for row in rows.itertuples()}
    alone = {part: asked(part) for part in told}
    yield from asked(None) if any(set(alone[part]) & set(told[part]) for part in told) else []
    for part, why in told.items():
        sets = ", ".join(pairs[pairs["part"] == part]["dataset"].unique())
        yield from (f"{sets}: {said}" for said in why if said not in alone[part])


def _of_claim(told: pd.DataFrame, of_models: pd.DataFrame, models: list[dict], pairs: pd.DataFrame) -> dict:
    """The claim's facts, of the models that are left in; of all where none is."""
    left = [row["model"] for row in models if not row["why"]]
    inside = pairs[pairs["model"].isin(left or pairs["model"])]
    whole = told[told["model"] == WHOLE].iloc[0]
    why = [preconditions.of_pairs(CLAIMS[whole["claim"]], inside), *_beyond_pairs(told, pairs)]
    why = [*filter(None, why)] or ([] if left else [row["why"] for row in models])
    used = of_models[of_models["model"].isin(inside["model"])]
    settings = inside[[*SETTING, "part"]].drop_duplicates().groupby(["model", "part"]).size()
    weights = [settings[row.model, row.part] for row in used.itertuples()]
    effect = (used["effect"] * weights).sum() / sum(weights)
    return whole.to_dict() | {"why": "; ".join(dict.fromkeys(why)), "effect": effect} | _items(used["items"])


def _beyond_pairs(told: pd.DataFrame, pairs: pd.DataFrame) -> Iterable[str]:
    """Of what a part said of the claim that which its pairs do not show, so that all of them might: P7.

    A part of which no model passes said why in its own words; whether one is left is asked of all parts.
    """
    for part, rows in told.groupby("part"):
        passing = rows[(rows["model"] != WHOLE) & (rows["why"] == "")]["model"]
        if len(passing):
            [why] = rows[rows["model"] == WHOLE]["why"]
            own = pairs[(pairs["part"] == part) & pairs["model"].isin(passing)]
            shown = preconditions.of_pairs(CLAIMS[rows["claim"].iloc[0]], own)
            yield why.removeprefix(shown).removeprefix("; ")


def _items(words: Iterable[str]) -> dict[str, object]:
    """The test items of all data sets, each once, and the fewest of one.

    Raises:
        UserError: parts that name other items of one data set.
    """
    counts: dict[str, str] = {}
    for part in filter(None, ", ".join(words).split(", ")):
        dataset, _, count = part.rpartition(" ")
        if counts.setdefault(dataset, count) != count:
            raise UserError(f"parts tested {counts[dataset]} and {count} items of {dataset}: publish one again")
    listed = sorted(counts.items())
    return {
        "items": ", ".join(f"{dataset} {count}" for dataset, count in listed),
        "resampled": min((int(count) for _, count in listed), default=0),
    }
