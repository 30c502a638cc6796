"""make bench: what the constraints cost a step of a text model, padding, and sweeps against bare passes."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from descent import config
from descent.cells import grid
from descent.config import Params
from descent.models.parts.text import Embedded
from descent.tasks.common.shifted import apply_of, levels_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.text import data as text
from descent.tasks.text.batches import ClassificationTask, layer_logits
from descent.tasks.text.feed import feed
from descent.tasks.text.prepare import Tokenising, prepare
from descent.tasks.text.raw import fetch
from descent.tasks.text.sweep import sweep
from tests.bench.paper import shaped
from tests.bench.steps import PAIR, Fed
from tests.bench.table import EXACT, record
from tests.bench.timing import device, one_thread, ratio
from tests.fakes.text import padding_waste


def tokens(values: Params, dataset: str, name: str, folder: Path) -> text.Tokens:
    """A demo data set in the tokens of one of the demo's tokenizers."""
    raw, out = folder / dataset, folder / f"{dataset}-{name}"
    if not raw.exists():
        fetch(dataset, values.source("text", dataset), "", raw)
    if not out.exists():
        share, budget = values.text.validation_share, values.budget.text
        how = Tokenising(dataset, name, budget.tokenizers[name], budget.max_tokens, share, "", "demo")
        prepare(raw, out, how)
    return text.load(out)


def sweeping(values: Params, model: str, data: text.Tokens) -> None:
    """Forward passes that a level of a shift takes: of all shifts of texts, and of each by itself.

    Of a cell that is not a process's first: what shifts of words make of texts is kept for the next cells.
    """
    cell = grid(values, "text", "imdb", model)[0]
    net, evaluation = feed(values, data, model, device()).build([cell]).eval().to(device()), values.text.evaluation
    shifts = {shift: levels_of(values, "text", shift, [cell.eps]) for shift in evaluation.shifts}
    texts = data.split("test")
    found = text.by_length(texts.lengths, evaluation.batch)
    batches = [ClassificationTask.gather(texts, index, (0,), device()) for index in found]

    @torch.no_grad()
    def passes(levels: int) -> None:
        for batch in batches * levels:
            layer_logits(net, Embedded(net.embed(batch.ids), batch.mask))

    def swept(names: Sequence[str]) -> None:
        for name in names:
            sweep(net, data, shifts[name], apply_of(values, name), [cell.eps], Sweeping(evaluation, device()))

    def share(names: Sequence[str], patience: float = 1.0) -> float:
        count = sum(len(shifts[name]) for name in names)
        return ratio(lambda: swept(names), lambda: passes(count), patience)[2]

    every, setting = share([*shifts]), f"{model} of the demo, {len(shifts)} shifts"
    told = ", ".join(f"{name} {share([name], 0.25):.2f}" for name in shifts)  # printed alone
    print(f"  {model:<12}{every:.2f}: {told}")
    record("forward passes a level of a shift", setting, every, "at most 1.2", device(), EXACT)


def at_the_papers_size(values: Params, model: str, folder: Path) -> None:
    """Print and record the same of an encoder of the profile `paper`."""
    own, data = shaped(values, "imdb", model, folder)
    made, cells = feed(own, data, model, device()), grid(own, "text", "imdb", model)
    firsts = [next(cell for cell in cells if cell.arm == arm) for arm in PAIR]
    one, two, share = ratio(*(Fed(made, own, [cell]).step for cell in firsts))
    told, precision = f"{model} of the paper's size", own.training.precision
    print(f"  {told:<32}{1e3 * one:8.1f} ms / {1e3 * two:8.1f} ms = {share:.2f}", flush=True)
    record("constrained step / unconstrained", told, share, "at most 1.05", device(), precision)


def main() -> None:
    """Print all tables, on the demo's texts and the models of its size."""
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
        if device().type == "cuda":  # where their own sizes take no hours
            for model in ("distilbert", "roberta"):
                at_the_papers_size(values, model, Path(folder))
        print("Padding, share of the positions of a training epoch (to stay below: 0.15), and if shuffled alone")
        for dataset in values.text.datasets:
            train, stream = tokens(values, dataset, "bert", Path(folder)).split("train"), np.random.default_rng(0)
            order, size = stream.permutation(len(train)), values.model_budget("distilbert")["batch"]
            waste = [
                padding_waste(train.lengths, text.batches(train.lengths, order, size, pool, stream))
                for pool in (values.text.length_pool, 1)
            ]
            print(f"  {dataset:<12}{waste[0]:.3f} / {waste[1]:.3f}")
        print("Forward passes a level of a shift of texts (at most 1.2)")
        for model in values.text.models:
            data = tokens(values, "imdb", values.models[model]["tokenizer"], Path(folder))
            with one_thread():
                sweeping(values, model, data)


if __name__ == "__main__":
    main()
