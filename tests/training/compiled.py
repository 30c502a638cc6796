"""python -m tests.training.compiled <folder>: cells of every family trained plainly and with training.compile.

In a process of its own, since the compiler cannot look through the checks of shapes that the tests install.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch._dynamo.utils import counters

from descent.cells import Cell, grid
from descent.components import load
from descent.config import Params
from descent.runner.checkpoints import FileCheckpoint
from descent.runner.items import Feed
from descent.tasks.common.items import setting
from descent.tasks.text import batches
from descent.tasks.video.feed import feed
from descent.training.loop import Course, Run, train
from tests.fakes import lm, text
from tests.fakes.core import DATASET, small_params, write_prepared

CPU, EPOCHS = torch.device("cpu"), 3
Made = tuple[Params, Feed, list[Cell]]


def video(folder: Path, model: str) -> Made:
    """Two cells of an unrolled model."""
    params, data = small_params(), write_prepared(folder)
    cells = [cell for cell in grid(params, "video", DATASET, model) if cell.arm == "constrained"]
    return params, feed(params, data, model, CPU), [cell for cell in cells if cell.layers == cells[0].layers][:2]


def texts(folder: Path, model: str, **changes: Any) -> Made:
    """A text model; its batches differ in length. `changes` are of its budget."""
    asked = {f"{text.BUDGET}.models.{model}.{key}": value for key, value in changes.items()}
    return text.text_params(asked), text.fed(text.write_tokens(folder), model, asked), text.cells(model)


def instructions(folder: Path) -> Made:
    """A language model."""
    return lm.lm_params(), lm.fed(lm.write_instructions(folder / "tokens", folder / "raw")), lm.cell()


RUNS: dict[tuple[str, str], Callable[[Path], Made]] = {
    ("ut", "kernels"): lambda folder: video(folder, "ut"),
    ("dust", "kernels"): lambda folder: video(folder, "dust"),
    ("ut_text", "kernels"): lambda folder: texts(folder, "ut_text"),
    ("ut_text", "graphs"): lambda folder: texts(folder, "ut_text"),
    ("distilbert", "kernels"): lambda folder: texts(folder, "distilbert"),
    ("distilbert", "graphs"): lambda folder: texts(folder, "distilbert", dropout=0.0),  # as padding draws others
    ("causal_lm", "kernels"): instructions,
}


def trained(made: Made, how: str | bool, folder: Path) -> Run:
    """A few epochs of a stack, compiled as `how` says."""
    params, own, cells = made
    asked = [setting(params, cell) for cell in cells]
    return train(
        own.build(cells),
        own.task(cells),
        load("arms", cells[0].arm).Arm([one.values for one in asked], cells[0].layers, CPU),
        Course(
            passes=EPOCHS,
            selection="final",
            tolerance=own.tolerance,
            training=params.training.model_copy(update={"compile": how}),
        ),
        lr=asked[0].lr,
        checkpoint=FileCheckpoint(folder / f"{how}.pt"),
        progress=lambda epoch, f: None,
    )


def losses(run: Run) -> list:
    """f of every epoch, in training and validation."""
    return [[log[name].tolist() for name in ("loss_train", "loss_validation")] for log in run.history]


def main(name: str) -> None:
    """Print by run both histories and how many graphs were made; traced only: kernels would take minutes."""
    original, found, batches.BUCKET = torch.compile, {}, 4  # the longest text has eleven tokens
    for (model, how), make in RUNS.items():
        folder = Path(name) / model / how
        made = make(folder)
        counters.clear()
        plain = trained(made, False, folder)
        with patch.object(torch, "compile", lambda function, mode: original(function, backend="eager")):
            other = trained(made, how, folder)
        found[f"{model}, {how}"] = {
            "plain": losses(plain),
            "compiled": losses(other),
            "graphs": counters["stats"]["unique_graphs"],
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
