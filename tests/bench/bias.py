"""python -m tests.bench.bias: how far a ratio of batch means is from the ratio of means, on trained cells.

Of `constraint: ratio` the duals see E[mean_B f_l / mean_B f_{l-1}], while the constraint is on E f_l / E f_{l-1}.
`dual_mean` lets them look at running means, of which the ratio has less bias. Both are measured here on training
batches of the constrained cells that the last run has trained, video at the headline level, seed 0.
"""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float

from descent import config, paths
from descent.cells import Cell, grid, headline
from descent.config import Params
from descent.inference import trained
from descent.tasks.common.items import feed
from descent.training.devices import autocast
from tests.bench.table import record
from tests.bench.timing import device

BATCHES, DECAY = 512, 0.9
Losses = Float[np.ndarray, "batches depth"]


def bias(f: Losses, decay: float = 0.0) -> tuple[Float[np.ndarray, " layers"], Float[np.ndarray, " layers"]]:
    """The mean over batches of f_l / f_{l-1} less the ratio of the means, and its standard error.

    The error is that of what is left of each ratio once its linear part, whose mean is zero, is taken away.

    Args:
        decay: of the running mean of f that the ratios are taken of; 0: of each batch alone.
    """
    seen = running(f, decay)
    mean = seen.mean(0)
    ratio = mean[1:] / mean[:-1]
    rest = seen[:, 1:] / seen[:, :-1] - ratio - (seen[:, 1:] - ratio * seen[:, :-1]) / mean[:-1]
    apart = (1 + decay) / (1 - decay)  # neighbouring running means are alike
    return rest.mean(0), rest.std(0, ddof=1) * np.sqrt(apart / len(rest))


def running(f: Losses, decay: float) -> Losses:
    """Exponential means, begun at the first batch."""
    means = [f[0]]
    for batch in f[1:]:
        means.append(decay * means[-1] + (1 - decay) * batch)
    return np.stack(means)


@torch.no_grad()
def losses(values: Params, cell: Cell) -> Losses:
    """f of BATCHES training batches of a trained cell."""
    folder = paths.runs_folder("video", cell.dataset, cell.model) / cell.name
    _, net = trained.load(values, folder)
    task = feed(values, "video", cell.dataset, cell.model).task([cell])
    with autocast(device(), values.training.precision):
        batches = (task.batch(*divmod(number, task.steps)) for number in range(BATCHES))
        return np.stack([task.losses(net, batch)[0].cpu().numpy() for batch in batches])


def cells(values: Params) -> Iterator[Cell]:
    """The constrained cells of seed 0 at the headline level."""
    for dataset in values.video.datasets:
        for model in values.video.models:
            own = [cell for cell in grid(values, "video", dataset, model) if cell.eps == headline(values, "video")]
            yield from (cell for cell in own if cell.arm == values.comparison.ours and cell.seed == 0)


def main() -> None:
    """Print and record the largest bias of the layers, in share of the ratio that the constraint asks for."""
    values = config.load()
    print(f"Bias of the ratio of batch means, relative to 1 - alpha; of running means of decay {DECAY}")
    for cell in cells(values):
        f = losses(values, cell)
        asked = 1 - values.objective(cell.arm, cell.dataset, cell.model)["alpha"]
        told = f"{cell.model} on {cell.dataset} (profile {values.profile}), L={cell.layers}"
        said = []
        for decay in (0.0, DECAY):
            found, error = bias(f, decay)
            worst = int(np.abs(found).argmax())
            said.append(f"{found[worst] / asked:+.2e} ± {2 * error[worst] / asked:.0e} (layer {worst + 1})")
            what = "bias of a ratio of batch means" if not decay else f"the same of running means, decay {decay}"
            value, precision = float(found[worst] / asked), values.training.precision
            record(what, told, value, "small beside the margin", device(), precision)
        print(f"  {told}: {'; '.join(said)}", flush=True)


if __name__ == "__main__":
    main()
