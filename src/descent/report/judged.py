"""What became of the claims, in Markdown: verdicts, each model alone, and what they rest on."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from descent.analysis import parts
from descent.analysis.claims import CLAIMS
from descent.analysis.scorecard import number_of, written
from descent.analysis.select import select
from descent.analysis.sensitivity import ALONE, TRIMMED, UNTRIMMED
from descent.analysis.verdicts import NOT_TESTED, VERDICTS
from descent.components import TASKS, in_words
from descent.config import Params
from descent.report.markdown import listed, pipe
from descent.report.sections import ABSENT, label

SAME_RATE = "controls_rates_"  # what the names of studies begin with that train both arms at each rate
CLAIM = (
    "claim",
    "the paper",
    "its number",
    "here",
    "95 % interval",
    "effect, margin or bound",
    "p",
    "from",
    "verdict",
)


def claims(card: pd.DataFrame, verdicts: Sequence[str]) -> str:
    """The claims with one of these verdicts as a table; empty where there are none."""
    rows = card[card["verdict"].isin(verdicts)].to_dict("records")
    return pipe(CLAIM, [_claim(row) for row in rows]) if rows else ""


def _claim(row: Mapping[str, Any]) -> list[str]:
    number = {
        key: written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high", "effect", "paper_value")
    }
    why = row["why"] if isinstance(row["why"], str) else ""
    words = [row["statement"], row["paper"], number["paper_value"] + _inside(row)]
    if row["verdict"] == NOT_TESTED:
        words += [ABSENT, ABSENT, number["effect"], ABSENT, ABSENT]
    else:
        words += [number["estimate"], f"{number['low']} to {number['high']}", number["effect"]]
        words += [ABSENT if pd.isna(row["p_holm"]) else f"{row['p_holm']:.2g}"]
        words += [f"{number_of(row['settings'], 'setting')}, {number_of(row['seeds'], 'seed')}"]
    return [*words, f"**{row['verdict']}**" + (f" ({why})" if why else "")]


def _inside(row: Mapping[str, Any]) -> str:
    """Whether the paper's number lies where one more of our seeds would."""
    if row["verdict"] == NOT_TESTED or pd.isna(row["paper_inside"]):
        return ""
    return " (inside)" if row["paper_inside"] else " (outside)"


