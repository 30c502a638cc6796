"""What every layer of a language model would say next, the logit lens, and what it completes."""

import json
from pathlib import Path

import numpy as np
import torch

from descent.analysis.select import TRAINED
from descent.cells import headline
from descent.config import Params
from descent.runner.items import Item
from descent.tasks.common.looks import LOOK, listed, shown, trained
from descent.tasks.common.shifted import apply_of
from descent.tasks.lm import completions
from descent.tasks.lm.batches import InstructionTask
from descent.tasks.lm.data import Instructions
from descent.tasks.text.embeddings import Scale
from descent.training.noise import TEST, Stream

TOKENS = 9  # of a response


@torch.no_grad()
def write(params: Params, data: Instructions, item: Item, folder: Path) -> None:
    """<arm>.json of the cells that pictures show, of one test instruction: its `prompt`, the first `targets` of
    its response and, by layer and target, the likeliest `tokens` and their `probabilities`.

    The text before each target is given; test noise is at the level of training. Of the first model in use also
    what each arm completes, in its own folder.
    """
    if item.cells[0].model == params.lm.models[0]:
        completions.write_all(params, data, item)
    texts = data.split("test")
    device = item.feed.device
    tokenizer = data.speaker().tokenizer
    key = (TEST, params.lm.evaluation.seed, LOOK)
    responses = texts.lengths - texts.labels
    first = responses.clip(max=TOKENS).argmax()  # of those that are long enough, or as long as there are
    batch = InstructionTask.gather(texts, np.array([first]), key, device)
    places = batch.predicts[0].nonzero()[:TOKENS, 0]
    targets = batch.targets[:TOKENS].tolist()
    told = {
        "prompt": tokenizer.decode(batch.ids[0, : places[0] + 1].tolist()),
        "targets": tokenizer.decode_batch([[number] for number in targets], skip_special_tokens=False),
    }
    apply = apply_of(params, TRAINED)
    level = torch.tensor([headline(params, "lm")], device=device)
    for cell in shown(params, item):
        net = trained(item, cell)
        sigma = Scale(data.frequencies, device)(net)
        states = net.states(apply(net.embed(batch.ids), level, Stream(*key, device=device), sigma))
        likeliest = [net.readout(state[0, 0, places]).float().softmax(-1).max(-1) for state in states]
        numbers = [[[number] for number in layer.indices.tolist()] for layer in likeliest]
        found = {
            "tokens": [tokenizer.decode_batch(layer, skip_special_tokens=False) for layer in numbers],
            "probabilities": listed(torch.stack([layer.values for layer in likeliest])),
        }
        words = json.dumps(told | found, ensure_ascii=False)
        (folder / f"{cell.arm}.json").write_text(f"{words}\n", encoding="utf-8")
