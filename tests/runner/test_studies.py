"""The values of a study: what is trained for it, and shared with the experiment that it belongs to."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from descent import paths
from descent.cells import study_cells
from descent.runner import items, scores, store
from descent.runner.stored import Stored
from descent.tasks.text.data import Tokens
from stages import evaluate_studies, train_studies
from tests.fakes.text import BUDGET, enter_text_project, evaluate_text, text_item, text_params, train_text

MODEL = f"{BUDGET}.models.ut_text"
ARMS = ("constrained", "unconstrained")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    return enter_text_project(tmp_path / "project", monkeypatch)


def test_a_study_takes_what_the_text_experiment_has_trained(project: Tokens, trained: list) -> None:
    params = text_params({f"{BUDGET}.seeds": [0], f"{MODEL}.layers": [3]})
    text = train_text(params, "ut_text")
    before, known = len(trained), {name for names in trained for name in names}
    assert known == {f"{arm}-L3-eps{eps}-seed0" for arm in ARMS for eps in (0.0, 0.4)}
    for study, used, others in (
        ("alpha", "0.1", {"0.05"}),
        ("dual_lr", "0.05", {"0.01"}),
        ("resilience", "decay", {"none"}),
    ):
        item = train_text(params, study)
        assert {cell.varied for cell in item.cells} == {"", used} | others and not item.searched
        for cell in item.cells:
            (twin,) = (c for c in text.cells if c.eps == cell.eps and c.arm == cell.arm)
            shared = cell.varied in ("", used)
            one = item.fingerprint(cell, item.settings[cell])
            assert (one == text.fingerprint(twin, text.settings[twin])) == shared
            assert store.record(item.runs, cell)["fingerprint"] == one
        new = [name for names in trained[before:] for name in names]
        assert {name.split("-")[-1] for name in new} == others
        before = len(trained)


def test_studies_train_and_are_scored_side_by_side(
    project: Tokens, trained: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small study alone would leave cores idle; what two of them share is trained once."""
    params = text_params({f"{BUDGET}.seeds": [0], f"{MODEL}.layers": [3]})
    asked: list[int] = []
    for module in (items, scores):
        run_all = module.run_all
        monkeypatch.setattr(
            module, "run_all", lambda jobs, *rest, do=run_all: asked.append(len(jobs)) or do(jobs, *rest)
        )
    for stage in (train_studies, evaluate_studies):
        monkeypatch.setattr(stage.config, "load", lambda: params)
        monkeypatch.setattr(stage.executor, "use", lambda _: None)
    monkeypatch.setattr(train_studies, "announce", lambda *_: None)
    train_studies.main("alpha", "dual_lr")
    evaluate_studies.main("alpha", "dual_lr")
    assert len(asked) == 2 and asked[0] == len(trained) > 1, "one call each"
    cells = [
        (item, cell) for item in (text_item(params, "alpha"), text_item(params, "dual_lr")) for cell in item.cells
    ]
    prints = {item.fingerprint(cell, item.settings[cell]) for item, cell in cells}
    assert sum(map(len, trained)) == len(prints) < len(cells)
    for study in ("alpha", "dual_lr"):
        assert set(pd.read_parquet(paths.study_scores_file(study))["experiment"]) == {study}


def test_a_study_that_runs_alone_trains_where_its_model_is_not_in_use(project: Tokens, trained: list) -> None:
    other = {"text.models": ["distilbert"]}
    assert study_cells(text_params(other), "alpha") == []
    params = text_params(other | {"study.alpha.alone": True})
    item = train_text(params, "alpha")
    assert [cell.model for cell in item.cells] == 3 * ["ut_text"] and sum(map(len, trained)) == 3
    assert all(store.record(item.runs, cell)["epoch"] for cell in item.cells)
    unprepared = other | {"study.alpha.alone": True, "models.ut_text.tokenizer": "roberta"}
    assert study_cells(text_params(unprepared), "alpha") == [], "its texts are in other tokens than those prepared"


@pytest.mark.slow
def test_a_study_that_is_not_tested_says_what_validation_says_and_no_more(project: Tokens, trained: list) -> None:
    """Trials of rates choose what is compared: no test data may be looked at; nor does the store mix the two."""
    found, passes = {}, {}
    for tested in (False, True):
        params = text_params({"study.alpha.tested": tested, f"{MODEL}.layers": [2]})
        train_text(params, "alpha")
        with FlopCounterMode(display=False) as counted:
            found[tested] = evaluate_text(params, "alpha").drop(columns="varied").drop_duplicates()
        passes[tested] = counted.get_total_flops()
    assert set(found[False]["split"]) == {"validation"} and passes[False] == 0 < passes[True]
    told = {tested: rows[rows["split"] == "validation"] for tested, rows in found.items()}
    pd.testing.assert_frame_equal(*(rows.reset_index(drop=True) for rows in told.values()))
    assert {"feasible", "validation_loss", "diverged", "lr"} <= set(told[False]["metric"])


@pytest.mark.slow
def test_each_value_of_a_study_is_trained_as_it_would_be_alone(project: Tokens, trained: list) -> None:
    sizes = {"together": 100000, "alone": 1}
    for study in ("alpha", "dual_lr", "resilience"):
        found = {}
        for name, elements in sizes.items():
            shutil.rmtree(store.root(), ignore_errors=True)
            trained.clear()
            params = text_params({"training.stack_elements.cpu": elements, f"{MODEL}.layers": [2]})
            item = train_text(params, study)
            assert max(map(len, trained)) == (1 if name == "alone" or study == "resilience" else 2)
            found[name] = {cell.varied: Stored(item.runs / cell.name).weights for cell in item.cells}
        for varied, weights in found["alone"].items():
            for name, value in weights.items():
                torch.testing.assert_close(found["together"][varied][name], value, rtol=0, atol=1e-4)
        values = list(found["alone"])
        gap = max((found["alone"][values[1]][n] - v).abs().max() for n, v in found["alone"][values[2]].items())
        assert gap > 1e-3, "the values differ in what they do"


def test_a_study_has_the_arms_beside_it_and_every_value_for_every_seed() -> None:
    params = text_params({"profiles.demo.studies.alpha": {"seeds": [0, 1]}})
    cells = study_cells(params, "alpha")
    assert [(c.arm, c.varied, c.seed) for c in cells] == [
        (arm, varied, seed)
        for seed in (0, 1)
        for arm, varied in (("unconstrained", ""), ("constrained", "0.05"), ("constrained", "0.1"))
    ]
    assert {(c.layers, c.eps) for c in cells} == {(3, 0.4)} and len({c.name for c in cells}) == 6


def test_pretrained_weights_replaced_in_their_folder_are_other_weights(project: Tokens, tmp_path: Path) -> None:
    file = tmp_path / "weights/model.safetensors"
    file.parent.mkdir()
    weights = {"random": None, "path": str(file.parent)}
    params = text_params({f"{BUDGET}.models.distilbert.weights": weights})

    def fingerprints() -> list[str]:
        item = text_item(params, "distilbert")
        return [item.fingerprint(cell, setting) for cell, setting in item.settings.items()]

    file.write_bytes(b"one")
    first = fingerprints()
    file.write_bytes(b"two")
    second = fingerprints()
    file.write_bytes(b"one")
    assert first == fingerprints() and not set(first) & set(second)
