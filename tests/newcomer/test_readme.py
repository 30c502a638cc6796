"""What the README says can be typed: keys, targets, stages and sections are there."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo

from descent.io import core_yaml
from tests.newcomer import readme

SOUGHT = ("What it costs", "My own data", "My own model, arm, shift, figure", "Use a trained model", "What failed")


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


def test_a_newcomer_finds_the_sections_and_every_link_within_leads_somewhere() -> None:
    assert set(SOUGHT) <= set(readme.headings())
    assert set(readme.links()) <= set(map(readme.anchor, readme.headings()))


@pytest.mark.filterwarnings("ignore:_NoneStep:DeprecationWarning")  # of a library of DVC's
def test_the_picture_of_the_dag_is_that_of_dvc_yaml() -> None:
    graph = Repo(str(readme.ROOT)).index.graph
    edges = {tuple(stage.name.partition("@")[0] for stage in (before, after)) for after, before in graph.edges}
    assert set(re.findall(r"^    (\w+) --> (\w+)$", readme.text(), re.MULTILINE)) == edges
