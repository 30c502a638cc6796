"""Greedy completions of prompts with noise on every token, generated ones too, in AlpacaEval's format."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import DynamicCache

from descent.cells import Cell, headline
from descent.config import Params
from descent.io.folders import atomic_folder
from descent.io.progress import Bar
from descent.models.causal_lm import CausalLM
from descent.paths import completions_folder, completions_name
from descent.runner import store
from descent.runner.items import Item
from descent.tasks.common.looks import trained
from descent.tasks.lm.data import Instructions
from descent.tasks.text.embeddings import Scale
from descent.training.devices import autocast
from descent.training.noise import TEST, generator, sent

PROMPTS = 2**32 - 1  # the third number of the key of a prompt's noise, which no batch of the sweep has


def write_all(params: Params, data: Instructions, item: Item) -> None:
    """The completions of every arm of a model, in one folder written whole: <arm>/gamma<level>.json.

    They are of one seed, the first at the headline level and the largest depth of which no arm's cell diverged;
    without such a seed an arm has its own first one, and where all its cells diverged its files are empty lists.
    """
    place = (headline(params, "lm"), max(cell.layers for cell in item.cells))
    known = [cell for cell in item.cells if (cell.eps, cell.layers) == place]
    sound = [cell for cell in known if not store.record(item.runs, cell)["diverged"]]
    arms = {cell.arm for cell in sound}
    alike = [cell for cell in sound if {own.arm for own in sound if own.seed == cell.seed} == arms]
    with atomic_folder(completions_folder(data.name)) as folder:
        for arm in params.arms:
            own = [cell for cell in alike or sound if cell.arm == arm]
            (folder / arm).mkdir()
            if own:
                _write(params, data, item, own[0], folder / arm)
            else:
                for gamma in params.lm.completions.gammas:
                    (folder / arm / f"{completions_name(gamma)}.json").write_text("[]\n", encoding="utf-8")


def _write(params: Params, data: Instructions, item: Item, cell: Cell, folder: Path) -> None:
    """Complete the first prompts at each level with one cell's model.

    Each file is a list of {instruction, output, generator, dataset}, as alpaca_eval reads it. A prompt that
    leaves no room for a response within the model's context is left out.

    Raises:
        UserError: the cell is missing.
    """
    wanted = params.lm.completions
    speaker = data.speaker()
    first = [] if data.begin is None else [data.begin]
    chosen = data.prompts()[: wanted.prompts]
    prompts = [[*first, *ids] for ids in speaker.encode([row["prompt"] for row in chosen])]
    order = [n for n, ids in enumerate(prompts) if len(ids) < data.max_tokens]
    order.sort(key=lambda number: len(prompts[number]))
    net = trained(item, cell)
    sigma = Scale(data.frequencies, item.feed.device)(net)
    groups = [order[start : start + wanted.batch] for start in range(0, len(order), wanted.batch)]
    steps = len(order) * len(wanted.gammas)
    with (
        autocast(item.feed.device, params.precision_of("lm")),
        Bar(total=steps, desc=f"completions {cell.arm}", unit="prompt") as bar,
    ):
        for gamma in wanted.gammas:
            texts: dict[int, str] = {}
            for group in groups:
                noise = prompt_noise(net, group, params.lm.evaluation.seed, data.max_tokens, gamma * sigma)
                ids = complete(
                    net, [prompts[n] for n in group], noise, data.end, wanted.max_tokens, data.max_tokens
                )
                texts |= dict(zip(group, map(speaker.decode, ids), strict=True))
                bar.update(len(group))
            told = {"generator": f"{cell.model}-{cell.arm}-gamma{gamma:g}"}
            rows = [
                {key: chosen[n][key] for key in ("instruction", "dataset")} | {"output": texts[n].strip(), **told}
                for n in sorted(texts)
            ]
            (folder / f"{completions_name(gamma)}.json").write_text(
                json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )


def prompt_noise(
    model: CausalLM, numbers: Sequence[int], seed: int, tokens: int, scale: Float[Tensor, " 1"]
) -> Float[Tensor, "batch tokens width"]:
    """gamma * sigma * n of these prompts: n depends on the prompt's number alone, not on its company or the
    arm."""
    streams = (generator(TEST, seed, PROMPTS, number) for number in numbers)
    unit = torch.stack([torch.randn(tokens, model.width, generator=stream) for stream in streams])
    return sent(unit, scale.device) * scale


@torch.no_grad()
def complete(
    model: CausalLM,
    prompts: Sequence[Sequence[int]],
    noise: Float[Tensor, "batch tokens width"],
    end: int,
    most: int,
    context: int,
) -> list[list[int]]:
    """The tokens that follow each prompt, without the end token.

    There is no padding: a batch begins with as many tokens as its shortest prompt has, then goes on token by
    token, each text with its prompt's next token or, after that, with what the model finds likeliest. A text's
    completion is therefore the same in any company.

    Args:
        noise: added to the embedding of the token at each place.
        most: tokens of a completion.
        context: tokens of a prompt with its completion.
    """
    device = noise.device
    lengths = [len(ids) for ids in prompts]
    texts = [list(ids) for ids in prompts]
    done = [False] * len(prompts)
    limits = [min(length + most, context) for length in lengths]
    cache = DynamicCache()
    begin = 0
    reach = min(lengths)
    while not all(done):
        ids = torch.tensor([ids[begin:reach] for ids in texts], device=device)
        state = model.go_on(model.embed(ids) + noise[None, :, begin:reach], cache)
        found = model.readout(state[0, :, -1]).argmax(-1).tolist()
        for number, (text, token) in enumerate(zip(texts, found, strict=True)):
            if len(text) == reach:  # its prompt is read
                done[number] |= token == end or reach >= limits[number]
                text.append(end if done[number] else token)
        begin = reach
        reach = reach + 1
    answers = [text[length:limit] for text, length, limit in zip(texts, lengths, limits, strict=True)]
    return [answer[: answer.index(end)] if end in answer else answer for answer in answers]
