"""What the tables of pairs share: the two arms of the comparison in every setting, beside the paper's numbers."""

from collections.abc import Callable

import pandas as pd

from descent.analysis.keys import SETTING
from descent.analysis.wording import UNKNOWN, known
from descent.config import Params
from descent.figures.parts import style

PAPER = "paper_"  # before the columns of the paper's numbers
CONSTRAINTS = "constraints"  # the head over what is told of an arm that enforces them
ACTIVE = ("active_epochs", "active_reported")
FEASIBLE = ("feasible", "feasible_test")
HELD = {name: f"_{name}" for name in (*ACTIVE, *FEASIBLE)}
Written = Callable[[pd.Series, str, str], str]  # row of a table, PAPER or "", arm: its number as text


def build(rows: pd.DataFrame, params: Params, measures: dict[str, str]) -> pd.DataFrame:
    """One row per SETTING; for both arms a column `<arm><ending>` per measure, and whether marked, `<arm>_marked`;
    of the arms that enforce constraints also those of HELD.

    Args:
        rows: one for each SETTING and arm; columns the measures, those of HELD, and `marked`.
        measures: endings by column.
    """
    arms = params.comparison.arms
    endings = measures | HELD | {"marked": "_marked"}
    rows = rows.astype(dict.fromkeys(HELD, float))
    wide = rows.pivot(index=SETTING, columns="arm", values=list(endings))
    wide.columns = [f"{arm}{endings[measure]}" for measure, arm in wide.columns]
    wide = wide.reindex(columns=[f"{arm}{ending}" for ending in endings.values() for arm in arms])
    marks = [f"{arm}_marked" for arm in arms]
    wide[marks] = wide[marks].astype("boolean").fillna(False).astype(bool)
    numbers = wide.columns.drop(marks)
    wide[numbers] = wide[numbers].astype(float)
    free = [f"{arm}{ending}" for arm in arms if arm not in params.enforcing for ending in HELD.values()]
    return wide.drop(columns=free).reset_index()


def paper(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The paper's numbers of the two arms under PAPER; missing where the paper has no such arm."""
    others = [column for column in table if column in params.components["arms"]]
    arms = params.comparison.arms
    columns = [*[column for column in table if column not in others], *arms]
    return table.reindex(columns=columns).rename(columns={arm: f"{PAPER}{arm}" for arm in arms})


def display(table: pd.DataFrame, params: Params, task: str, written: Written) -> pd.DataFrame:
    """Rows model x L x eps; for each data set in use ours and the paper's, both arms, and how constraints held."""
    arms = params.comparison.arms
    section = params.section(task)
    held = [arm for arm in arms if arm in params.enforcing]
    order = {model: place for place, model in enumerate(section.models)}
    settings = table[SETTING[1:]].drop_duplicates()
    settings = settings.sort_values(SETTING[1:], key=lambda c: c.map(order) if c.name == "model" else c)
    by_setting = table.set_index(SETTING)
    heads = [("", "", head) for head in ("model", "L", "eps")]
    for name in map(style.name, section.datasets):
        heads += [(name, "ours", style.name(arm)) for arm in arms]
        heads += [(name, CONSTRAINTS, head) for _ in held for head in ("active", "feasible")]
        heads += [(name, "paper", style.name(arm)) for arm in arms]
    rows = []
    for model, layers, eps in settings.itertuples(index=False):
        row = [style.name(model), str(layers), f"{eps:g}"]
        for key in ((dataset, model, layers, eps) for dataset in section.datasets):
            if key not in by_setting.index:
                row += [UNKNOWN] * (4 + 2 * len(held))
                continue
            found = by_setting.loc[key]
            row += [written(found, "", arm) for arm in arms]
            row += [_shares(found, arm, names) for arm in held for names in (ACTIVE, FEASIBLE)]
            row += [written(found, PAPER, arm) for arm in arms]
        rows.append(row)
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(heads))


def better(row: pd.Series, params: Params, prefix: str, arm: str, sign: int, digits: int) -> bool:
    """Whether an arm's number is, as printed with so many digits, the better one of its pair; a tie has none.

    `sign`: 1 where higher is better, -1 where lower is.
    """
    [other] = [name for name in params.comparison.arms if name != arm]
    ours, theirs = (round(sign * float(row[prefix + name]), digits) for name in (arm, other))
    return ours > theirs


def _shares(row: pd.Series, arm: str, names: tuple[str, str]) -> str:
    """Two shares of HELD side by side, each a dash where it is missing."""
    shares = (row[arm + HELD[name]] for name in names)
    return " / ".join(known(share, ".0%") for share in shares)


def wins(table: pd.DataFrame, params: Params, sign: int) -> list[str]:
    """In how many settings our arm is the better one, on this page and in the paper."""
    ours = style.name(params.comparison.ours)
    lines = []
    for prefix, words in (
        ("", f"The {ours} arm is better in"),
        (PAPER, "In the same settings of the paper's table it is in"),
    ):
        both = sign * table[[f"{prefix}{arm}" for arm in params.comparison.arms]].dropna()
        if len(both):
            lines.append(f"{words} {int((both.iloc[:, 0] > both.iloc[:, 1]).sum())} of {len(both)} settings.")
    return lines


def orientation(params: Params, tasks: tuple[str, ...]) -> list[str]:
    """A warning, where data are synthetic."""
    if not style.synthetic(params, tasks):
        return []
    return ["The data are synthetic and the budget is small: the paper's numbers are for orientation only."]
