"""Estimates: what is counted is exact, what is timed grows with what there is to do, finished cells are free."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import DistilBertConfig, LlamaConfig, PretrainedConfig, ViTConfig

from descent.cells import grid
from descent.components import of_task
from descent.config import Params, load
from descent.costs import extrapolated, parts, shapes
from descent.costs.data import standin
from descent.costs.steps import Step
from descent.costs.table import duration, lines
from descent.errors import UserError
from tests.fakes.core import (
    DATASET,
    PARAMS,
    enter_project,
    serially,
    small_params,
    train_cells,
)
from tests.fakes.costs import CPU, DUST, enter_demo, part

COMMON = {"hidden_size": 48, "intermediate_size": 96}  # of a configuration of the library


def test_cells_and_steps_are_those_of_the_grid_and_finished_cells_are_taken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_demo(tmp_path, monkeypatch)
    serially(monkeypatch)
    params = small_params(DUST)
    before = part(params)
    assert (before.cells, before.missing, before.steps) == (12, 12, 4 * 21 // 7)
    assert before.training > 0 < before.disk
    train_cells(small_params(DUST | {"profiles.demo.video": {"layers": [2]}}), "video", DATASET, "dust")
    half = part(params)
    assert (half.cells, half.missing) == (12, 6)
    train_cells(params, "video", DATASET, "dust")
    after = part(params)
    assert (after.missing, after.training, after.scoring, after.disk) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("task", "dataset", "model", "texts"),
    [("text", "mnli", "ut_text", (353432, 9815)), ("lm", "alpaca", "causal_lm", (43682, 4160))],
)
def test_data_that_are_not_there_are_stood_in_for_by_as_many_texts(
    task: str, dataset: str, model: str, texts: tuple[int, int], tmp_path: Path
) -> None:
    params = load(PARAMS).model_copy(update={"profile": "paper"})
    data = standin(params, dataset, model, tmp_path)
    assert (len(data.split("train")), len(data.split("test"))) == texts


def test_a_stand_in_of_video_holds_what_an_epoch_draws_in_clips_that_seeds_may_draw(tmp_path: Path) -> None:
    for profile in ("small", "paper"):
        params = load(PARAMS).model_copy(update={"profile": profile})
        folder = tmp_path / profile
        folder.mkdir()
        data, budget = standin(params, "ucsd", "dust", folder), params.model_budget("dust")
        one = data.drawn(3) if budget["clips"] == "drawn" else data
        assert len(one.sequences("train", budget["tokens"])) >= min(
            budget["epoch_inputs"], 9800
        )  # all that Ped2 has
        assert len(one.sequences("validation", budget["tokens"])) >= budget["validation_inputs"] / 8
        assert len(data.clips["test"]) == 12


def test_a_stand_in_of_many_clips_holds_whole_sequences_of_each(tmp_path: Path) -> None:
    params = load(PARAMS).model_copy(update={"profile": "paper"})
    data, budget = standin(params, "shanghaitech", "dust", tmp_path), params.model_budget("dust")
    assert len(data.sequences("train", budget["tokens"])) >= budget["epoch_inputs"]
    assert len(data.sequences("validation", budget["tokens"])) >= budget["validation_inputs"]
    assert data.clips["train"][0][2] == 2 * budget["tokens"], "and no more frames than that takes"


def test_shifts_whose_strength_is_in_proportion_to_the_light_are_counted_on_a_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "timed", lambda *stack: Step(1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    (Path("data/prepared") / DATASET / "meta.json").unlink()
    found = part(small_params(DUST | {"video.evaluation": {"shifts": ["gaussian", "speckle", "poisson"]}}))
    assert found.scoring > 0


def test_growing_a_small_step_is_exact_where_cost_is_the_plane_that_it_assumes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cost(
        params: Params, shape: dict, cell: object, layers: int, batch: int, shrink: int, device: object
    ) -> Step:
        return Step(
            *(factor * (3 + 5 * layers + 7 * batch + 11 * layers * batch) / shrink**2 for factor in range(1, 7))
        )

    monkeypatch.setattr(extrapolated, "_small", cost)
    params = load(PARAMS).model_copy(update={"profile": "paper"})
    cell = grid(params, "text", "imdb", "roberta")[0]
    found = extrapolated.step(params, shapes.pretrained(params, "roberta"), cell, CPU)
    assert found.seconds == pytest.approx(3 + 5 * 24 + 7 * 16 + 11 * 24 * 16)
    wide = extrapolated.step(
        params, shapes.pretrained(params, "causal_lm"), grid(params, "lm", "alpaca", "causal_lm")[0], CPU
    )
    assert wide.seconds == pytest.approx(3 + 5 * 32 + 7 * 4 + 11 * 32 * 4)


def test_a_pretrained_vit_is_estimated_at_the_images_that_it_is_shown() -> None:
    params = load(PARAMS).model_copy(update={"profile": "paper"})
    assert shapes.pretrained(params, "vit")["image"] == 224
    vit = params.budget.video.models["vit"]
    own = params.with_budget("vit", {"weights": vit["weights"] | {"image": 80}})
    made_up = shapes.random_weights("vit", shapes.pretrained(own, "vit"), 1)
    assert made_up["weights"]["random"]["image"] == 80


@pytest.mark.parametrize(
    ("model", "config"),
    [
        (
            "vit",
            ViTConfig(hidden_size=48, num_attention_heads=3, intermediate_size=96, image_size=32, patch_size=8),
        ),
        ("distilbert", DistilBertConfig(dim=48, n_heads=3, hidden_dim=96, vocab_size=77)),
        (
            "causal_lm",
            LlamaConfig(hidden_size=48, num_attention_heads=6, num_key_value_heads=3, intermediate_size=96),
        ),
    ],
)
def test_weights_of_a_folder_that_is_here_have_the_shape_that_it_says(
    model: str, config: PretrainedConfig, tmp_path: Path
) -> None:
    config.save_pretrained(tmp_path / "own")
    params = load(PARAMS).model_copy(update={"profile": "paper", "local_data": str(tmp_path)})
    own = params.with_budget(model, {"weights": {"path": "own"}})
    found = shapes.pretrained(own, model)
    assert (found["width"], found["key_value_heads"], found["feedforward"]) == (48, 3, 96)
    assert (found.get("image"), found.get("patch")) == ((32, 8) if model == "vit" else (None, None))
    assert found["heads"] == (6 if model == "causal_lm" else 3)
    size = shapes.random_weights(model, found, 1)["weights"]["random"]
    assert size["width"] == 48 and size["feedforward"] == 96
    gone = params.with_budget(model, {"weights": {"path": "gone"}})
    with pytest.raises(UserError, match="the shape of gone is not known: put it under local_data"):
        shapes.pretrained(gone, model)


@pytest.mark.parametrize(("task", "model"), [("text", "roberta"), ("lm", "causal_lm")])
def test_a_tokenizer_of_a_folder_that_is_here_is_counted_whatever_its_special_tokens(
    task: str, model: str, tmp_path: Path
) -> None:
    words = Tokenizer(WordLevel({word: number for number, word in enumerate(("one", "two", "three"))}))
    (tmp_path / "own").mkdir()
    words.save(str(tmp_path / "own/tokenizer.json"))
    params = load(PARAMS).model_copy(update={"profile": "paper", "local_data": str(tmp_path)})
    name, grids = params.tokenizer(model), getattr(params.budget, task)
    source = grids.tokenizers[name].model_copy(update={"path": "own", "hub": None})
    grids = grids.model_copy(update={"tokenizers": {name: source}})
    budget = params.budget.model_copy(update={task: grids})
    own = params.model_copy(update={"profiles": params.profiles | {"paper": budget}})
    assert shapes.vocabulary(own, task, model) == 3
    assert shapes.vocabulary(params, task, model) > 50_000, "the hub's, by the table"


def test_a_stand_in_model_has_the_shape_of_the_pretrained_one(tmp_path: Path) -> None:
    params = load(PARAMS).model_copy(update={"profile": "paper"})
    shape = shapes.pretrained(params, "distilbert")
    own = params.with_budget(
        "distilbert", shapes.random_weights("distilbert", shape, 4) | {"layers": [1], "batch": 2}
    )
    cell = next(cell for cell in grid(own, "text", "imdb", "distilbert") if cell.seed == 0)
    feed = of_task("text", "feed").feed(own, standin(own, "imdb", "distilbert", tmp_path, 4), "distilbert", CPU)
    net = feed.build([cell])
    assert net.table.shape == (1, 30522 // 4, 768 // 4)


def test_the_table_ends_with_all_parts_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_project(tmp_path, monkeypatch)
    found = [*lines(small_params(DUST))]
    assert [line.split("  ")[0] for line in found[2:4]] == ["video ucsd dust", "in all"]
    assert found[2].split()[3:5] == found[3].split()[2:4] == ["12", "12"]
    assert "share a GPU count as one after another; in memory they are together" in found[4]


def test_durations_are_told_in_the_unit_that_fits() -> None:
    assert [duration(seconds) for seconds in (0.5, 90.0, 600.0, 28800.0, 259200.0)] == [
        "0.5 s",
        "90 s",
        "10 min",
        "8 h",
        "3 d",
    ]
