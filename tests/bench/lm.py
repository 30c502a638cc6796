"""make bench: what the vocabulary products of all layers cost a step of the language model, in time and memory."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from descent import config as params
from descent.arms.constrained import ERM, Constrained
from descent.config import Params
from descent.tasks.lm import prepare as tokenize_lm
from descent.tasks.lm import raw as instruction_sources
from descent.tasks.lm.data import Instructions, load
from descent.tasks.lm.items import item
from descent.tasks.lm.schema import LlamaSize, LlamaWeights, LoRA
from descent.training.loop import primal_dual_step
from descent.training.settings import together
from tests.bench.steps import ratio

DEVICE = torch.device("cpu")
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
    instruction_sources.fetch(budget.data, "", folder / "raw")
    shares = (lm.validation_share, lm.test_share)
    where = (folder / "raw", folder / "tokens")
    tokenize_lm.prepare(*where, budget.tokenizer, budget.prompt, budget.max_tokens, *shares, "", "demo")
    return load(folder / "tokens")


def stepper(values: Params, data: Instructions, method: str) -> Callable[[], None]:
    """A function that makes one training step on the next batch of the first epoch."""
    made = item(values, data, DEVICE, method)
    stack, (setting,) = made.cells, made.settings.values()
    net, task, arm = made.build(stack), made.task(stack), ERM()
    if setting.problem:
        problem, dual_lr = together([setting], DEVICE)
        arm = Constrained((1, stack[0].layers + 1), dual_lr, problem, DEVICE)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=True)
    alive, number = torch.ones(1, dtype=torch.bool), iter(range(10**9))

    def step() -> None:
        batch = task.batch(0, next(number) % task.steps)
        primal_dual_step(net, task.losses, batch, arm, optimizer, values.training, alive, epoch=9)

    return step


def peak(step: Callable[[], None], folder: Path) -> float:
    """Megabytes that a step takes at most beyond the weights and the optimizer's moments, which stay."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as measured:
        step()
    measured.export_chrome_trace(str(folder / "trace.json"))
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    found = [event["args"] for event in events if event.get("name") == "[memory]"]
    before = found[0]["Total Allocated"] - found[0]["Bytes"]
    return (max(event["Total Allocated"] for event in found) - before) / 1e6


def variant(values: Params, lora: LoRA | None, **lm: object) -> Params:
    """A model with a large vocabulary for its width, as Llama's is, and these draws."""
    size = LlamaSize(width=WIDTH, heads=4, key_value_heads=2, feedforward=3 * WIDTH)
    changes = {"weights": LlamaWeights(random=size), "layers": LAYERS, "lora": lora, "batch": 8}
    budget = values.budget.model_copy(update={"lm": values.budget.lm.model_copy(update=changes)})
    own = values.lm.model_copy(update={"logits_at_once": 64, **lm})
    return values.model_copy(update={"profiles": {"demo": budget}, "lm": own})


def main() -> None:
    """Print time and memory of a constrained step over an unconstrained one, by what of the layers is read out."""
    values = params.load().model_copy(update={"profile": "demo"})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = instructions(values, folder)
        counts = np.pad(data.frequencies, (0, VOCABULARY - data.vocabulary))
        data = replace(data, vocabulary=VOCABULARY, frequencies=counts)
        print(f"One step, constrained / unconstrained, {LAYERS} layers, {VOCABULARY} words (memory: below 1.25)")
        for kind, lora in (("adapters", LoRA(rank=6, scale=8.0, dropout=0.05)), ("all weights", None)):
            for draws, chosen in DRAWS.items():
                asked = variant(values, lora, **chosen)
                pair = [stepper(asked, data, method) for method in ("constrained", "unconstrained")]
                one, two, share = ratio(*pair)
                sizes = [peak(step, folder) for step in pair]
                times = f"{1e3 * one:7.0f} / {1e3 * two:5.0f} ms = {share:.2f}"
                memory = f"{sizes[0]:9.1f} / {sizes[1]:6.1f} MB = {sizes[0] / sizes[1]:.2f}"
                print(f"  {kind:<12}{draws:<20}{times}{memory}", flush=True)


if __name__ == "__main__":
    main()
