"""Several published parts of a programme judged together: pairs and facts that scorecard.judged makes verdicts of.

The settings of a claim may be spread over parts: other data sets, other models. A model on a data set counts from
one part alone, with what that part says of it: the one that trained it for more epochs, then the one with more
trials of the rate, then the one that tells how far its problems are solved (PROTOCOL.md, "What is run again",
"Encoders, solved"). What a claim says of differences between cells of one model and data set (depths, values of
alpha) lies in one part.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from descent.analysis import enforced, grounds, preconditions
from descent.analysis.claims import CLAIMS
from descent.analysis.grounds import FACTS, WHOLE, passed
from descent.analysis.keys import PLACE, VARIANT, tuples
from descent.analysis.lost import truth
from descent.analysis.preconditions import NOTHING
from descent.analysis.select import select
from descent.components import TASKS
from descent.errors import UserError
from descent.published import counting, files, same_measures
from descent.study import LONGER

TRAINED_SEED = "trained_seed"  # of a pair, whose `seed` may be the place of that seed in its part


def joined(folders: Sequence[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs and facts of all parts, each pair with the number of its `part`.

    A claim that none tested has the reason of a part whose models it is about, if there is one.

    Raises:
        UserError: two parts hold pairs of one claim, data set and model and neither was trained or tuned for
            longer, or that one lacks settings of the other's; or pairs of one claim that they measured otherwise.
    """
    trained = cells(folders)
    pairs, facts = _loaded(folders, trained)
    found = []
    judged = []
    for claim, told in facts.groupby("claim", sort=False):
        own = pairs[pairs["claim"] == claim]
        gone = _gone(str(claim), own, trained, folders)
        judged.append(left := _matched(counting.without(gone, own), counting.without(gone, told)))
        holding = sorted(set(left["part"]))
        if len(holding) > 1 or (holding and gone):
            same_measures.check(str(claim), left, folders)
            found += _facts(told, left, own)
        else:
            found += _of_one(told, holding)
    return pd.concat(judged), pd.DataFrame(found)[FACTS].reset_index(drop=True)


def resting(folders: Sequence[Path]) -> list[Path]:
    """The parts that hold what a primary claim is judged on: a model on a data set that counts and passes; and
    those that take another of these parts' place in a claim, without which that one would count there again.

    Raises:
        UserError: as of joined.
    """
    trained = cells(folders)
    pairs, facts = _loaded(folders, trained)
    found = set()
    places: set[tuple[int, int]] = set()  # a part, and the one that takes its place
    for name, claim in CLAIMS.items():
        if claim.primary:
            own = pairs[pairs["claim"] == name]
            told = facts[facts["claim"] == name]
            gone = _gone(name, own, trained, folders)
            found |= set(counting.without(gone, passed(told))["part"])
            left = counting.without(gone, own).drop_duplicates([*PLACE, "part"])
            winners = {(row.dataset, row.model): row.part for row in left.itertuples()}
            places |= {(part, winners[data, model]) for data, model, part in gone}
    while more := {winner for part, winner in places if part in found} - found:
        found |= more
    return [folders[part] for part in sorted(found)]