def models_alone(card: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """The claims on each model alone, with what it failed; empty where none has a number."""
    statements = dict(zip(card["claim"], card["statement"], strict=True))
    header = ["claim", "model", "here", "95 % interval", "left out of the claim, since"]
    told = []
    for row in models.dropna(subset="estimate").to_dict("records"):
        number = {key: written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high")}
        name, claim = label(params, "models", row["model"]), statements.get(row["claim"], row["claim"])
        why = in_words(params.components, row["why"])
        told.append([claim, name, number["estimate"], f"{number['low']} to {number['high']}", why])
    return pipe(header, told) if told else ""


def averages(card: pd.DataFrame, found: pd.DataFrame, solver: pd.DataFrame, params: Params) -> str:
    """What each claim of the card says by other averages of its settings, and each setting alone with how many of
    its constrained cells hold (sensitivity.table, held.solver); empty where there is none. A claim that was not
    tested has no average, and a study's cells are not those of the grid."""
    units, rows = card.set_index("claim")[["statement", "unit", "verdict"]], []
    held = solver.set_index(["dataset", "model", "layers", "eps"])
    for row in found[found["claim"].isin(units.index)].to_dict("records"):
        statement, unit, verdict = units.loc[row["claim"]]
        if verdict == NOT_TESTED and row["average"] != ALONE:
            continue
        statement += f" ({NOT_TESTED})" if verdict == NOT_TESTED else ""
        place = (row["dataset"], row["model"], row["layers"], row["eps"])
        estimate, low, high = (written(float(row[key]), unit) for key in ("estimate", "low", "high"))
        of_grid = CLAIMS[row["claim"]].experiment in TASKS and place in held.index
        cells = held.loc[place] if of_grid else None
        feasible = "" if cells is None else "{validation:.0f} / {test:.0f} of {cells:.0f}".format(**cells)
        rows.append([statement, _averaged(row, params), estimate, f"{low} to {high}", feasible])
    header = ["claim", "mean over settings, or one", "here", "95 % interval", "feasible: validation / test"]
    return pipe(header, rows) if rows else ""


def _averaged(row: Mapping[str, Any], params: Params) -> str:
    if row["average"] == ALONE:
        places = params.components["models"].get(row["model"], {}).get("TASK", "video")
        dataset = label(params, f"tasks.{places}.datasets", row["dataset"])
        return f"{dataset}, {label(params, 'models', row['model'])}, L = {row['layers']:.0f}"
    if row["average"] != TRIMMED:
        return f"{row['average']} over {row['settings']}"
    return f"{'mean' if row['settings'] < UNTRIMMED else TRIMMED} over {row['settings']}, the protocol's"


def by_dataset(told: pd.DataFrame, params: Params) -> str:
    """What each data set alone says of the primary claims (scorecard.by_dataset); empty where none was tested."""
    header = ["data set", "claim", "here", "95 % interval", "p", "from", "verdict"]
    rows = _alone(told, params)
    return pipe(header, rows) if rows else ""


def by_part(folders: Sequence[Path], params: Params) -> str:
    """What each published part, and each data set of one that has several, says of the primary claims by itself,
    corrected within its own six; empty where none could test one."""
    rows = _by_part(folders, params)
    header = ["part", "data set", "claim", "here", "95 % interval", "p", "from", "verdict"]
    return pipe(header, rows) if rows else ""


def counted(folders: Sequence[Path], params: Params, page: str) -> str:
    """In a sentence, how often each verdict is what a part or a data set of one says by itself, and where to read
    them; empty where none could test a claim. What `not_counted` tells is not among them: it may be one training
    twice."""
    aside = {(part, row["statement"]) for part, _, row in _aside(folders, params)}
    told = [row for row in _by_part(folders, params) if (row[0], row[2]) not in aside]
    verdicts = pd.Series([row[-1].strip("*") for row in told]).value_counts()
    counts = listed([f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdict in verdicts])
    return (
        f"Exploratory: published parts and their data sets, each judged by itself, give {verdicts.sum()} more "
        f"verdicts on these claims ({counts}): [which]({page})."
        if len(verdicts)
        else ""
    )


def not_counted(folders: Sequence[Path], params: Params) -> str:
    """In a sentence, what parts say by themselves of primary claims in which another part counts in their place;
    empty where there is no such part."""
    told = []
    for part, of, row in _aside(folders, params):
        value, low, high = (written(float(row[key]), row["unit"]) for key in ("estimate", "low", "high"))
        told.append(f"{part} ({of}) on *{row['statement']}*: {value} ({low} to {high}), {row['verdict']}")
    head = "Not counted, since another part holds the same settings with more trials or epochs"
    return f"{head}: {'; '.join(told)}." if told else ""


def _aside(folders: Sequence[Path], params: Params) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The part, what of it, and the row of each primary claim tested there in which another part counts."""
    for dataset, model, number in sorted(parts.replaced(folders) if len(folders) > 1 else ()):
        folder, task = folders[number], params.task_of(model)
        for row in pd.read_csv(folder / "claims.csv").to_dict("records"):
            primary = row["group"] == "primary" and CLAIMS[row["claim"]].experiment == task
            if primary and row["verdict"] != NOT_TESTED:
                yield folder.name, in_words(params.components, f"{model} on {dataset}"), row


def by_rate(folders: Sequence[Path], params: Params) -> str:
    """In a sentence, what our arm gains out of distribution where both arms train at one learning rate, and how
    many of its cells are feasible on validation data, by the studies that parts have published; empty where none
    has."""
    told = [words for folder in folders for words in _at_one_rate(folder, params)]
    head = (
        "Exploratory: with one learning rate in both arms, the gain out of distribution (95 % interval; feasible "
        "cells) is of"
    )
    return f"{head} {'; of '.join(told)}." if told else ""


def _at_one_rate(folder: Path, params: Params) -> Iterator[str]:
    table = folder / "controls.csv"
    found = pd.read_csv(table) if table.exists() else pd.DataFrame(columns=["study", "arm"])
    own = found[found["study"].str.startswith(SAME_RATE) & (found["arm"] == params.comparison.ours)]
    for name, rows in own.groupby("study", sort=False):
        study = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))["study"][name]
        unit = "percent" if study["task"] == "video" else "points"
        ours = select(parts.cells([folder]), experiment=name, arm=params.comparison.ours)
        held = ours.astype({"feasible": float}).groupby(ours["varied"].astype(float))["feasible"]
        gains = [
            f"{written(row.gain_out_low, unit)} to {written(row.gain_out_high, unit)} at {row.varied:g} "
            f"({held.sum()[row.varied]:.0f} of {held.size()[row.varied]})"
            for row in rows.itertuples()
        ]
        yield f"{label(params, 'models', study['model'])} {listed(gains)}"


def _by_part(folders: Sequence[Path], params: Params) -> list[list[str]]:
    rows = []
    for folder in folders:
        for name in ("claims", "datasets"):
            table = folder / f"{name}.csv"
            own = _alone(pd.read_csv(table), params) if table.exists() else []
            rows += [[folder.name, *row] for row in own]
    return rows


def _alone(card: pd.DataFrame, params: Params) -> list[list[str]]:
    """The primary claims of a card that could be tested, with the data set where it is of one."""
    rows = []
    for row in card[(card["group"] == "primary") & (card["verdict"] != NOT_TESTED)].to_dict("records"):
        name, words = row.get("dataset", "all of it"), _claim(row | {"why": ""})
        places = [place for task in TASKS if name in params.components[place := f"tasks.{task}.datasets"]]
        told = label(params, places[0], name) if places else name
        rows.append([told, row["statement"], *words[3:5], *words[6:]])
    return rows
