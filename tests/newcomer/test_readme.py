"""What the README and its pages say can be typed: keys, targets, stages, sections and links are there."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from dvc.repo import Repo

from descent.io import core_yaml
from descent.models.parts.inputs import VideoInputs
from descent.published.markdown import anchor
from tests.newcomer import readme

SOUGHT = (
    "What it costs",
    "My own data",
    "My own model, arm, shift, figure",
    "Use a trained model",
    "When something fails",
)


def settings() -> list[str]:
    """Every `-S key=value` of the README."""
    words = [shlex.split(command) for command in readme.commands() if command.startswith("dvc")]
    return sorted({after for line in words for word, after in pairwise(line) if word == "-S"})


@pytest.fixture(scope="module")
def params() -> dict[str, Any]:
    return core_yaml.read(readme.ROOT / "params.yaml")


@pytest.mark.parametrize("setting", settings())
def test_a_setting_names_a_parameter_that_there_is(params: dict[str, Any], setting: str) -> None:
    node = params
    for key in setting.partition("=")[0].split("."):
        assert key in node, f"{setting}: params.yaml has no {key}"
        node = node[key]


def test_what_comes_from_the_hub_is_pinned(params: dict[str, Any]) -> None:
    """Finished cells are kept by what params.yaml says: a newest state would be another one later."""
    named = [(path, node) for path, node in _nodes(params["profiles"]["paper"]) if path[-1] in ("hub", "prompts")]
    assert len(named) > 5
    assert not [path for path, node in named if not re.fullmatch(r"[0-9a-f]{40}", node.get("revision", ""))]


def _nodes(tree: Any, *path: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every mapping of a tree, with the keys that lead there."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield (*path, key), value
            yield from _nodes(value, *path, key)


def test_targets_stages_and_modules_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (readme.ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = {command.split()[1] for command in readme.commands() if command.startswith("make ")}
    assert asked and asked <= targets
    modules = set(re.findall(r"python -m (stages\.\w+|tests\.[\w.]+)", readme.text()))
    assert modules and all((readme.ROOT / Path(*name.split("."))).with_suffix(".py").exists() for name in modules)


def test_a_newcomer_finds_the_sections_and_every_page() -> None:
    assert set(SOUGHT) <= set(readme.headings())
    assert {page for page, _ in readme.links(readme.README)} >= set(readme.PAGES[1:])


@pytest.mark.parametrize("page", readme.PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = readme.links(page)
    assert links
    for path, place in links:
        assert path.exists(), path
        assert not place or place in map(anchor, readme.headings(path)), (path.name, place)


@pytest.mark.filterwarnings("ignore:_NoneStep:DeprecationWarning")  # of a library of DVC's
def test_the_picture_of_the_dag_is_that_of_dvc_yaml() -> None:
    graph = Repo(str(readme.ROOT)).index.graph
    edges = {tuple(stage.name.partition("@")[0] for stage in (before, after)) for after, before in graph.edges}
    assert set(re.findall(r"^    (\w+) --> (\w+)$", readme.text(), re.MULTILINE)) == edges


def test_the_model_that_it_shows_learns_what_it_is_told_to(tmp_path: Path) -> None:
    """As the contract of models has it: every layer's state, the first the input's own, and cells of their own."""
    [code] = [
        block for block in re.findall(r"```python\n(.*?)```", readme.text(), re.DOTALL) if "def build" in block
    ]
    shown: dict[str, Any] = {"__name__": "linear"}
    exec(compile(code, "README.md", "exec"), shown)
    [values] = [block for block in re.findall(r"```yaml\n(.*?)```", readme.text(), re.DOTALL) if "linear" in block]
    (tmp_path / "params.yaml").write_text(values)
    settings = shown["Settings"](**core_yaml.read(tmp_path / "params.yaml")["models"]["linear"])
    inputs = VideoInputs(4, "")
    net = shown["build"](settings, None, inputs, 3, [0, 1])
    noisy = torch.rand(2, 5, 6, shown["width"](settings, None, inputs))
    states = net.states(noisy)
    assert len(states) == 4 and all(torch.equal(net.readout(state), noisy) for state in states), (
        "zero at the start"
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(50):
        optimizer.zero_grad()
        net.readout(net.states(noisy)[-1])[0].square().mean().backward()
        optimizer.step()
    ours, other = (net.readout(net.states(noisy)[-1])[cell].square().mean() for cell in (0, 1))
    assert ours < 0.1 * other and torch.equal(other, noisy[1].square().mean()), "no cell has another's weights"
