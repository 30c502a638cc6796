"""params.yaml is read as DVC reads it: by YAML 1.2, whatever writes it."""

from io import StringIO
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from ruamel.yaml import YAML, YAMLError

from descent.components import TASKS
from descent.errors import UserError
from descent.io.core_yaml import read
from tests.fakes.core import PARAMS, ROOT

SCALARS = (
    *("1e-3", "1e-05", "1E5", "1.e5", "1e+3", "-1e-3", "-0.1e-05", "12e03", "+1", "-1", "0", "00", "0.0", "-0"),
    *("on", "off", "yes", "no", "y", "n", "On", "true", "True", "TRUE", "false", "tRUE", "constrained"),
    *("012", "-012", "0o12", "0O12", "0o9", "0x1f", "0X1F", "0xg", "0b101", "1_000", "1_000.5"),
    *(".5", "-.5", "5.", ".5e3", ".5e-3", ".", "+", "1.2.3", "1.0.0", "0.13", "e5", "1e", "1:30", "1:30:20"),
    *("~", "null", "Null", "NULL", "nil", "''", ".inf", "-.inf", "+.INF", ".nan", ".NaN"),
    *("'on'", '"1e-3"', "'null'", "[]", "{}"),
)


def by_dvc(path: Path) -> object:
    """As dvc.utils.serialize.load_yaml."""
    return YAML(typ="safe").load(path.read_text())


def same(path: Path) -> bool:
    """Values and types; repr tells 1 from 1.0 and from True, and NaN is like NaN."""
    return repr(read(path)) == repr(by_dvc(path))


def written(folder: Path, text: str) -> Path:
    path = folder / "params.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("scalar", SCALARS)
def test_a_scalar_is_what_dvc_takes_it_for(tmp_path: Path, scalar: str) -> None:
    assert same(written(tmp_path, f"a: {scalar}\nb:\n- {scalar}\n- 7\n"))


def test_words_that_yaml_1_1_takes_for_something_else_are_words_and_numbers_are_numbers(tmp_path: Path) -> None:
    text = "a: [1e-3, 1e-05, on, off, yes, 012, 0o12, 0x1f, .5, 1:30, ~]"
    expected = [0.001, 1e-05, "on", "off", "yes", 12, 10, 31, 0.5, "1:30", None]
    found = read(written(tmp_path, text))["a"]
    assert found == expected and list(map(type, found)) == list(map(type, expected))


def test_a_date_is_a_word(tmp_path: Path) -> None:
    assert read(written(tmp_path, "a: 2020-01-01")) == {"a": "2020-01-01"}, "DVC takes it for a date: no one does"


@pytest.mark.parametrize("path", [PARAMS, ROOT / "params.yaml", ROOT / "dvc.yaml"])
def test_the_projects_own_files_are_read_alike(path: Path) -> None:
    assert same(path)


def test_anchors_merges_and_empty_values_are_read_alike(tmp_path: Path) -> None:
    assert same(written(tmp_path, "a: &x {b: 1, c: 2e-3}\nd:\n  <<: *x\n  b: 7\ne:\nf: *x\n"))


EMPTIABLE = (
    *("studies", "study.alpha.beside"),
    *(f"{task}.{part}" for task in TASKS for part in ("datasets", "models")),
    *(f"profiles.demo.{task}.eps" for task in TASKS),
)


def rewritten(path: Path, values: dict[str, object]) -> None:
    """As `dvc exp run -S` writes the file: ruamel's round trip, comments kept."""
    editor = YAML()
    editor.default_flow_style = False
    content = editor.load(path.read_text())
    for place, value in values.items():
        *parents, last = place.split(".")
        node = content
        for parent in parents:
            node = node[parent]
        node[last] = value
    text = StringIO()
    editor.dump(content, text)
    path.write_text(text.getvalue())


@pytest.mark.parametrize(
    "values",
    [
        {"profiles.demo.video.models.dust.lr": 1e-5, "eps": 0.2},
        {"profiles.demo.video.models.dust.lr": 1e-05, "profiles.demo.video.models.ut.lr": 1e22},
        {"arms": ["constrained", "unconstrained"], "profiles.demo.video.eps": [0.0, 1e-7, 5]},
        {"study.alpha.overrides": {"alpha": 3e-4, "resilience": "none"}, "device": "on", "local_data": "1e-3"},
        {"study.infeasible.layers": None, "models.ut.residual": True, "objectives.constrained.rho": float("inf")},
        *({key: []} for key in EMPTIABLE),
        {key: [] for key in EMPTIABLE},
    ],
)
def test_what_dvc_has_written_is_read_alike(tmp_path: Path, values: dict) -> None:
    path = written(tmp_path, PARAMS.read_text())
    rewritten(path, values)
    assert same(path)
    for place, value in values.items():
        node = read(path)
        for part in place.split("."):
            node = node[part]
        assert node == value and type(node) is type(value), place


@pytest.mark.parametrize(
    "text", ["a: [", "a: 1\na: 2", "b: {c: 1, c: 1}", "a: \t- b", "a: *unknown", "{a: 1}\n---\nb: 2"]
)
def test_what_is_not_yaml_ends_in_one_message_as_it_does_in_dvc(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError, match="is not YAML"):
        read(path)
    with pytest.raises(YAMLError):
        by_dvc(path)


def test_a_missing_file_and_one_that_is_no_text_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is missing; run from the project's root"):
        read(tmp_path / "params.yaml")
    (tmp_path / "params.yaml").write_bytes(b"a: \xff")
    with pytest.raises(UserError, match="is not YAML"):
        read(tmp_path / "params.yaml")


def test_a_parameter_set_by_dvc_changes_one_line_of_params_yaml(tmp_path: Path) -> None:
    """`dvc exp run -S` writes the whole file anew: it must be as its writer has it already."""
    before = (Path(__file__).parents[2] / "params.yaml").read_text()
    copy = tmp_path / "params.yaml"
    copy.write_text(before)
    apply_overrides(copy, ["eps=0.11"])
    lines = [before.splitlines(), copy.read_text().splitlines()]
    assert len(lines[0]) == len(lines[1]), "it drops an empty line here and there"
    changed = [(a, b) for a, b in zip(*lines, strict=True) if a != b]
    assert len(changed) == 1 and changed[0][1].startswith("eps: 0.11")
