"""How the answer for a few test texts settles from layer to layer: the numbers of a picture of single texts."""

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int, Int64
from tokenizers import Tokenizer

from descent.analysis.select import TRAINED
from descent.cells import headline
from descent.config import Params
from descent.models.parts.text import Embedded
from descent.runner.items import Item
from descent.tasks.common.looks import LOOK, listed, shown, trained
from descent.tasks.common.shifted import apply_of
from descent.tasks.text import tokenizers
from descent.tasks.text.batches import ClassificationTask, layer_logits
from descent.tasks.text.data import Tokens
from descent.tasks.text.embeddings import Scale
from descent.training.noise import TEST, Stream

TEXTS = 4


@torch.no_grad()
def write(params: Params, tokens: Tokens, item: Item, folder: Path) -> None:
    """<arm>.json of the cells that pictures show: a list of texts, each with its `words`, its `label` and the
    `probabilities` of all classes at every layer (depth, classes), test noise at the level of training."""
    texts = tokens.split("test")
    device = item.feed.device
    key = (TEST, params.text.evaluation.seed, LOOK)
    batch = ClassificationTask.gather(texts, _chosen(texts.labels), key, device)
    reader = tokenizers.read(tokens.folder)
    words = [_words(reader, ids[real].tolist()) for ids, real in zip(batch.ids, batch.mask, strict=True)]
    apply = apply_of(params, TRAINED)
    level = torch.tensor([headline(params, "text")], device=device)
    for cell in shown(params, item):
        net = trained(item, cell)
        sigma = Scale(tokens.frequencies, device)(net)
        noisy = apply(net.embed(batch.ids), level, Stream(*key, device=device), sigma)
        shares = layer_logits(net, Embedded(noisy, batch.mask))[0].softmax(-1).transpose(0, 1)
        told = zip(words, batch.labels.tolist(), listed(shares), strict=True)
        rows = [dict(zip(("words", "label", "probabilities"), row, strict=True)) for row in told]
        (folder / f"{cell.arm}.json").write_text(json.dumps(rows, ensure_ascii=False) + "\n", encoding="utf-8")


def _chosen(labels: Int64[np.ndarray, " texts"]) -> Int[np.ndarray, " _"]:
    """The first text of each class, then the second of each, and so on."""
    before = [int((labels[:place] == label).sum()) for place, label in enumerate(labels[: 50 * TEXTS])]
    return np.lexsort((labels[: len(before)], before))[:TEXTS]


def _words(reader: Tokenizer, ids: list[int]) -> str:
    """A text's parts, which special tokens keep apart, with a slash between them."""
    special = reader.get_added_tokens_decoder()
    parts = [reader.decode([*own]) for apart, own in groupby(ids, special.__contains__) if not apart]
    return " / ".join(part.strip() for part in parts)
