"""One self-contained page: the scorecard, then every figure and table made so far, from their files alone."""

import base64
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from descent.analysis import provenance, scorecard, verdicts
from descent.analysis.summary import left_out
from descent.components import TASKS
from descent.config import Params
from descent.errors import UserError

# It imports no figure module, so that a change of one figure makes the page again but draws no other figure.
TEMPLATES = Path(__file__).parent
NEEDED = {"gain": "an effect of", "cost": "below", "share": "above", "equivalence": "all within"}


def entries(folder: Path, shown: Path) -> list[dict[str, Any]]:
    """What figures and tables say of themselves, in the paper's order, our own last of each kind; with pictures.

    Args:
        folder: holds the pictures and tables.
        shown: holds what each says of itself.

    Raises:
        UserError: no sidecar, or a figure without its picture.
    """
    paths = sorted(shown.glob("*/*.json"), key=lambda path: path.name)
    found = [json.loads(path.read_text()) for path in paths]
    if not found:
        raise UserError(f"{shown} holds no figure or table yet: run `dvc repro`")
    for entry in found:
        endings = {"figure": ("pdf", "png"), "table": ("tex", "md", "csv")}[entry["kind"]]
        entry["label"] = label(entry["name"])
        entry["links"] = [f"{entry['part']}/{entry['name']}.{ending}" for ending in endings]
        if missing := [link for link in entry["links"] if not (folder / link).exists()]:
            raise UserError(f"{folder} lacks {', '.join(missing)}: run `dvc repro`")
        if entry["kind"] == "figure":
            picture = (folder / f"{entry['part']}/{entry['name']}.png").read_bytes()
            entry["picture"] = "data:image/png;base64," + base64.b64encode(picture).decode()
        else:
            first = entry["rows"][0] if entry["rows"] else [""] * sum(span for _, span in entry["header"][-1])
            entry["words"] = [cell[:1].isalpha() for cell in first]  # columns of words stand left
    return found


def label(name: str) -> str:
    """What the paper calls a figure or table; our own have no number."""
    word, number = re.match(r"(fig|table)(\d*)", name).groups()
    return f"{'Figure' if word == 'fig' else 'Table'} {int(number) if number else '(ours)'}"


def one_profile(found: list[dict[str, Any]], cells: pd.DataFrame) -> str:
    """The profile of which the results and all that is shown of them are.

    Raises:
        UserError: they are of several.
    """
    of_results = sorted(set(cells["profile"]))
    others = [entry["name"] for entry in found if [entry["profile"]] != of_results]
    if len(of_results) != 1 or others:
        shown = f", but not {', '.join(others)}" if others else ""
        raise UserError(f"the results are of the profile {' and '.join(of_results)}{shown}: run `dvc repro`")
    return of_results[0]


def claims(card: pd.DataFrame, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The scorecard's rows in words, primary claims first, each with the names of the entries that show it."""
    names = {entry["name"] for entry in found}
    primary = card["group"] == "primary"
    rows = []
    for row in pd.concat([card[primary], card[~primary]]).to_dict("records"):
        number = {key: scorecard.written(row[key], row["unit"]) for key in ("estimate", "low", "high", "effect")}
        inside = {True: ", inside", False: ", outside"}.get(row["paper_inside"], "")
        paper = "" if pd.isna(row["paper_value"]) else scorecard.written(row["paper_value"], row["unit"])
        words = {
            "estimate": number["estimate"],
            "interval": "" if pd.isna(row["low"]) else f"{number['low']} to {number['high']}",
            "p": "" if pd.isna(row["p_holm"]) else f"Holm p {row['p_holm']:.2g}",
            "needed": f"{NEEDED[row['kind']]} {number['effect']}",
            "evidence": f"K = {row['seeds']}, n = {row['settings']}" if row["seeds"] else "",
            "items": "" if pd.isna(row["items"]) else row["items"],
            "why": "" if pd.isna(row["why"]) else row["why"],
            "of_tables": f"{paper} by its tables{inside}" if paper else "",
            "shown": [name for name in row["shown_in"].split() if name in names],
        }
        rows.append(row | words)
    return rows


def arms(params: Params) -> list[dict[str, str]]:
    """The arms in use: their words in params.yaml, their labels, and what each is here for."""
    roles = {params.comparison.ours: "ours", params.comparison.baseline: "the baseline"}
    held = {arm: "holds its cells to the constraints" for arm in params.enforcing}
    said = params.components["arms"]
    return [
        {"word": arm, "label": said[arm]["LABEL"], "role": roles.get(arm, ""), "held": held.get(arm, "")}
        for arm in params.arms
    ]


def feasibility(cells: pd.DataFrame, params: Params) -> dict[str, dict[str, Any]]:
    """Counts for the overview, by task: feasible, descending and diverged cells, by the arms' labels."""
    tasks = {task: cells[cells["trained"] & (cells["experiment"] == task)] for task in TASKS}
    return {task: _counts(rows, params) for task, rows in tasks.items() if len(rows)}


def _counts(trained: pd.DataFrame, params: Params) -> dict[str, Any]:
    known = trained.dropna(subset="descending")
    held = {arm: trained[trained["arm"] == arm] for arm in params.enforcing}
    labels = {arm: params.components["arms"][arm]["LABEL"] for arm in params.arms}
    falls = {arm: known.loc[known["arm"] == arm, "descending"].eq(True) for arm in params.arms}
    return {
        "feasible": {labels[arm]: (int((~rows["infeasible"]).sum()), len(rows)) for arm, rows in held.items()},
        "infeasible": trained[trained["infeasible"]].replace({"arm": labels}).to_dict("records"),
        "descending": {labels[arm]: (int(fall.sum()), len(fall)) for arm, fall in falls.items() if len(fall)},
        "diverged": int(trained["diverged"].eq(True).sum()),
    }


def flatten(metrics: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """Nested metrics under dotted names, as `dvc metrics show` prints them."""
    flat: dict[str, float] = {}
    for key, value in metrics.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def page(
    folder: Path, shown: Path, cells: pd.DataFrame, metrics: dict[str, Any], card: pd.DataFrame, params: Params
) -> str:
    """The HTML of the page; it loads nothing, and links only to the files beside it.

    Args:
        folder, shown: as `entries`.
        params: those that the results were made with.

    Raises:
        UserError: as `entries` and `one_profile`.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markup"] = markup
    environment.filters["value"] = json.dumps
    found = entries(folder, shown)
    return environment.get_template("page.html.j2").render(
        code=provenance.of_code(),
        trained=provenance.of_cells(),
        entries=found,
        claims=claims(card, found),
        verdicts={word: count for word in verdicts.VERDICTS if (count := int((card["verdict"] == word).sum()))},
        rule="\n\n".join(inspect.getdoc(of) for of in (scorecard, verdicts.decide)),
        profile=one_profile(found, cells),
        synthetic=any(entry["synthetic"] for entry in found),
        arms=arms(params),
        left_out=left_out(params),
        feasibility=feasibility(cells, params),
        metrics=flatten(metrics),
    )


def markup(text: str) -> Markup:
    """A table's cell as HTML: its `**bold**` becomes strong, everything else stands as it is."""
    return Markup(re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", str(escape(text))))
