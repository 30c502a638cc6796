"""The score files that evaluation would leave, from a whole table of made-up results."""

import numpy as np
import pandas as pd

from descent.analysis import results, summary
from descent.config import Params
from descent.paths import TRANSFER_SCORES


def write_scores(table: pd.DataFrame, params: Params) -> None:
    """The files that params.yaml asks for."""
    identities = list(table[summary.CELL[1:]].itertuples(index=False, name=None))
    elsewhere = table["tested"].fillna("").ne("").to_numpy()
    for path, cells in summary.declared(params).items():
        wanted = set(cells)
        asked = np.array([identity in wanted for identity in identities])
        results.write(table[asked & (elsewhere == (path == TRANSFER_SCORES))], path)
