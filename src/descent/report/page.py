"""One self-contained page: the scorecard, curves to explore, and every figure and table made so far."""

import base64
import hashlib
import inspect
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from descent.analysis import provenance, scorecard, verdicts, wording
from descent.analysis.asked import left_out
from descent.analysis.trials import seeds_are_trials
from descent.config import Params
from descent.errors import UserError
from descent.report import explore, overview
from descent.report.mathematics import mathematics

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
        entry["number"] = any(map(str.isdecimal, entry["label"]))  # the paper's
        entry["links"] = [f"{entry['part']}/{entry['name']}.{ending}" for ending in endings]
        if missing := [link for link in entry["links"] if not (folder / link).exists()]:
            raise UserError(f"{folder} lacks {', '.join(missing)}: run `dvc repro`")
        if entry["kind"] == "figure":
            entry["picture"] = embedded(folder / f"{entry['part']}/{entry['name']}.png")
        else:
            first = entry["rows"][0] if entry["rows"] else [""] * sum(span for _, span in entry["header"][-1])
            entry["words"] = [cell[:1].isalpha() for cell in first]  # columns of words stand left
    return found


def embedded(picture: Path) -> str:
    """A picture inside the page."""
    return "data:image/png;base64," + base64.b64encode(picture.read_bytes()).decode()


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
        number = {key: wording.written(row[key], row["unit"]) for key in ("estimate", "low", "high", "effect")}
        inside = {True: ", inside", False: ", outside"}.get(row["paper_inside"], "")
        paper = "" if pd.isna(row["paper_value"]) else wording.written(row["paper_value"], row["unit"])
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


def page(
    folder: Path,
    shown: Path,
    cells: pd.DataFrame,
    metrics: dict[str, Any],
    card: pd.DataFrame,
    params: Params,
    curves: dict[str, Any],
    library: str,
) -> str:
    """The HTML of the page; it loads nothing, and links only to the files beside it.

    Args:
        folder, shown: as `entries`.
        params: those that the results were made with.
        curves: what can be explored (explore.curves).
        library: the script that draws them (plots_page.library).

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
    environment.filters |= {"markup": markup, "mathematics": mathematics, "value": json.dumps, "json": data}
    every = entries(folder, shown)
    found = [entry for entry in every if not entry["left_out"]]
    scripts = [_own("page.js"), Markup(f"(function () {{\n{library}\n}})();"), _own("explore.js")]
    return environment.get_template("page.html.j2").render(
        code=provenance.of_code(),
        trained=provenance.of_cells(params),
        entries=found,
        claims=claims(card, found),
        verdicts={word: count for word in verdicts.VERDICTS if (count := int((card["verdict"] == word).sum()))},
        rule="\n\n".join(inspect.getdoc(of) for of in (scorecard, verdicts.decide)),
        gone=[entry for entry in every if entry["left_out"]],
        profile=one_profile(every, cells),
        synthetic=any(entry["synthetic"] for entry in found),
        arms=overview.arms(params),
        left_out=left_out(params),
        held=overview.held(cells, params),
        infeasible=overview.infeasible(cells, params),
        trials=seeds_are_trials(params),
        measures=overview.measures(metrics, params),
        explore=curves,
        specification=explore.specification(curves),
        style=_own("page.css"),
        scripts=scripts,
        policy=policy(scripts),
    )


def policy(scripts: Sequence[str]) -> str:
    """The page's content security policy: nothing is loaded, and no script runs but these."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    styles = "style-src 'unsafe-inline'"  # the drawing library makes its own
    return (
        f"default-src 'none'; img-src data:; {styles}; script-src {allowed}; base-uri 'none'; form-action 'none'"
    )


def data(value: Any) -> Markup:
    """Plain data as JSON inside a script element, which no `</script>` in it can end."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


def _own(name: str) -> Markup:
    """A file beside this one, as it is."""
    return Markup((TEMPLATES / name).read_text())


def markup(text: str) -> Markup:
    """A table's cell as HTML: its `**bold**` becomes strong, everything else stands as it is."""
    return Markup(re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", str(escape(text))))
