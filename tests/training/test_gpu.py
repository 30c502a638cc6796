"""What only a GPU can show: no step waits for a number, graphs replay the same numbers, stacks share a card.

Skipped where there is none; that no step asks for a number is tested without one in test_synchronisation.
"""

from collections.abc import Callable, Iterator
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from descent.models.dust import DUST
from descent.models.parts.layers import dct
from descent.runner import executor
from descent.runner.executor import Way, jobs, run_all
from descent.tasks.lm.losses import token_loss
from descent.tasks.video.losses import denoising_losses
from descent.training.devices import Recorded, autocast, compiled
from descent.training.step import primal_dual_step
from tests.fakes.core import small_params
from tests.runner.test_devices import STACKS, whose
from tests.tasks.lm.test_losses import Speaker, states, targets
from tests.training.test_recorded import learnt
from tests.training.test_synchronisation import ARMS, OBJECTIVES, duals_of

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # the compiler's own
    pytest.mark.filterwarnings("ignore:Synchronization debug mode"),  # a prototype, as it says when first used
]
DEVICE = torch.device("cuda")
CELLS, LAYERS = 2, 3


@pytest.fixture
def waiting_fails() -> Iterator[Callable[[], None]]:
    """Called, every wait for the GPU is an error from then on, until the test ends."""
    yield partial(torch.cuda.set_sync_debug_mode, "error")
    torch.cuda.set_sync_debug_mode("default")


def stepper(name: str) -> Callable[[int], Tensor]:
    """A constrained step of a small stack, on one batch again and again; f of it."""
    params = small_params({"objectives.constrained": OBJECTIVES[name]})
    arm = duals_of("constrained", params, CELLS, LAYERS, DEVICE)
    net = DUST(CELLS, LAYERS, dct(16, 16), True, torch.relu, 1.5).to(DEVICE)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
    alive = torch.ones(CELLS, dtype=torch.bool, device=DEVICE)
    clean = torch.rand(1, 4, 5, 16, generator=torch.Generator().manual_seed(0)).to(DEVICE)

    def losses(own: nn.Module, noisy: Tensor) -> Tensor:
        return denoising_losses(own, noisy, clean)

    noisy = clean.repeat(CELLS, 1, 1, 1)
    return lambda epoch: primal_dual_step(net, losses, noisy, arm, optimizer, params.training, alive, epoch)[0]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_no_step_waits_for_the_gpu(name: str, waiting_fails: Callable[[], None]) -> None:
    step = stepper(name)
    step(8)  # handles of libraries are made once
    waiting_fails()
    for epoch in range(9, 12):
        step(epoch)


@pytest.mark.filterwarnings("ignore::UserWarning")  # what the compiler thinks of such small products
@pytest.mark.parametrize("how", ["kernels", "graphs"])
def test_compiled_steps_give_the_same_numbers(how: str) -> None:
    """Of weights that an optimizer changes in place between the replays."""

    def loss(weight: Tensor, x: Tensor) -> Tensor:
        return ((x @ weight).softmax(-1) - x).square().sum()

    x = torch.randn(6, 6, generator=torch.Generator().manual_seed(0)).to(DEVICE)
    found = []
    for own in (loss, compiled(loss, how)):
        weight = torch.eye(6, device=DEVICE).requires_grad_()
        optimizer = torch.optim.Adam([weight], lr=0.1, fused=True)
        for _ in range(6):  # the first ones compile and record
            optimizer.zero_grad()
            own(weight, x).backward()
            optimizer.step()
        found.append(weight.detach())
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(found[0], torch.eye(6, device=DEVICE), atol=0.1), "they moved"


@pytest.mark.parametrize("name", ARMS)
def test_steps_replayed_while_batches_are_drawn_leave_what_plain_ones_do(name: str) -> None:
    used: list[Recorded] = []

    def recorded(function: Recorded) -> Recorded:
        used.append(function)
        return function

    plain, found = learnt(name, device=DEVICE), learnt(name, recorded, DEVICE, "graphs")
    torch.testing.assert_close(found, plain, rtol=1e-3, atol=1e-5)
    assert len(used) == 2 and all(own.known for own in used)
    lost = [learnt(name, device=DEVICE, how=how, lost_in=2) for how in (False, "graphs")]
    torch.testing.assert_close(*lost, rtol=1e-3, atol=1e-5, equal_nan=True)
    assert lost[1][0].tolist() == [True, False]


def test_stacks_of_a_share_are_done_by_as_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_way", Way(gpu_share={"default": 1.0, "dust": 0.5}))
    places = torch.cuda.device_count()
    found = run_all(jobs(STACKS, whose, len(STACKS)), DEVICE, lambda count: None)
    assert [own[:2] for own in found] == [(stack[0].model, stack[0].layers) for stack in STACKS]
    assert 1 < len({own[2] for own in found}) <= min(2 * places, len(STACKS)), "a process takes seconds to start"


@pytest.mark.parametrize("trains", [True, False])
def test_the_language_model_s_losses_are_those_of_a_cpu(trains: bool) -> None:
    """Of a frozen head liger's kernel's where it is installed, with its gradient."""
    found = []
    for device in (torch.device("cpu"), DEVICE):
        model = Speaker(trains=trains, dtype=torch.float32).to(device)
        layer = states(dtype=torch.float32)[0].detach().to(device).requires_grad_()
        with autocast(device, "float32"):  # another test may have left tf32
            loss = token_loss(model, layer, targets().to(device), 5)
        loss.backward()
        found.append((loss.detach().cpu(), layer.grad.cpu()))
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-6)
