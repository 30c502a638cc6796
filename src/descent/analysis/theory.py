"""What the theorems speak of, measured on trained cells (Theorem 1, Corollary 3, Theorem 2).

With r = 1 - alpha, f_l(gamma) the test loss of layer l at noise level gamma, and c the layer of the cap:

    v_l(gamma) = f_l(gamma) - r f_{l-1}(gamma)                        the violation of constraint l, c < l <= L
    zeta       = max_l |f_l on validation data - f_l(eps)|            in place of the sample complexity of A4
    d(gamma)   = |gamma - eps| sigma sqrt(n)                          the same noise scaled: it bounds W_2 (A7)
    tau        = max_{l, gamma} |f_l(gamma) - f_l(eps)| / d(gamma)    the slope of A7
    v_l(gamma) <= zeta + (2 - alpha) tau d(gamma)                     Corollary 3
    min_l f_l(eps) - f* <= zeta / alpha                               Theorem 2, without its term in nu

sigma sqrt(n) cancels in tau d, so tau is taken per unit of the noise level. Validation and not training data stand
in zeta, since training data are not scored; where they chose the epoch too (`selection` other than final), zeta is
rather too small than too large.
f* is the lowest test loss of any cell of the data set and level. What cannot be measured: nu, K nu, the best P*.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from descent.analysis.keys import CURVE, IDENTITY, SEEDLESS
from descent.analysis.lost import truth
from descent.analysis.select import TRAINED, at_eps, check_named, measured, select
from descent.analysis.summary import best_depth, cells_table
from descent.analysis.trials import best_text
from descent.cells import headline
from descent.config import Params


@dataclass(frozen=True)
class Bounds:
    """The measured quantities of one cell; losses in its own units."""

    levels: Float[np.ndarray, " gammas"]
    violations: Float[np.ndarray, "gammas constraints"]  # v_l
    bound: Float[np.ndarray, " gammas"]  # Corollary 3's
    violated: Bool[np.ndarray, " constraints"]  # v_l > 0 at gamma = eps: delta of Theorem 1 is their share
    zeta: float
    tau: float
    gap: float  # best so far over the layers, minus f*
    radius: float

    @property
    def worst(self) -> Float[np.ndarray, " gammas"]:
        """max_l v_l."""
        return self.violations.max(axis=1)


def bounds(
    losses: Float[np.ndarray, "gammas depth"],
    validation: Float[np.ndarray, " depth"],
    levels: Float[np.ndarray, " gammas"],
    eps: float,
    alpha: float,
    cap: int,
    best: float,
) -> Bounds:
    """The quantities above from the layer losses of one cell.

    Args:
        losses: f_l(gamma), on test data.
        levels: the gammas, eps among them.
        best: f*.
    """
    f = losses[:, cap:]
    own = np.abs(levels - eps) < 1e-9
    shift = np.abs(levels - eps)
    inside = f[own][0]
    v = f[:, 1:] - (1 - alpha) * f[:, :-1]
    zeta = float(np.abs(validation[cap:] - inside).max())
    tau = float((np.abs(f - inside)[~own] / shift[~own, None]).max(initial=0.0))
    return Bounds(
        levels=levels,
        violations=v,
        bound=zeta + (2 - alpha) * tau * shift,
        violated=v[own][0] > 0,
        zeta=zeta,
        tau=tau,
        gap=float(inside.min()) - best,
        radius=zeta / alpha if alpha else np.inf,
    )


def shown(results: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The cells whose theory is measured: chosen depths and trials of the headline levels, the studies of alpha.

    Of several seeds the one with the lowest validation loss. Left out are diverged cells, and those of which no
    layer follows the cap's, so that no step is constrained. Columns: IDENTITY.
    """
    cells = cells_table(results, params)
    cells = cells if params.enforcing else cells[:0]  # without constraints nothing is bounded
    cells = cells[~truth(cells["diverged"]) & cells["validation_loss"].notna()]
    video = select(cells, experiment="video", eps=headline(params, "video"))
    video = video.merge(best_depth(video)[[*CURVE, "layers"]])
    text = best_text(select(cells, experiment="text", eps=headline(params, "text")), params)
    alphas = [name for name, study in params.in_use.items() if study.vary == "alpha"]
    varied = cells[cells["experiment"].isin(alphas) & (cells["varied"] != "")]
    by = ["experiment", *SEEDLESS]
    every = pd.concat([video, text, varied])[[*IDENTITY, "validation_loss"]].sort_values("validation_loss")
    every = every.drop_duplicates(by)[IDENTITY]
    steps = [cell["layers"] > params.held_to(cell).cap_layer for _, cell in every.iterrows()]
    every = every[np.array(steps, bool)]  # an empty list would choose no column
    order = {"experiment": ["video", "text", *alphas].index, "varied": lambda value: float(value or 0)}
    return every.sort_values(by, ignore_index=True, key=lambda c: c.map(order[c.name]) if c.name in order else c)


def layer_losses(results: pd.DataFrame) -> pd.DataFrame:
    """The rows that the theory speaks of: layer losses under TRAINED."""
    return measured(select(results, shift=TRAINED).query("metric in ('loss', 'validation_loss')"))


def of_cell(losses: pd.DataFrame, cell: pd.Series, params: Params) -> Bounds:
    """The measured quantities of one cell, a row of `shown`, from the `layer_losses`."""
    held_to = params.held_to(cell)
    same = losses[(losses["dataset"] == cell["dataset"]) & ((losses["eps"] - cell["eps"]).abs() < 1e-9)]
    trained = same[same["arm"].isin(list(params.components["arms"]))]
    alike = [name for name in params.components["models"] if _units(name, params) == _units(cell["model"], params)]
    rows = select(same, **cell[IDENTITY])
    check_named(rows, ["metric", "gamma", "layer"])
    test = select(rows, metric="loss").pivot(index="gamma", columns="layer", values="value")
    validation = select(rows, metric="validation_loss").set_index("layer")["value"].sort_index()
    comparable = at_eps(select(trained[trained["model"].isin(alike)], metric="loss"))
    return bounds(
        test.to_numpy(),
        validation.to_numpy(),
        test.index.to_numpy(),
        cell["eps"],
        held_to.alpha,
        held_to.cap_layer,
        float(comparable["value"].min()),
    )


def _units(model: str, params: Params) -> tuple[str | None, ...]:
    """Losses compare between models of equal units: a frame's loss is a mean, that of patches a sum over one."""
    said = params.components["models"][model]
    return said["TASK"], said.get("INPUTS")
