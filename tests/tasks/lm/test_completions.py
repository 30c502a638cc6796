"""Completions: greedy, the same in any company, noisy on every token, in AlpacaEval's format; and their judge."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pandas as pd
import pytest
import torch

from descent.cells import Cell
from descent.errors import UserError
from descent.models.causal_lm import CausalLM
from descent.paths import completions_folder, completions_name
from descent.runner import store
from descent.tasks.common import scored
from descent.tasks.lm import completions, judge
from descent.tasks.lm.completions import complete, prompt_noise
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.schema import Judge
from tests.fakes.lm import (
    BUDGET,
    LONGEST,
    VOCABULARY,
    enter_lm_project,
    evaluate_lm,
    llama,
    lm_item,
    lm_params,
    train_lm,
)

PROMPTS = [
    torch.randint(3, VOCABULARY, (n,), generator=torch.Generator().manual_seed(n)).tolist() for n in (4, 7, 5)
]
NEVER = VOCABULARY - 1  # a token that the model does not say here
PAIR = ("constrained", "deep_supervision")
ASKED = Judge(annotators="some_judge", key="DESCENT_TEST_KEY")


def noise(level: float, model: CausalLM, numbers: tuple[int, ...] = (0, 1, 2)) -> torch.Tensor:
    return prompt_noise(model, numbers, 5, LONGEST, torch.tensor([level]))


def test_without_noise_they_are_the_librarys_greedy_ones_in_any_company() -> None:
    whole = llama()
    model = CausalLM(llama()).eval()
    together = complete(model, PROMPTS, noise(0.0, model), 2, 9, LONGEST)
    for ids, found in zip(PROMPTS, together, strict=True):
        right = whole.generate(
            torch.tensor([ids]), max_new_tokens=9, do_sample=False, eos_token_id=2, pad_token_id=2
        )
        right = right[0, len(ids) :].tolist()
        assert found == (right[: right.index(2)] if 2 in right else right)


def test_noise_is_the_prompts_own_and_reaches_generated_tokens() -> None:
    model = CausalLM(llama()).eval()
    unit = noise(1.0, model)
    together = complete(model, PROMPTS, unit, 2, 9, LONGEST)
    for number, ids in enumerate(PROMPTS):
        alone = complete(model, [ids], noise(1.0, model, (number,)), 2, 9, LONGEST)
        assert alone == [together[number]]
    late = unit.clone()
    late[:, :9] = 0  # all prompts are clean, and what is generated first
    clean, noisy = (complete(model, PROMPTS, n, 2, 20, LONGEST) for n in (0 * late, 30 * late))
    assert clean != noisy and clean[0][:4] == noisy[0][:4]


def test_a_completion_ends_with_the_end_token_the_limit_or_the_context() -> None:
    model = CausalLM(llama()).eval()
    free = complete(model, PROMPTS, noise(0.0, model), NEVER, 9, LONGEST)
    assert [len(found) for found in free] == [9, 9, 9]
    end = free[1][4]
    stopped = complete(model, PROMPTS, noise(0.0, model), end, 9, LONGEST)
    assert stopped[1] == free[1][: free[1].index(end)]
    assert [len(f) for f in complete(model, PROMPTS, noise(0.0, model), NEVER, 9, 9)] == [5, 2, 4]


@pytest.mark.slow
def test_the_files_are_in_alpaca_evals_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data: Instructions = enter_lm_project(tmp_path, monkeypatch)
    arms = ["constrained", "unconstrained", "deep_supervision"]
    params = lm_params({f"{BUDGET}.epochs": 1, "arms": arms})
    train_lm(params)
    evaluate_lm(params)
    whole = completions_folder(data.name)
    assert {path.name for path in whole.iterdir()} == set(arms)
    for arm in arms:
        folder = whole / arm
        assert sorted(path.name for path in folder.iterdir()) == ["gamma0.25.json", "gamma1.0.json"]
        for gamma in (0.25, 1.0):
            rows = json.loads((folder / f"{completions_name(gamma)}.json").read_text())
            assert [row["instruction"] for row in rows] == [row["instruction"] for row in data.prompts()[:5]]
            assert all(set(row) == {"instruction", "output", "generator", "dataset"} for row in rows)
            assert {row["generator"] for row in rows} == {f"causal_lm-{arm}-gamma{gamma:g}"}


def test_of_several_levels_depths_and_seeds_the_headline_cell_of_the_first_seed_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = enter_lm_project(tmp_path, monkeypatch)
    wrote: list[Cell] = []
    monkeypatch.setattr(completions, "_write", lambda params, data, item, cell, folder: wrote.append(cell))
    monkeypatch.setattr(store, "record", lambda runs, cell: {"diverged": False})
    params = lm_params({"profiles.demo.lm": {"eps": [0.0, 1.0], "seeds": [2, 1]}, f"{BUDGET}.layers": [1, 2]})
    completions.write_all(params, data, lm_item(params))
    assert [(cell.arm, cell.eps, cell.layers, cell.seed) for cell in wrote] == [
        (arm, 0.25, 2, 1) for arm in params.arms
    ]


def written(
    data: Instructions, lost: set[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, int]]:
    """Whose completions are written, arm and seed, of two arms and seeds of which these cells diverged."""
    wrote: list[tuple[str, int]] = []
    monkeypatch.setattr(
        completions, "_write", lambda params, data, item, cell, folder: wrote.append((cell.arm, cell.seed))
    )
    monkeypatch.setattr(store, "record", lambda runs, cell: {"diverged": (cell.arm, cell.seed) in lost})
    arms = ["constrained", "unconstrained"]
    params = lm_params({"profiles.demo.lm": {"eps": [], "seeds": [1, 2]}, "arms": arms})
    completions.write_all(params, data, lm_item(params))
    return wrote


def test_of_an_arm_that_diverged_nothing_is_written_and_another_seed_stands_in_for_one_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = enter_lm_project(tmp_path, monkeypatch)
    lost = {("constrained", 1), ("constrained", 2), ("unconstrained", 1)}
    assert written(data, lost, monkeypatch) == [("unconstrained", 2)]
    folder = completions_folder(data.name) / "constrained"
    assert {path.read_text() for path in folder.iterdir()} == {"[]\n"} and len(list(folder.iterdir())) == 2


def test_all_arms_complete_with_the_first_seed_of_which_none_diverged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = enter_lm_project(tmp_path, monkeypatch)
    assert written(data, {("constrained", 1)}, monkeypatch) == [("constrained", 2), ("unconstrained", 2)]


def test_without_seeds_in_common_each_arm_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = enter_lm_project(tmp_path, monkeypatch)
    lost = {("constrained", 1), ("unconstrained", 2)}
    assert written(data, lost, monkeypatch) == [("constrained", 2), ("unconstrained", 1)]


def test_without_a_model_there_is_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = enter_lm_project(tmp_path, monkeypatch)
    assert scored.of_dataset(lm_params({"lm.models": []}), "lm", data.name).empty
    assert not list(completions_folder(data.name).iterdir())


def test_without_key_package_or_completions_the_judge_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ASKED.key, raising=False)
    with pytest.raises(UserError, match="set the environment variable DESCENT_TEST_KEY"):
        judge.win_rates(tmp_path, *PAIR, [1.0], ASKED)
    monkeypatch.setenv(ASKED.key, "x")
    monkeypatch.setattr(judge.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install alpaca-eval"):
        judge.win_rates(tmp_path, *PAIR, [1.0], ASKED)
    install(monkeypatch, lambda **asked: None)
    with pytest.raises(UserError, match=r"gamma1.0.json is missing"):
        judge.win_rates(tmp_path, *PAIR, [1.0], ASKED)
    (tmp_path / PAIR[0]).mkdir()
    file = tmp_path / PAIR[0] / "gamma1.0.json"
    for cut in ("", '[{"instruction": '):
        file.write_text(cut)
        with pytest.raises(UserError, match=r"gamma1.0.json is missing or cut short: run `dvc repro --force"):
            judge.win_rates(tmp_path, *PAIR, [1.0], ASKED)
    file.write_text("[]")
    with pytest.raises(UserError, match=r"holds no completions: training of that arm diverged"):
        judge.win_rates(tmp_path, *PAIR, [1.0], ASKED)


def install(monkeypatch: pytest.MonkeyPatch, evaluate: object) -> None:
    module = ModuleType("alpaca_eval")
    module.evaluate = evaluate
    monkeypatch.setitem(sys.modules, "alpaca_eval", module)
    monkeypatch.setattr(judge.importlib.util, "find_spec", lambda name: SimpleNamespace())


def test_the_judge_compares_the_arms_and_a_failure_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ASKED.key, "x")
    for arm in PAIR:
        (tmp_path / arm).mkdir()
        row = {"instruction": "a", "output": arm, "generator": f"causal_lm-{arm}-gamma1", "dataset": "d"}
        (tmp_path / arm / "gamma1.0.json").write_text(json.dumps([row]))

    def evaluate(model_outputs: list, reference_outputs: list, name: str, **asked: object) -> tuple:
        assert (model_outputs[0]["output"], reference_outputs[0]["output"]) == PAIR
        assert asked["annotators_config"] == "some_judge"
        return pd.DataFrame({"win_rate": [60.0], "length_controlled_winrate": [62.5]}, index=[name]), None

    install(monkeypatch, evaluate)
    assert judge.win_rates(tmp_path, *PAIR, [1.0], ASKED) == {"1": {"win_rate": 60.0}}, "not AlpacaEval's prompts"
    monkeypatch.setattr(judge, "PROMPTS", 1)
    rates = {"win_rate": 60.0, "length_controlled_win_rate": 62.5}
    assert judge.win_rates(tmp_path, *PAIR, [1.0], ASKED) == {"1": rates}

    def fails(**asked: object) -> None:
        raise ConnectionError("no route")

    install(monkeypatch, fails)
    with pytest.raises(UserError, match=r"some_judge does not answer \(no route\): check key and network"):
        judge.win_rates(tmp_path, *PAIR, [1.0], ASKED)