def _loaded(folders: Sequence[Path], trained: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs and facts of all parts, with the number of their `part`.

    Parts that were published before P3 was asked of each value of a study asked it of all its cells at once: where
    these were enough, their cells are asked again, but for a relaxed problem, of which no table tells what it
    leaves of its constraints. A study is of one model on one data set.
    """
    pairs, facts = map(_stacked, zip(*map(files.pairs_and_facts, folders), strict=True))
    by = ["claim", *PLACE, "part"]
    for claim, dataset, model, part in tuples(pairs[pairs["varied"] != ""].drop_duplicates(by), by):
        asked = files.params(folders[part])
        varied = asked.studied(CLAIMS[claim].experiment)
        if enforced.settles(asked.problem(dataset, model, varied.common, varied.arm)):
            continue
        study = select(trained, experiment=CLAIMS[claim].experiment, dataset=dataset, model=model, part=part)
        held = truth(study["feasible"]) & ~truth(study["diverged"])
        own = study.assign(feasible=held, acts=truth(enforced.acting(study)))[study["varied"] != ""]
        if not enforced.too_few(own, of_each=False):
            passed = (facts["claim"] == claim) & (facts["part"] == part) & (facts["why"] == "")
            facts.loc[passed, "why"] = enforced.too_few(own, of_each=True)
    return pairs, facts


def _matched(pairs: pd.DataFrame, told: pd.DataFrame) -> pd.DataFrame:
    """Pairs of one claim, with the seed that each was trained with beside them (TRAINED_SEED). But for video,
    where the parts that pass have fewer seeds in common than it needs, their `seed` is its place in its part.

    A mean over settings is taken seed by seed. Models of texts that were trained apart share nothing but a seed's
    number, so that which are taken together is free; of video a seed draws the training clips too (PROTOCOL.md,
    "Seeds of unlike parts").

    Args:
        told: the facts of the claim about these parts.
    """
    pairs = pairs.assign(**{TRAINED_SEED: pairs["seed"]})
    if pairs.empty or (claim := CLAIMS[pairs["claim"].iloc[0]]).experiment == "video":
        return pairs
    passing = set(passed(told)["part"])
    seeds = [set(own) for part, own in pairs.groupby("part")["seed"] if part in passing or not passing]
    if len(seeds) < 2 or len(set.intersection(*seeds)) >= claim.least_seeds:
        return pairs
    places = pairs.groupby("part")["seed"].rank("dense").astype(int) - 1
    return pairs.assign(seed=places)


def _stacked(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([table.assign(part=number) for number, table in enumerate(tables)], ignore_index=True)


def cells(folders: Sequence[Path]) -> pd.DataFrame:
    """The published cells of all parts (summary.cells_table), with the number of their `part`."""
    return _stacked([*map(files.cells, folders)])


def counted(folders: Sequence[Path]) -> pd.DataFrame:
    """`cells` without a grid's, and those of twice its epochs, that are `replaced`, and without a study's in parts
    that count in no claim on it; cells of a study that no claim is about stay.

    Raises:
        UserError: as of joined.
    """
    found = cells(folders)
    of_grid = found["experiment"].isin(TASKS) | found["experiment"].str.startswith(LONGER)
    left = counting.without(replaced(folders), found[of_grid])
    by_claim = replaced_by_claim(folders).items()
    gone = {(CLAIMS[claim].experiment, *place) for claim, places in by_claim for place in places}
    others = found[~of_grid]
    kept = [place not in gone for place in tuples(others, ["experiment", *PLACE, "part"])]
    return pd.concat([left, others[kept]]).sort_index()


def replaced(folders: Sequence[Path]) -> set[tuple[str, str, int]]:
    """Data set, model and number of the part whose grid another part has trained or tuned for longer.

    Raises:
        UserError: as of joined.
    """
    found = cells(folders)
    grid = found[found["experiment"].isin(TASKS) & found["trained"]]
    return counting.replaced(grid, grid, folders)


def replaced_by_claim(folders: Sequence[Path]) -> dict[str, set[tuple[str, str, int]]]:
    """`replaced`, by claim, of what each rests on: a part that lacks a claim's cells takes no other's place in it.

    Raises:
        UserError: as of joined.
    """
    pairs = _stacked([files.pairs_and_facts(folder)[0] for folder in folders])
    trained = cells(folders)
    return {str(claim): _gone(str(claim), own, trained, folders) for claim, own in pairs.groupby("claim")}


def _gone(
    claim: str, pairs: pd.DataFrame, trained: pd.DataFrame, folders: Sequence[Path]
) -> set[tuple[str, str, int]]:
    return counting.replaced(pairs, trained[trained["experiment"] == CLAIMS[claim].experiment], folders)


def _of_one(told: pd.DataFrame, holding: Sequence[int]) -> list[dict]:
    """The facts of a claim that at most one part holds pairs of."""
    said = told[told["part"].isin(holding)] if holding else told[told["why"] != NOTHING]
    said = told if said.empty else said
    return said[said["part"] == said["part"].iloc[0]].to_dict("records")


def _facts(told: pd.DataFrame, pairs: pd.DataFrame, published: pd.DataFrame) -> list[dict]:
    """The facts of a claim that parts hold pairs of: one row for the claim, one for each place that counts.

    Args:
        pairs: those that count.
        published: all, of which the parts said what they did.
    """
    held = set(tuples(pairs, [*PLACE, "part"]))
    held |= {(WHOLE, WHOLE, part) for *_, part in held}
    beyond = _beyond_pairs(told[told["part"].isin(pairs["part"])], published)
    told = told[[place in held for place in tuples(told, [*PLACE, "part"])]]
    places = told[told["model"] != WHOLE]
    inside = grounds.left_in(pairs, passing := grounds.passing(places))
    whole = told[told["model"] == WHOLE].iloc[0]
    why = [grounds.reasons({(row.dataset, row.model): row.why for row in places.itertuples()})]
    if passing:
        why = [*filter(None, [preconditions.of_pairs(CLAIMS[whole["claim"]], inside), *beyond])]
    used = places.merge(inside[PLACE].drop_duplicates())
    settings = inside[VARIANT].drop_duplicates().groupby(PLACE).size()
    effect = np.average(used["effect"], weights=[settings[row.dataset, row.model] for row in used.itertuples()])
    claim = whole.to_dict() | {"why": "; ".join(dict.fromkeys(why)), "effect": float(effect)}
    return [claim | _items(used["items"]), *places.to_dict("records")]


def _beyond_pairs(told: pd.DataFrame, pairs: pd.DataFrame) -> Iterable[str]:
    """Of what a part said of the claim that which its pairs do not show, so that all of them might: P7.

    A part of which nothing passes said why in its own words; whether something is left is asked of all parts.
    """
    for part, rows in told.groupby("part"):
        if left := grounds.passing(rows):
            [why] = rows[rows["model"] == WHOLE]["why"]
            own = grounds.left_in(pairs[pairs["part"] == part], left)
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
