"""What float32, bf16 and another device change: the error of f, and of fifty steps, against float64 on a CPU."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import softshrink

from descent.cells import Cell
from descent.components import load
from descent.models.dust import DUST
from descent.models.parts.layers import dct
from descent.tasks.common.items import setting
from descent.tasks.video.losses import denoising_losses
from descent.training.devices import autocast
from descent.training.step import primal_dual_step
from tests.fakes.core import small_params
from tests.fakes.encoders import ENCODERS
from tests.fakes.text import LAYERS as TEXT_LAYERS
from tests.fakes.text import fed, write_tokens

CPU = torch.device("cpu")
ON_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
LAYERS, STEPS = 5, 50
BOUND = {"float32": 1e-6, "bf16": 0.02}  # of the relative error of every f_l
SHRINK = {"dust": lambda codes: softshrink(codes, 0.01), "ut": torch.relu}


def model(name: str, shared: bool = False) -> DUST:
    return DUST(1, LAYERS, dct(256, 256), shared, SHRINK[name], 1.5)


def batch(dtype: torch.dtype = torch.float32, device: torch.device = CPU) -> tuple[Tensor, Tensor]:
    stream = torch.Generator().manual_seed(0)
    clean = torch.rand(1, 8, 5, 256, generator=stream)
    noisy = clean + 0.05 * torch.randn(clean.shape, generator=stream)
    return noisy.to(device, dtype), clean.to(device, dtype)


@pytest.mark.parametrize("precision", BOUND)
@pytest.mark.parametrize("name", SHRINK)
def test_the_error_of_every_loss_stays_below_its_bound(name: str, precision: str) -> None:
    net = model(name)
    exact = denoising_losses(model(name).double(), *batch(torch.float64))
    with autocast(CPU, precision):
        f = denoising_losses(net, *batch())
    assert f.dtype == torch.float32
    error = ((f - exact) / exact).abs().max().item()
    assert 0 < error < BOUND[precision], "0: nothing was computed in this precision"


@pytest.mark.parametrize("precision", BOUND)
def test_it_stays_below_after_training_too(precision: str) -> None:
    _, net = trained("float32", torch.float64)
    with torch.no_grad():
        exact = denoising_losses(net, *batch(torch.float64))
        with autocast(CPU, precision):
            f = denoising_losses(net.float(), *batch())
    assert 0 < ((f - exact) / exact).abs().max().item() < BOUND[precision]


@pytest.mark.parametrize("name", ["ut_text", *ENCODERS])
def test_the_error_of_every_loss_of_a_text_in_bf16_stays_below_it(name: str, tmp_path: Path) -> None:
    tokens = write_tokens(tmp_path / "imdb-bert")
    feed = fed(tokens, name)
    cells = [Cell("text", "imdb", name, "constrained", TEXT_LAYERS, 0.2, seed=0)]
    net, task = feed.build(cells), feed.task(cells)
    given = task.batch(0, 0)._replace(training=False)
    with torch.no_grad(), autocast(CPU, "bf16"):
        f = task.losses(net, given)
    with torch.no_grad():
        exact = task.losses(net.double(), given)
    assert f.dtype == torch.float32
    assert 0 < ((f - exact) / exact).abs().max().item() < BOUND["bf16"]


def trained(precision: str, dtype: torch.dtype = torch.float32, device: torch.device = CPU) -> tuple[Tensor, DUST]:
    """f of the last of STEPS constrained steps on one batch, and the model."""
    params = small_params({"training.precision": precision})
    asked = setting(params, Cell("video", "ucsd", "dust", "constrained", LAYERS, 0.13, seed=0)).values
    arm, net = load("arms", "constrained").Arm([asked], LAYERS, device), model("dust").to(device, dtype)
    optimizer, alive = torch.optim.Adam(net.parameters(), lr=1e-4), torch.ones(1, dtype=torch.bool, device=device)

    def losses(own: nn.Module, inputs: tuple[Tensor, Tensor]) -> Tensor:
        return denoising_losses(own, *inputs)

    for _ in range(STEPS):
        data = batch(dtype, device)
        f, _ = primal_dual_step(net, losses, data, arm, optimizer, params.training, alive, epoch=9)
    assert alive.all()
    return f.cpu().double(), net


@pytest.mark.parametrize(
    ("precision", "device", "bound"),
    [
        ("float32", "cpu", 1e-4),
        ("bf16", "cpu", 0.05),
        pytest.param("float32", "cuda", 1e-3, marks=ON_GPU),
        pytest.param("tf32", "cuda", 0.01, marks=ON_GPU),
        pytest.param("bf16", "cuda", 0.05, marks=ON_GPU),
    ],
)
def test_fifty_steps_end_where_those_of_float64_do(precision: str, device: str, bound: float) -> None:
    exact, _ = trained("float32", torch.float64)
    before = denoising_losses(model("dust").double(), *batch(torch.float64))
    f, net = trained(precision, device=torch.device(device))
    assert ((f - exact) / exact).abs().max() < bound < ((before - exact) / exact).abs().max(), "they moved further"
    assert {value.dtype for value in net.parameters()} == {torch.float32}, "weights stay as they are"
