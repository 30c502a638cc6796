"""The score files that evaluation would leave, from a whole table of made-up results."""

import numpy as np
import pandas as pd

from descent.analysis import asked, results
from descent.analysis.keys import IDENTITY, tuples
from descent.config import Params
from descent.paths import TRANSFER_SCORES


def write_scores(table: pd.DataFrame, params: Params) -> None:
    """The files that params.yaml asks for."""
    identities = list(tuples(table, IDENTITY))
    elsewhere = table["tested"].fillna("").ne("").to_numpy()
    for path, cells in asked.asked(params).items():
        wanted = set(cells)
        own = np.array([identity in wanted for identity in identities])
        results.write(table[own & (elsewhere == (path == TRANSFER_SCORES))], path)
