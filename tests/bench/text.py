"""make bench: what the constraints cost a step of a text model, and how much of a batch is padding."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from descent import config as params
from descent.arms.constrained import ERM, Constrained
from descent.config import Params
from descent.tasks.text import data as text
from descent.tasks.text import prepare as tokenize
from descent.tasks.text import raw as text_sources
from descent.tasks.text.items import item
from descent.training.loop import primal_dual_step
from descent.training.settings import together
from tests.bench.steps import ratio

DEVICE = torch.device("cpu")
BUDGET = params.load().profiles["demo"]


def tokens(values: Params, dataset: str, name: str, folder: Path) -> text.Tokens:
    """A demo data set in the tokens of one of the demo's tokenizers."""
    raw, out = folder / dataset, folder / f"{dataset}-{name}"
    if not raw.exists():
        text_sources.fetch(dataset, BUDGET.texts[dataset], "", raw)
    if not out.exists():
        share, length = values.text.validation_share, BUDGET.text.max_tokens
        tokenize.prepare(dataset, raw, out, BUDGET.text.tokenizers[name], name, length, share, "", "demo")
    return text.load(out)


def stepper(values: Params, data: text.Tokens, model: str, method: str) -> Callable[[], None]:
    """A function that makes one training step on the next batch of the first epoch."""
    made = item(values, data, DEVICE, "imdb", model, method)
    stack = made.cells[:1]
    net, task, settings = made.build(stack), made.task(stack), [made.settings[cell] for cell in stack]
    arm = ERM()
    if settings[0].problem:
        problem, dual_lr = together(settings, DEVICE)
        arm = Constrained((1, stack[0].layers + 1), dual_lr, problem, DEVICE)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-5, fused=True)
    alive, number = torch.ones(1, dtype=torch.bool), iter(range(10**9))

    def step() -> None:
        batch = task.batch(0, next(number) % task.steps)
        primal_dual_step(net, task.losses, batch, arm, optimizer, values.training, alive, epoch=9)

    return step


def main() -> None:
    """Print both tables, on the demo's texts and the models of its size."""
    values = params.load().model_copy(update={"profile": "demo"})
    with tempfile.TemporaryDirectory() as folder:
        print("One training step, constrained / unconstrained (to stay below: 1.15)")
        for model in values.text.models:
            data = tokens(values, "imdb", getattr(values.models, model).tokenizer, Path(folder))
            pair = [stepper(values, data, model, method) for method in ("constrained", "unconstrained")]
            one, two, share = ratio(*pair)
            print(f"  {model:<12}{1e3 * one:8.1f} ms / {1e3 * two:8.1f} ms = {share:.2f}")
        print("Padding, share of the positions of a training epoch (to stay below: 0.15), and if shuffled alone")
        for dataset in values.text.datasets:
            train, stream = tokens(values, dataset, "bert", Path(folder)).split("train"), np.random.default_rng(0)
            order, size = stream.permutation(len(train)), BUDGET.text.distilbert.batch
            waste = [
                text.padding_waste(train.lengths, text.batches(train.lengths, order, size, pool, stream))
                for pool in (values.text.length_pool, 1)
            ]
            print(f"  {dataset:<12}{waste[0]:.3f} / {waste[1]:.3f}")


if __name__ == "__main__":
    main()
