"""make bench: what the constraints cost a step of a text model, and how much of a batch is padding."""

import tempfile
from pathlib import Path

import numpy as np

from descent import config
from descent.cells import grid
from descent.config import Params
from descent.tasks.text import data as text
from descent.tasks.text.feed import feed
from descent.tasks.text.prepare import prepare
from descent.tasks.text.raw import fetch
from tests.bench.steps import PAIR, Fed
from tests.bench.table import record
from tests.bench.timing import device, ratio


def tokens(values: Params, dataset: str, name: str, folder: Path) -> text.Tokens:
    """A demo data set in the tokens of one of the demo's tokenizers."""
    raw, out = folder / dataset, folder / f"{dataset}-{name}"
    if not raw.exists():
        fetch(dataset, values.source("text", dataset), "", raw)
    if not out.exists():
        share, budget = values.text.validation_share, values.budget.text
        prepare(dataset, raw, out, budget.tokenizers[name], name, budget.max_tokens, share, "", "demo")
    return text.load(out)


def main() -> None:
    """Print both tables, on the demo's texts and the models of its size."""
    values = config.load().model_copy(update={"profile": "demo"})
    with tempfile.TemporaryDirectory() as folder:
        print("One training step, constrained / unconstrained (at most 1.05)")
        for model in values.text.models:
            data = tokens(values, "imdb", values.models[model]["tokenizer"], Path(folder))
            made, cells = feed(values, data, model, device()), grid(values, "text", "imdb", model)
            firsts = [next(cell for cell in cells if cell.arm == arm) for arm in PAIR]
            pair = [Fed(made, values, [cell]).step for cell in firsts]
            one, two, share = ratio(*pair)
            print(f"  {model:<12}{1e3 * one:8.1f} ms / {1e3 * two:8.1f} ms = {share:.2f}")
            told, precision = f"{model} of the demo", values.training.precision
            record("constrained step / unconstrained", told, share, "at most 1.05", device(), precision)
        print("Padding, share of the positions of a training epoch (to stay below: 0.15), and if shuffled alone")
        for dataset in values.text.datasets:
            train, stream = tokens(values, dataset, "bert", Path(folder)).split("train"), np.random.default_rng(0)
            order, size = stream.permutation(len(train)), values.model_budget("distilbert")["batch"]
            waste = [
                text.padding_waste(train.lengths, text.batches(train.lengths, order, size, pool, stream))
                for pool in (values.text.length_pool, 1)
            ]
            print(f"  {dataset:<12}{waste[0]:.3f} / {waste[1]:.3f}")


if __name__ == "__main__":
    main()
