"""A video matrix item from trained cells to rows of the results table."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

import pandas as pd
import torch
from torch import nn
from tqdm import tqdm

from descent import results
from descent.cells import Cell, runs_folder, scores_file
from descent.closure import digest
from descent.datasets.video import Prepared, Sequences, load
from descent.devices import choose
from descent.evaluation.sweeps import Sweep, sweep
from descent.models.reference import Identity, Zero
from descent.params import Params
from descent.primal_dual.constraints import relative_violations
from descent.training import store
from descent.training.denoising import sigma
from descent.training.stacks import plan
from descent.training.video import cells, fingerprints, prepared_folder, problem


def gammas(params: Params, experiment: str) -> list[float]:
    """The test levels: the uniform sweep, and every training level so that each cell has its own."""
    levels = [*params.evaluation.gammas, *params.budget.video.eps, params.eps]
    if experiment == "infeasible":
        levels.append(params.infeasible.eps)
    return sorted(set(map(float, levels)))


def evaluate_cells(params: Params, experiment: str, dataset: str, model: str, method: str) -> None:
    """Write the score file of one matrix item; cells scored before are taken from the store.

    Raises:
        UserError: unknown names, missing data, or a cell that is missing or stale.
    """
    asked = cells(params, experiment, dataset, model, method)
    prepared, device = load(prepared_folder(dataset)), choose(params.device)
    names = fingerprints(params, prepared, asked)
    runs = runs_folder(experiment, dataset, model, method)
    trained = {cell: store.read(runs, cell, names[cell]) for cell in asked}
    files = {cell: _score_file(params, cell, names[cell]) for cell in asked}
    missing = [cell for cell in asked if not files[cell].exists()]
    module, levels = import_module(f"descent.models.{model}"), gammas(params, experiment)
    sequences = _test_sequences(params, prepared)
    limit = getattr(params.training.stack_elements, device.type)
    elements = params.evaluation.batch * params.budget.video.tokens * module.width(params)
    with tqdm(total=len(missing) * len(sequences), desc=f"{experiment}-{dataset}-{model}-{method}") as bar:
        for stack in plan(missing, elements, limit):
            net = _load(module.build(params, stack), [trained[cell][0] for cell in stack]).to(device)
            found = sweep(
                net,
                sequences,
                levels,
                sigma(params, prepared),
                len(stack),
                params.evaluation,
                device,
                bar.update,
            )
            for index, cell in enumerate(stack):
                rows = list(_validation_rows(params, cell, runs))
                if trained[cell][1]["epoch"]:  # else it diverged before it learned anything: nothing to score
                    rows += _test_rows(params, cell, found, levels, index)
                results.write(pd.DataFrame(rows), files[cell])
    table = pd.concat([pd.read_parquet(file) for file in files.values()])
    results.write(table, scores_file(experiment, dataset, model, method))


def evaluate_references(params: Params, dataset: str) -> None:
    """Write the rows of the identity and the zero map, the ends between which every denoiser lies."""
    prepared, device = load(prepared_folder(dataset)), choose(params.device)
    sequences = _test_sequences(params, prepared)
    levels = gammas(params, "infeasible" if dataset == params.infeasible.dataset else "video")
    rows = []
    for name, net in (("identity", Identity()), ("zero", Zero())):
        cell = Cell("video", dataset, name, "reference", layers=0, eps=0.0, seed=0)
        found = sweep(net, sequences, levels, sigma(params, prepared), 1, params.evaluation, device)
        rows += _test_rows(params, cell, found, levels, 0)
    results.write(pd.DataFrame(rows), Path("data/scores/reference") / f"{dataset}.parquet")


def _test_sequences(params: Params, prepared: Prepared) -> Sequences:
    budget = params.budget.video
    return prepared.sequences("test", budget.tokens, limit=budget.test_sequences)


def _score_file(params: Params, cell: Cell, fingerprint: str) -> Path:
    """A cell's rows in the store, by all that they depend on."""
    definition = {
        "fingerprint": fingerprint,
        "profile": params.profile,
        "gammas": gammas(params, cell.experiment),
        "evaluation": params.evaluation.model_dump(),
        "test_sequences": params.budget.video.test_sequences,
        "problem": problem(params, cell.experiment, cell.model).model_dump(),
        "tolerance": params.video.tolerance,
        "code": digest(["descent.evaluation.video"], leave_out=["descent.params"]),
    }
    content = json.dumps(definition, sort_keys=True).encode()
    return store.root() / "scores" / f"{hashlib.sha256(content).hexdigest()[:32]}.parquet"


def _load(net: nn.Module, weights: Sequence[dict[str, torch.Tensor]]) -> nn.Module:
    """A stack from its cells' own weights."""
    net.load_state_dict({name: torch.stack([own[name] for own in weights]) for name in weights[0]})
    return net.eval()


def _row(params: Params, cell: Cell, **values: object) -> dict[str, object]:
    return {"profile": params.profile, **vars(cell), **values}


def _test_rows(
    params: Params, cell: Cell, found: Sweep, levels: Sequence[float], index: int
) -> Iterable[dict[str, object]]:
    """loss of every layer, rmse and rmse_clipped of the last, at every level."""
    scale = params.video.frame.patch**2 if params.video.patch_loss == "sum" else 1
    for level, error, clipped in zip(levels, found.error[:, index], found.clipped[:, index], strict=True):
        test = {"split": "test", "gamma": level}
        for layer, value in enumerate(error):
            yield _row(params, cell, **test, layer=layer, metric="loss", value=scale * value)
        yield _row(params, cell, **test, layer=cell.layers, metric="rmse", value=255 * math.sqrt(error[-1]))
        yield _row(params, cell, **test, layer=cell.layers, metric="rmse_clipped", value=255 * math.sqrt(clipped))


def _validation_rows(params: Params, cell: Cell, runs: Path) -> Iterable[dict[str, object]]:
    """What the reported epoch was on validation data: losses, relative violations, the cell's verdicts."""
    place, asked = runs / cell.name, problem(params, cell.experiment, cell.model)
    record = json.loads((place / "cell.json").read_text())
    common = {"split": "validation", "gamma": cell.eps}
    log = pd.read_csv(place / "history.csv")
    losses = log.loc[log["epoch"] == record["epoch"], "loss_validation"].to_numpy()
    worst = math.inf  # a cell that diverged before its first validation has no losses to report
    if len(losses):
        v = relative_violations(torch.tensor(losses)[None], asked)[0, asked.cap_layer :]
        worst = v.max().item()
        for layer, value in enumerate(losses):
            yield _row(params, cell, **common, layer=layer, metric="validation_loss", value=value)
        for layer, value in enumerate(v.tolist(), start=asked.cap_layer):
            yield _row(params, cell, **common, layer=layer, metric="violation", value=value)
    verdicts = {
        "feasible": worst <= params.video.tolerance,
        "diverged": record["diverged"],
        "epoch": record["epoch"],
    }
    for metric, value in verdicts.items():
        yield _row(params, cell, **common, layer=cell.layers, metric=metric, value=float(value))
