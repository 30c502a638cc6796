"""A trained cell comes back from its folder as the model that was trained, or one sentence says why not."""

import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from descent.config import Params
from descent.errors import UserError
from descent.inference import trained
from descent.models.parts.unrolled import UT
from tests.fakes.core import ROOT, enter_project, serially, small_params, train_cells, write_params

BUDGET = "profiles.demo.video"
SMALL = {
    f"{BUDGET}.epochs": 2,
    f"{BUDGET}.eps": [0.0],
    "video.models": ["ut"],
    "models.ut.reading": "pixels",
    "training.schedule": "constant",
}
OUT = Path("data/runs/video/ucsd/ut")
CELL = OUT / "constrained-L3-eps0.13-seed0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "project"
    with pytest.MonkeyPatch.context() as patch:
        enter_project(folder, patch)
        serially(patch)
        train_cells(small_params(SMALL), "video", "ucsd", "ut")
    return folder


@pytest.fixture
def params(project: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    monkeypatch.chdir(project)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return small_params(SMALL)


def test_it_is_the_model_of_its_weights_and_depth(params: Params) -> None:
    cell, net = trained.load(params, CELL)
    assert (cell.arm, cell.layers, cell.eps) == ("constrained", 3, 0.13)
    own = UT(1, 3, 16, residual=True)
    own.load_state_dict({name: value[None] for name, value in load_file(CELL / "weights.safetensors").items()})
    noisy = torch.rand(1, 2, 3, 16)
    states = net.states(noisy)
    assert len(states) == 4 and not net.training
    assert torch.equal(net.readout(states[-1]), own.states(noisy)[-1])


def test_without_a_name_it_is_the_deepest_of_our_arm_at_the_headline_level(params: Params) -> None:
    assert trained.default(params, "video") == CELL
    with pytest.raises(UserError, match="no lm model of the arm constrained is trained"):
        trained.default(params, "lm")


@pytest.mark.parametrize(
    ("folder", "task", "words"),
    [
        ("data/runs/video/ucsd/ut/constrained-L9-eps0.13-seed0", None, "there is no trained cell"),
        ("data/runs/video/ucsd/ut", None, "there is no trained cell"),
        ("/", None, "there is no trained cell"),
        (str(CELL), "lm", "is a cell of video: name one of lm"),
    ],
)
def test_what_is_no_such_cell_is_one_sentence(params: Params, folder: str, task: str | None, words: str) -> None:
    with pytest.raises(UserError, match=words) as told:
        trained.load(params, Path(folder), task)
    assert "\n" not in str(told.value)


def test_a_cell_that_would_now_be_trained_otherwise_is_refused(params: Params) -> None:
    with pytest.raises(UserError, match="trained with other parameters"):
        trained.load(small_params(SMALL | {"models.ut.feedforward_gain": 0.7}), CELL)
    with pytest.raises(UserError, match=re.escape("asks for no cell constrained-L3-eps0.13-seed0")):
        trained.load(small_params(SMALL | {"eps": 0.4}), CELL)


def test_the_readmes_lines_load_a_cell(params: Params) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (lines,) = [block for block in blocks if "trained.load" in block]
    named = "data/runs/video/ucsd/dust/constrained-L3-eps0.13-seed0"
    assert named in lines and len([line for line in lines.splitlines() if line]) == 5
    write_params(Path(), SMALL)
    found: dict = {}
    exec(lines.replace(named, str(CELL)), found)
    noisy = torch.rand(1, 2, 3, 16)
    assert found["cell"].arm == "constrained" and found["clean"](noisy).shape == noisy.shape
