"""Several published parts of a programme as one run: the pairs and facts that scorecard.judged makes verdicts of.

A claim's settings may be spread over parts, each setting in one of them. A precondition that a model fails in one
part it fails in the claim: left out only where it does not pass, a model would be judged on what remains.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from descent.analysis import preconditions, scorecard
from descent.analysis.claims import CLAIMS
from descent.analysis.preconditions import NOTHING
from descent.analysis.scorecard import FACTS, SETTING, WHOLE
from descent.errors import UserError


def joined(folders: Sequence[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs and facts of all parts.

    A claim that none tested has the reason of a part whose models it is about, if there is one.

    Raises:
        UserError: two parts hold pairs of one claim in one setting.
    """
    pairs, facts = map(_stacked, zip(*map(scorecard.load, folders), strict=True))
    _disjoint(pairs, folders)
    found = []
    for claim, told in facts.groupby("claim", sort=False):
        own = pairs[pairs["claim"] == claim]
        found += _facts(told, own) if own["part"].nunique() > 1 else _of_one(told, set(own["part"]))
    return pairs.drop(columns="part"), pd.DataFrame(found)[FACTS].reset_index(drop=True)


def _disjoint(pairs: pd.DataFrame, folders: Sequence[Path]) -> None:
    settings = pairs[["claim", *SETTING, "part"]].drop_duplicates()
    twice = settings[settings.duplicated(["claim", *SETTING], keep=False)]
    if len(twice):
        one, other = (folders[part] for part in sorted(twice["part"].unique())[:2])
        claim, dataset, model = twice.iloc[0][["claim", "dataset", "model"]]
        raise UserError(
            f"{one} and {other} both hold pairs of {claim} ({model} on {dataset}): remove the part that the other "
            "one replaces"
        )


def _stacked(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([table.assign(part=number) for number, table in enumerate(tables)], ignore_index=True)


def _of_one(told: pd.DataFrame, holding: set[int]) -> list[dict]:
    """The facts of a claim that at most one part holds pairs of."""
    said = told[told["part"].isin(holding)] if holding else told[told["why"] != NOTHING]
    said = told if said.empty else said
    return said[said["part"] == said["part"].iloc[0]].to_dict("records")


def _facts(told: pd.DataFrame, pairs: pd.DataFrame) -> list[dict]:
    """The facts of a claim that several parts hold pairs of: one row for the claim, one for each of its models."""
    told = told[told["part"].isin(pairs["part"].unique())]
    of_models = told[told["model"] != WHOLE]
    models = [_of_model(rows, pairs[pairs["model"] == name]) for name, rows in of_models.groupby("model")]
    left = [row["model"] for row in models if not row["why"]]
    inside = pairs[pairs["model"].isin(left or pairs["model"])]
    return [_of_claim(told, of_models, models, inside), *models]


def _of_model(rows: pd.DataFrame, pairs: pd.DataFrame) -> dict:
    """One model's facts of all parts; what it failed is said of the part's data sets."""
    sets = pairs.groupby("part")["dataset"].unique().map(", ".join)
    why = [f"{sets[row.part]}: {row.why}" for row in rows.itertuples() if row.why]
    return rows.iloc[0].to_dict() | {"why": "; ".join(why)} | _items(rows)


def _of_claim(told: pd.DataFrame, of_models: pd.DataFrame, models: list[dict], inside: pd.DataFrame) -> dict:
    """The claim's facts: `inside` are the pairs of the models that are left in, all where none is.

    A part of which no model passes says so of the claim, too; whether any is left is asked of all parts here.
    """
    whole = told[told["model"] == WHOLE]
    passing = of_models.loc[of_models["why"] == "", "part"]
    why = "; ".join(dict.fromkeys(whole.loc[whole["part"].isin(passing) & (whole["why"] != ""), "why"]))
    claim, seeds = CLAIMS[whole["claim"].iloc[0]], preconditions.common_seeds(inside)
    if not why and all(row["why"] for row in models):
        why = "; ".join(dict.fromkeys(row["why"] for row in models))
    if not why and len(seeds) < claim.least_seeds:
        why = f"the parts have {len(seeds)} seeds in common, and {claim.least_seeds} are needed"
    used = of_models[of_models["model"].isin(inside["model"])]
    settings = inside[[*SETTING, "part"]].drop_duplicates().groupby(["model", "part"]).size()
    weights = [settings[row.model, row.part] for row in used.itertuples()]
    effect = (used["effect"] * weights).sum() / sum(weights)
    return whole.iloc[0].to_dict() | {"why": why, "effect": effect} | _items(used)


def _items(rows: pd.DataFrame) -> dict[str, object]:
    """The test items of all data sets, and the fewest of one."""
    return {"items": ", ".join(dict.fromkeys(rows["items"])), "resampled": rows["resampled"].min()}
