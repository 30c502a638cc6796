"""A table for a reader, in LaTeX and Markdown; the cells' own markup is `**bold**` and the dagger."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from descent.analysis.wording import UNKNOWN, known
from descent.config import Params

DAGGER = "†"
LATEX = {UNKNOWN: "--", DAGGER: r"$^{\dagger}$", "±": r"$\pm$", "↓": r"$\downarrow$", "↑": r"$\uparrow$"}


Parts = tuple[pd.DataFrame, pd.DataFrame, list[str]]  # numbers without markup, the table for a reader, its notes


def made(entry: ModuleType, results: pd.DataFrame, params: Params) -> Parts:
    """What a table's module makes of the results. Raises UserError where they lack its rows."""
    numbers = entry.build(results, params)
    return numbers, entry.display(numbers, params), entry.notes(numbers, params)


def left_out(why: str) -> Parts:
    """In place of a table whose part params.yaml leaves out: nothing, and a note that says so."""
    shown = pd.DataFrame([[UNKNOWN]], columns=pd.MultiIndex.from_tuples([("", "left out")]))
    return pd.DataFrame({"left out": []}), shown, [f"Left out: {why}."]


def paper(path: Path, params: Params, task: str) -> pd.DataFrame:
    """The paper's own numbers about a task (data/paper), with our names for models, data sets and columns.

    The paper's words are our labels, whatever their case.
    """
    models = {name: said for name, said in params.components["models"].items() if said["TASK"] == task}
    known = {"model": models, "dataset": params.components[f"tasks.{task}.datasets"]}
    table = pd.read_csv(path).rename(columns={"epsilon": "eps"})
    for column, components in known.items():
        names = {said["LABEL"].casefold(): name for name, said in components.items()}
        table[column] = [names.get(word.casefold(), word) for word in table[column]]
    return table


def source(choices: dict[str, Any] | None) -> str | None:
    """Where weights come from, in words; None where nothing is said of it."""
    given = {kind: value for kind, value in (choices or {}).items() if value is not None}
    shown = f", shown images of {given['image']}" if "image" in given else ""
    if "hub" in given:
        return f"hub: {given['hub']['id']}{shown}"
    if "path" in given:
        return f"folder: {given['path']}{shown}"
    for value in given.values():
        return f"random, width {value['width'] if isinstance(value, dict) else value}"
    return None


def text(value: object, form: str = ".4g") -> str:
    """Words as they are, a number in this format, a dash where there is neither."""
    return value if isinstance(value, str) else known(value, form)


def number(value: float | None, digits: int = 2, bold: bool = False, marked: bool = False) -> str:
    """A number as text, a dash where it is missing."""
    if value is None or pd.isna(value):
        return UNKNOWN
    text = f"{value:.{digits}f}" + (DAGGER if marked else "")
    return f"**{text}**" if bold else text


def header(table: pd.DataFrame) -> list[list[tuple[str, int]]]:
    """The header's rows, from the top, as words with the number of columns that each stands over."""
    rows = []
    for level in range(table.columns.nlevels):
        spans: list[tuple[str, int]] = []
        for word in table.columns.get_level_values(level):
            joins = level < table.columns.nlevels - 1 and word and spans and spans[-1][0] == word
            spans = [*spans[:-1], (word, spans[-1][1] + 1)] if joins else [*spans, (word, 1)]
        rows.append(spans)
    return rows


def to_markdown(table: pd.DataFrame, notes: list[str]) -> str:
    """A pipe table (one header row, groups and columns joined) with its notes below."""
    names = [" ".join(filter(None, words)) for words in table.columns]
    rows = [names, ["---"] * len(names), *table.to_numpy().tolist()]
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"{note}\n" for note in notes)])


def to_latex(table: pd.DataFrame, notes: list[str]) -> str:
    """A booktabs tabular to \\input, with its notes as comments, so that a caption can take them."""
    lines = [rf"\begin{{tabular}}{{{'l' * table.shape[1]}}}", r"\toprule"]
    lines += [_latex_row([_over(*span) for span in row]) for row in header(table)]
    lines += [r"\midrule", *(_latex_row([_latex(cell) for cell in row]) for row in table.to_numpy().tolist())]
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*(f"% {note}" for note in notes), *lines, ""])


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _over(word: str, columns: int) -> str:
    return _latex(word) if columns == 1 else rf"\multicolumn{{{columns}}}{{c}}{{{_latex(word)}}}"


def _latex(text: str) -> str:
    for sign in "_%&#":
        text = text.replace(sign, "\\" + sign)
    for sign, code in LATEX.items():
        text = text.replace(sign, code)
    return re.sub(r"\*\*(.+?)\*\*", r"\\textbf{\1}", text)
