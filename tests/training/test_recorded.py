"""A recorded step is the step: replayed in the same memory it moves weights, duals and logs as plain ones do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from descent.components import load
from descent.errors import UserError
from descent.models.dust import DUST
from descent.models.parts.layers import dct
from descent.tasks.lm.batches import InstructionTask
from descent.tasks.text.batches import ClassificationTask
from descent.tasks.video.batches import FrameTask, SequenceTask
from descent.tasks.video.losses import denoising_losses
from descent.training.arm import Base
from descent.training.devices import UNRECORDED, Recorded, graph
from descent.training.drawing import drawn_in_turn
from descent.training.step import Steps
from tests.fakes.core import ROOT, small_params
from tests.fakes.replaying import record
from tests.training.test_synchronisation import ARMS, duals_of

CELLS, LAYERS, STEPS, WARMUP, CPU = 2, 3, 6, 1, torch.device("cpu")


class Squares:
    """The denoising task on batches of one shape."""

    recordable = True
    how: str | None = None

    def losses(self, model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return denoising_losses(model, *batch)

    def compile(self, how: str) -> None:
        self.how = how


def batches(count: int) -> list[tuple[Tensor, Tensor]]:
    stream = torch.Generator().manual_seed(0)
    clean = [torch.rand(1, 4, 5, 16, generator=stream) for _ in range(count)]
    return [(own + 0.1 * torch.randn(CELLS, 4, 5, 16, generator=stream), own) for own in clean]


def learnt(
    name: str,
    wrap: Callable = lambda function: function,
    device: torch.device = CPU,
    how: str | bool = False,
    lost_in: int | None = None,
) -> list[Tensor]:
    """All that three epochs of steps leave behind: who is alive, weights, moments, the arm's state, losses, logs.

    Args:
        wrap: what is made of the functions of a step and of a look.
        how: training.compile.
        lost_in: the epoch from which on the last cell meets no numbers.
    """
    arm, values = ARMS[name]
    objective = {"objectives.constrained": values | {"warmup_epochs": WARMUP}} if values else {}
    params = small_params(objective | {"training.compile": how})
    own = duals_of(arm, params, CELLS, LAYERS, device)
    net = DUST(CELLS, LAYERS, dct(16, 16), True, torch.relu, 1.5).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=torch.zeros((), device=device), fused=True)
    alive = torch.ones(CELLS, dtype=torch.bool, device=device)
    fresh = [tuple(part.to(device) for part in batch) for batch in batches(STEPS)]
    steps = Steps(net, Squares(), own, optimizer, params.training, alive)
    steps._learn, steps._look = wrap(steps._learn), wrap(steps._look)
    left, before = [], net.dictionaries.detach().clone()

    def draw(epoch: int, number: int) -> tuple[Tensor, Tensor]:
        noisy, clean = (part.clone() for part in fresh[number])
        if lost_in is not None and epoch >= lost_in:
            noisy[-1] = torch.nan
        return noisy, clean

    for epoch in range(3):
        total = 0.0
        drawn = drawn_in_turn(partial(draw, epoch), STEPS, ahead=device.type == "cuda")
        for number, batch in enumerate(drawn):
            f, norm = steps.learn(batch, epoch, lr=0.01 / (1 + number))
            total = total + torch.cat([f, norm[:, None]], dim=1)
        held_out = torch.stack([steps.look(batch).clone() for batch in fresh])
        log = own.end_epoch(total[:, :-1] / STEPS, held_out[0])
        left += [total, held_out, *log.values(), *(value.detach().clone() for value in net.parameters())]
    assert not torch.allclose(net.dictionaries, before, atol=0.01), "they learnt"
    moments = [state for one in (optimizer, *own.optimizers) for state in one.state.values()]
    return [alive, *left, *(value for state in moments for value in state.values())]


@pytest.mark.parametrize("name", ARMS)
def test_recorded_steps_leave_what_plain_ones_do(name: str) -> None:
    plain = learnt(name)
    replayed = []

    def counted(function: Callable) -> tuple[Callable, object]:
        again, results = record(function)
        return lambda: (replayed.append(1), again()), results

    found = learnt(name, partial(Recorded, record=counted))
    torch.testing.assert_close(found, plain, rtol=1e-6, atol=1e-7)
    assert len(replayed) > 2 * STEPS, "most of them"


@pytest.mark.parametrize("name", ARMS)
def test_a_cell_lost_under_replay_is_frozen_and_the_other_goes_on(name: str) -> None:
    plain, found = (learnt(name, wrap, lost_in=2) for wrap in (lambda own: own, partial(Recorded, record=record)))
    torch.testing.assert_close(found, plain, rtol=1e-6, atol=1e-7, equal_nan=True)
    assert found[0].tolist() == [True, False]
    weights = [value for value in found if value.shape == (CELLS, 1, 16, 16)][:3]  # after each epoch
    assert all(value.isfinite().all() for value in weights)
    assert torch.equal(weights[1][-1], weights[2][-1]), "as it was when it was lost"
    assert not torch.allclose(weights[1][0], weights[2][0]), "it goes on"


def test_what_does_not_stay_in_its_place_would_be_found() -> None:
    """A function that puts a new tensor where the last one was is no graph's: the test above is not blind."""

    class Counter:
        def __init__(self) -> None:
            self.total = torch.zeros(())

    count, moved = Counter(), Counter()

    def adds(batch: Tensor) -> Tensor:
        count.total += batch.sum()
        moved.total = moved.total + batch.sum()
        return count.total

    recorded = Recorded(adds, record)
    for _ in range(UNRECORDED + 3):
        recorded(torch.ones(2))
    assert count.total == 2 * (UNRECORDED + 3) and moved.total != count.total


