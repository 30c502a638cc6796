"""A table for a reader, in LaTeX and Markdown; the cells' own markup is `**bold**` and the dagger."""

import re
from pathlib import Path

import pandas as pd
from pydantic import BaseModel

from descent.config import Params
from descent.tasks.text.schema import Embeddings, Weights

MISSING = "–"  # noqa: RUF001
DAGGER = "†"
LATEX = {MISSING: "--", DAGGER: r"$^{\dagger}$", "±": r"$\pm$"}


def paper(path: Path) -> pd.DataFrame:
    """The paper's own numbers about text (data/paper), with our names for models, data sets and columns."""
    table = pd.read_csv(path).rename(columns={"epsilon": "eps"})
    ours = {"ut": "ut_text"}
    table["model"] = table["model"].str.lower().replace(ours)
    return table.assign(dataset=table["dataset"].str.lower())


def source(choices: Weights | Embeddings) -> str:
    """Where weights come from, in words."""
    [(kind, value)] = [(kind, value) for kind, value in choices if value is not None]
    if kind == "hub":
        return f"hub: {value.id}"
    if kind == "path":
        return f"folder: {value}"
    return f"random, width {value.width if isinstance(value, BaseModel) else value}"


def vit_notes(params: Params) -> list[str]:
    """In what ViT's numbers differ from those of the other video models, where it is among them."""
    if "vit" not in params.video.models:
        return []
    weights = params.budget.video.vit.weights
    images, unlike = f"the images of {source(weights)}", "where its width is not three times a patch's pixels"
    if weights.random:
        size = weights.random
        images = f"{size.image} x {size.image}"
        direct = size.width == 3 * size.patch**2
        unlike = "" if direct else f"its width being {size.width} and not {3 * size.patch**2}"
    note = (
        f"ViT's errors are of frames resized to {images}, with the noise added before: compare arms, not models."
    )
    if unlike:
        note += f" Its tokens stand for patches through a fixed orthonormal unfolding, {unlike}."
    return [note]


def number(value: float | None, digits: int = 2, bold: bool = False, marked: bool = False) -> str:
    """A number as text, a dash where it is missing."""
    if value is None or pd.isna(value):
        return MISSING
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
