"""Estimates: what is counted is exact, what is timed grows with what there is to do, finished cells are free."""

import json
from pathlib import Path

import pytest
import torch

from descent.cells import grid
from descent.components import of_task
from descent.config import Params, load
from descent.costs import devices, extrapolated, parts, shapes
from descent.costs.data import resident, standin
from descent.costs.devices import REFERENCE
from descent.costs.parts import Costs, Part
from descent.costs.steps import Step
from descent.costs.table import duration, lines
from tests.fakes.core import (
    CLIPS,
    DATASET,
    PARAMS,
    PATCH,
    SIZE,
    TOKENS,
    enter_project,
    serially,
    small_params,
    train_cells,
)

CPU = torch.device("cpu")
DUST = {"studies": [], "video.models": ["dust"], "text.datasets": [], "lm.datasets": []}


def enter_demo(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project whose prepared data are of the profile that asks."""
    enter_project(folder, monkeypatch)
    meta = Path("data/prepared") / DATASET / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"profile": "demo"}))


def write_bench(path: Path, *rows: str) -> None:
    """A table of reference steps: their seconds, device and precision."""
    path.write_text("\n".join(["measure,value,device,precision", *(f"{REFERENCE},{row}" for row in rows)]))


def part(params: Params) -> Part:
    (found,) = Costs(params, CPU, 2).parts()
    return found


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
    monkeypatch.setattr(parts, "timed", lambda *stack: Step(1.0, 1.0, 1.0, 1.0, 1.0))
    (Path("data/prepared") / DATASET / "meta.json").unlink()
    found = part(small_params(DUST | {"video.evaluation": {"shifts": ["gaussian", "speckle", "poisson"]}}))
    assert found.scoring > 0


def test_where_a_gpu_is_stood_in_for_its_reference_and_the_parts_are_timed_on_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_project(tmp_path, monkeypatch)
    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(devices, "reference_seconds", lambda params, device: float(asked == [1]))
    monkeypatch.setattr(parts, "timed", lambda *stack: Step(1.0, 1.0, 1.0, 1.0, 1.0))
    monkeypatch.setattr(parts, "threads", lambda planned: 2)
    write_bench(Path("data/bench.csv"), "0.005,NVIDIA H200,float32")
    params = small_params(DUST | {"device": "cuda"})
    device, places, factor, _ = devices.at_hand(params)
    assert factor == 0.005, "one thread was asked for before the reference was timed"
    [*Costs(params, device, places).parts()]
    assert asked == [1, 1]
    [*Costs(params, device, 4).parts()]
    assert asked[-1] == 2, "of a CPU's own estimate, as many as the executor gives"


def test_growing_a_small_step_is_exact_where_cost_is_the_plane_that_it_assumes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cost(
        params: Params, shape: dict, cell: object, layers: int, batch: int, shrink: int, device: object
    ) -> Step:
        return Step(
            *(factor * (3 + 5 * layers + 7 * batch + 11 * layers * batch) / shrink**2 for factor in range(1, 6))
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
    own = extrapolated.with_budget(params, "vit", {"weights": vit["weights"] | {"image": 80}})
    made_up = shapes.random_weights("vit", shapes.pretrained(own, "vit"), 1)
    assert made_up["weights"]["random"]["image"] == 80


def test_a_stand_in_model_has_the_shape_of_the_pretrained_one(tmp_path: Path) -> None:
    params = load(PARAMS).model_copy(update={"profile": "paper"})
    shape = shapes.pretrained(params, "distilbert")
    own = extrapolated.with_budget(
        params, "distilbert", shapes.random_weights("distilbert", shape, 4) | {"layers": [1], "batch": 2}
    )
    cell = next(cell for cell in grid(own, "text", "imdb", "distilbert") if cell.seed == 0)
    feed = of_task("text", "feed").feed(own, standin(own, "imdb", "distilbert", tmp_path, 4), "distilbert", CPU)
    net = feed.build([cell])
    assert net.table.shape == (1, 30522 // 4, 768 // 4)


def test_a_gpu_that_is_not_there_is_stood_in_for_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "bench.csv"
    monkeypatch.setattr(devices, "TABLE", table)
    monkeypatch.setattr(devices, "reference_seconds", lambda params, device: 0.5)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    params = small_params(DUST | {"device": "cuda"})
    write_bench(table, "0.4,cpu,float32")
    assert devices.at_hand(params)[2] == 1.0
    assert "no step measured" in devices.at_hand(params)[3]
    write_bench(table, "0.002,NVIDIA H200,bf16", "0.005,NVIDIA H200,float32")
    *_, factor, told = devices.at_hand(params)
    assert factor == pytest.approx(0.01) and "NVIDIA H200 (0.005 s in float32" in told
    write_bench(table, "0.002,NVIDIA H200,bf16")
    assert "(0.002 s in bf16" in devices.at_hand(params)[3], "of another precision, and it is said"


def test_stacks_share_a_gpu_as_their_model_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = small_params(DUST | {"gpu_share": {"default": 1.0, "dust": 0.33}})
    gpu = torch.device("cuda")
    assert devices.side_by_side(params, gpu, 2, "dust") == 6
    assert devices.side_by_side(params, gpu, 2, "vit") == 2
    assert devices.side_by_side(params, CPU, 2, "dust") == 2
    enter_project(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "timed", lambda feed, stack, settings: Step(1.0, 1.0, 1.0, 1.0, 1.0))
    asked: list[str] = []
    alone = part(params)
    monkeypatch.setattr(parts, "side_by_side", lambda params, device, places, model: asked.append(model) or 6)
    shared = part(params)
    assert (alone.slots, shared.slots, asked) == (2, 6, ["dust"])
    assert (shared.training, shared.scoring) == (alone.training, alone.scoring), "sharing a GPU is not free"
    assert shared.memory == 2 * alone.memory, "the four stacks that there are"


def test_memory_is_also_of_held_out_data_and_on_a_gpu_of_its_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_demo(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "timed", lambda *stack: Step(1.0, 1.0, 0.0, 0.0, 0.0))
    held_out = 10 * TOKENS * PATCH**2 * 4 * (3 + 1)  # noisy ones of three cells, and clean ones of all
    frames = (sum(CLIPS["train"]) + sum(CLIPS["validation"])) * SIZE**2
    assert part(small_params(DUST)).memory == 2 * held_out
    assert part(small_params(DUST | {"device": "cuda"})).memory == 2 * (held_out + frames), "of a GPU elsewhere"


def test_frames_stay_on_a_gpu_as_far_as_training_keeps_them(tmp_path: Path) -> None:
    params = load(PARAMS).model_copy(update={"profile": "paper"})
    every = 330 * (274515 // 330) * 160**2
    for free, kept in ((None, every), (4 * every, every), (4 * every - 4, 0), (0, 0)):
        assert resident(params, "shanghaitech", "dust", None, free) == kept
    assert resident(params, "imdb", "ut_text", None, None) == 0


def test_prepared_data_are_timed_here_where_the_gpu_that_is_asked_for_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_demo(tmp_path, monkeypatch)
    monkeypatch.setattr(devices, "reference_seconds", lambda params, device: 0.5)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    write_bench(Path("data/bench.csv"), "0.005,NVIDIA H200,float32")
    found = [*lines(small_params(DUST | {"device": "cuda"}))]
    assert "the ratio of the reference step on NVIDIA H200" in found[0]
    assert found[2].split()[3:5] == ["12", "12"]


def test_the_table_ends_with_all_parts_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_project(tmp_path, monkeypatch)
    found = [*lines(small_params(DUST))]
    assert [line.split("  ")[0] for line in found[2:4]] == ["video ucsd dust", "in all"]
    assert found[2].split()[3:5] == found[3].split()[2:4] == ["12", "12"]
    assert "share a GPU count as one after another: " in found[4]


def test_durations_are_told_in_the_unit_that_fits() -> None:
    assert [duration(seconds) for seconds in (0.5, 90.0, 600.0, 28800.0, 259200.0)] == [
        "0.5 s",
        "90 s",
        "10 min",
        "8 h",
        "3 d",
    ]