def test_every_kind_has_its_own_recording_and_sees_its_own_batch() -> None:
    made = []

    def counted(function: Callable) -> tuple[Callable, object]:
        made.append(1)
        return record(function)

    scaled = Recorded(lambda batch, factor: factor * batch["x"], counted)
    for factor in (2, 3):  # what is asked beside the batch
        for number in range(UNRECORDED + 3):
            for shape in ((2,), (3,)):
                x = torch.full(shape, float(number))
                assert torch.equal(scaled({"x": x, "key": number}, factor), factor * x)
        assert len(scaled.known) == 2, "those of another factor would keep their memory"
    assert len(made) == 4


def test_every_arm_says_that_it_is_recordable_and_is_tested_for_it() -> None:
    names = {file.stem for file in (ROOT / "src/descent/arms").glob("[!_]*.py")}
    ours = {load("arms", name).Arm for name in names}
    assert ours == {load("arms", arm).Arm for arm, _ in ARMS.values()}
    params = small_params()
    assert all(duals_of(arm, params, CELLS, LAYERS, CPU).recordable for arm, _ in ARMS.values())
    assert not Base.recordable, "who writes an arm says so"


def test_what_draws_on_the_device_or_asks_it_is_not_recordable() -> None:
    tasks = (SequenceTask, FrameTask, ClassificationTask, InstructionTask)
    assert [own for own in tasks if own.recordable] == [SequenceTask]


@pytest.mark.parametrize(("dual_every", "recordable"), [(1, True), (2, False)])
def test_an_arm_that_does_not_step_alike_is_not_recordable(dual_every: int, recordable: bool) -> None:
    params = small_params({"objectives.constrained": {"dual_every": dual_every}})
    assert duals_of("constrained", params, CELLS, LAYERS, CPU).recordable == recordable


@pytest.mark.parametrize(
    ("how", "asked"),
    [(False, None), ("auto", None), ("kernels", "kernels"), ("graphs", "graphs"), ("both", "graphs")],
)
def test_steps_without_a_gpu_are_compiled_as_asked_and_not_recorded(how: str | bool, asked: str | None) -> None:
    params = small_params({"training.compile": how})
    task, alive = Squares(), torch.ones(CELLS, dtype=torch.bool)
    net = DUST(CELLS, LAYERS, dct(16, 16), True, torch.relu, 1.5)
    own = duals_of("unconstrained", params, CELLS, LAYERS, CPU)
    steps = Steps(net, task, own, torch.optim.Adam(net.parameters()), params.training, alive)
    assert task.how == asked and not isinstance(steps._learn, Recorded)


@pytest.mark.parametrize(
    ("said", "kind"),
    [("operation not permitted when stream is capturing", UserError), ("an illegal memory access", RuntimeError)],
)
def test_what_cannot_be_recorded_is_told_in_one_sentence(
    said: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: None)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: None)
    monkeypatch.setattr(torch.cuda, "graph", lambda *_, **__: nullcontext())

    def asks() -> None:
        raise RuntimeError(f"CUDA error: {said}\nmore")

    with pytest.raises(kind, match=said) as told:
        graph(asks)
    assert ("set training.compile: false" in str(told.value)) == (kind is UserError)


def test_what_made_a_recording_fail_is_told_and_not_that_its_end_failed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """torch's own context manager ends the recording, which fails for the failure within it."""

    @contextmanager
    def recording(*_: object, **__: object) -> Iterator[None]:
        try:
            yield
        finally:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: None)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: None)
    monkeypatch.setattr(torch.cuda, "graph", recording)

    def full() -> None:
        raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")

    with pytest.raises(RuntimeError, match="CUBLAS_STATUS_ALLOC_FAILED"):
        graph(full)
