"""make bench: what the vocabulary products of all layers cost a step of the language model, in time and in memory,
and its sweeps over shifts against bare passes."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from descent import config
from descent.cells import grid
from descent.config import Params
from descent.tasks.common.shifted import apply_of, levels_of
from descent.tasks.common.sweeping import Sweeping
from descent.tasks.lm.batches import InstructionTask
from descent.tasks.lm.data import Instructions, load
from descent.tasks.lm.feed import feed
from descent.tasks.lm.losses import layer_hits
from descent.tasks.lm.prepare import Tokenising, prepare
from descent.tasks.lm.raw import fetch
from descent.tasks.lm.sweep import sweep
from descent.tasks.text.data import by_length
from tests.bench.paper import shaped
from tests.bench.steps import PAIR, Fed
from tests.bench.table import EXACT, record
from tests.bench.timing import device, ratio

MODEL = "causal_lm"
VOCABULARY = 4096  # of the model; the demo's tokens are the first of them
LAYERS, WIDTH = 6, 128
DRAWS = {
    "all": {},
    "64 tokens": {"readout_tokens": 64},
    "64 tokens, 2 layers": {"readout_tokens": 64, "readout_layers": 2},
}


def instructions(values: Params, folder: Path) -> Instructions:
    """The demo's, tokenised."""
    budget, lm = values.budget.lm, values.lm
    fetch("alpaca", values.source("lm", "alpaca"), "", folder / "raw")
    told = budget.tokenizers["llama"], budget.max_tokens, lm.validation_share
    how = Tokenising("alpaca", "llama", *told, "", "demo", budget.prompt, lm.test_share)
    prepare(folder / "raw", folder / "tokens", how)
    return load(folder / "tokens")


def built(values: Params, data: Instructions) -> nn.Module:
    """The model of one cell, its weights drawn on the device itself: for eight billion a host takes minutes."""
    with device():
        return feed(values, data, MODEL, device()).build(grid(values, "lm", "alpaca", MODEL)[:1])


def steppers(values: Params, data: Instructions, net: nn.Module) -> list[Callable[[], None]]:
    """For each arm a function that makes one training step of `net` on the next batch.

    Both arms train the same weights: what these are changes no step's time, and two models of eight billion are
    64 GB.
    """
    made = replace(feed(values, data, MODEL, device()), build=lambda cells: net)
    cells = grid(values, "lm", "alpaca", MODEL)
    return [Fed(made, values, [next(cell for cell in cells if cell.arm == arm)]).step for arm in PAIR]


def peak(step: Callable[[], None], folder: Path) -> float:
    """Megabytes that a step takes at most beyond the weights and the optimizer's moments, which stay."""
    if device().type == "cuda":
        torch.cuda.reset_peak_memory_stats(device())
        before = torch.cuda.memory_allocated(device())
        step()
        return (torch.cuda.max_memory_allocated(device()) - before) / 1e6
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as measured:
        step()
    measured.export_chrome_trace(str(folder / "trace.json"))
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    found = [event["args"] for event in events if event.get("name") == "[memory]"]
    before = found[0]["Total Allocated"] - found[0]["Bytes"]
    return (max(event["Total Allocated"] for event in found) - before) / 1e6


def variant(values: Params, lora: dict[str, Any] | None) -> Params:
    """A model with a large vocabulary for its width, as Llama's is."""
    size = {"width": WIDTH, "heads": 4, "key_value_heads": 2, "feedforward": 3 * WIDTH}
    changes = {"weights": {"random": size}, "layers": [LAYERS], "lora": lora, "batch": 8}
    grids = values.budget.lm
    grids = grids.model_copy(update={"models": {MODEL: grids.models[MODEL] | changes}})
    own = values.lm.model_copy(update={"logits_at_once": 64})
    demo = values.budget.model_copy(update={"lm": grids})
    return values.model_copy(update={"profiles": {"demo": demo}, "lm": own})


def compare(values: Params, data: Instructions, net: nn.Module, what: str, folder: Path) -> None:
    """Print and record time and memory of a constrained step over an unconstrained one."""
    pair = steppers(values, data, net)
    one, two, share = ratio(*pair)
    sizes = [peak(step, folder) for step in pair]
    times = f"{1e3 * one:7.0f} / {1e3 * two:5.0f} ms = {share:.2f}"
    print(f"  {what:<42}{times}{sizes[0]:9.1f} / {sizes[1]:6.1f} MB = {sizes[0] / sizes[1]:.2f}", flush=True)
    found = {"step": (share, "at most 1.3"), "memory": (sizes[0] / sizes[1], "at most 1.1")}
    precision = values.training.precision
    for measure, (value, limit) in found.items():
        record(f"constrained {measure} / unconstrained", f"causal LM, {what}", value, limit, device(), precision)


def sweeping(values: Params, data: Instructions) -> None:
    """Print and record the passes, with the readout of all layers, that a level of a shift takes."""
    net, evaluation, at_once = built(values, data).eval(), values.lm.evaluation, values.lm.logits_at_once
    shifts = {shift: levels_of(values, "lm", shift, [values.lm.eps]) for shift in evaluation.shifts}
    texts = data.split("test")
    found = by_length(texts.lengths, evaluation.batch)
    batches = [InstructionTask.gather(texts, index, (0,), device()) for index in found]

    @torch.no_grad()
    def passes(levels: int) -> None:
        for batch in batches * levels:
            rows = [state.squeeze(0)[batch.predicts] for state in net.states(net.embed(batch.ids))]
            layer_hits(net, torch.stack(rows), batch.targets, at_once)

    def swept() -> None:
        for name, own in shifts.items():
            sweep(net, data, own, apply_of(values, name), at_once, Sweeping(evaluation, device()))

    share = ratio(swept, lambda: passes(sum(map(len, shifts.values()))))[2]
    print(f"Passes a level of a shift, {len(shifts)} shifts (at most 1.2): {share:.2f}", flush=True)
    setting = f"causal LM, {LAYERS} layers, {len(shifts)} shifts"
    record("forward passes a level of a shift", setting, share, "at most 1.2", device(), EXACT)


def compare_draws(values: Params, data: Instructions, what: str, folder: Path) -> None:
    """The same for everything that may be drawn of the readout, of one model: no draw is in its weights."""
    net = built(values, data)
    for draws, chosen in DRAWS.items():
        own = values.model_copy(update={"lm": values.lm.model_copy(update=chosen)})
        compare(own, data, net, f"{what}, readout of {draws}", folder)


def main() -> None:
    """What of the layers is read out: a small model on any device, on a GPU then one of the paper's shape."""
    values = config.load().model_copy(update={"profile": "demo"})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = instructions(values, folder)
        counts = np.pad(texts.frequencies, (0, VOCABULARY - texts.vocabulary))
        data = replace(texts, vocabulary=VOCABULARY, frequencies=counts)
        print(f"One step, constrained / unconstrained, {LAYERS} layers, {VOCABULARY} words (1.3; memory 1.1)")
        for kind, lora in (("adapters", {"rank": 6, "scale": 8.0, "dropout": 0.05}), ("all weights", None)):
            compare_draws(variant(values, lora), data, kind, folder)
        sweeping(variant(values, None), texts)
        if device().type == "cpu":
            print("  the shape of the profile paper: 32 GB of weights and a GPU, so it is not measured here")
            return
        compare_draws(*shaped(values, "alpaca", MODEL, folder), "Llama 3.1 8B's shape, adapters", folder)


if __name__ == "__main__":
    main()
