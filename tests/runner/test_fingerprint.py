"""A cell's fingerprint follows what computes its numbers, and nothing else: proven by editing the source."""

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from descent import components
from descent.runner import fingerprint, scores
from descent.tasks.common.feeding import COMPUTES

SOURCE = fingerprint.SOURCE
CELLS = {  # a cell of every task: its arm, model and batches
    "dust": ("descent.arms.constrained", "descent.models.dust", "descent.tasks.video.batches"),
    "erm": ("descent.arms.unconstrained", "descent.models.dust", "descent.tasks.video.batches"),
    "vit": ("descent.arms.constrained", "descent.models.vit", "descent.tasks.video.batches"),
    "roberta": ("descent.arms.constrained", "descent.models.roberta", "descent.tasks.text.batches"),
    "ut_text": ("descent.arms.deep_supervision", "descent.models.ut_text", "descent.tasks.text.batches"),
    "causal_lm": ("descent.arms.constrained", "descent.models.causal_lm", "descent.tasks.lm.batches"),
}
ALL = set(CELLS)

CODE = """@d
class A:
    def f(self, x=None, *y: int) -> str:
        return f"{x!r} of {y}"
"""
WORDS = (
    "Module(body=[ClassDef(name='A', body=[FunctionDef(name='f', args=arguments(args=[arg(arg='self'), "
    "arg(arg='x')], vararg=arg(arg='y', annotation=Name(id='int', ctx=Load())), defaults=[Constant()]), "
    "body=[Return(value=JoinedStr(values=[FormattedValue(value=Name(id='x', ctx=Load()), conversion=114), "
    "Constant(value=' of '), FormattedValue(value=Name(id='y', ctx=Load()), conversion=-1)]))], "
    "returns=Name(id='str', ctx=Load()))], decorator_list=[Name(id='d', ctx=Load())])])"
)


def digests() -> dict[str, str]:
    fingerprint.digest.cache_clear()
    return {name: fingerprint.digest((COMPUTES, *modules)) for name, modules in CELLS.items()}


@pytest.fixture()
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the source to edit."""
    shutil.copytree(SOURCE / "descent", tmp_path / "descent", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "SOURCE", tmp_path)
    yield tmp_path / "descent"
    fingerprint.digest.cache_clear()


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def hit(source: Path, file: str, old: str, new: str) -> set[str]:
    """The cells whose fingerprint an edit changes; it stays."""
    before = digests()
    edit(source / file, old, new)
    after = digests()
    return {name for name in CELLS if before[name] != after[name]}


def test_no_edit_of_what_carries_reads_tells_or_draws_changes_a_cell(source: Path) -> None:
    before = digests()
    folders = ("runner", "io", "report", "figures", "analysis", "shifts")
    files = [file for folder in folders for file in (source / folder).rglob("*.py")]
    files += [source / f"{name}.py" for name in ("errors", "paths", "config", "components", "cells", "schema")]
    files += (source / "tasks").rglob("raw.py")
    files += [*(source / "tasks").rglob("evaluate.py"), *(source / "tasks").rglob("prepare.py")]
    files += [*(source / "tasks").rglob("datasets/*.py"), *(source / "tasks/common").glob("*.py")]
    for file in files:
        file.write_text(file.read_text() + "\nEDITED = 1\n")
    assert len(files) > 60 and digests() == before


def test_a_new_arm_model_shift_or_data_set_changes_no_cell(source: Path) -> None:
    before = digests()
    for place in components.PLACES:
        (source.joinpath(*place.split(".")) / "novel.py").write_text("LABEL = 'novel'\n")
    assert digests() == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("training/loop.py", '"""One pass of primal', '"""A pass of primal'),
        ("models/parts/layers.py", "a separable DCT needs square numbers", "this wants square numbers"),
        ("models/parts/pretrained.py", "cannot be loaded: it should be", "is not to be had: it should be"),
        ("tasks/video/data.py", "a sequence needs tokens", "one sequence wants tokens"),
        ("models/dust.py", 'LABEL = "DUST"', 'LABEL = "Dust"'),
        ("models/dust.py", "    threshold: NonNegative", "    threshold: Positive"),
        ("arms/constrained.py", "        gap = v - self", "        # a comment\n        gap = v - self"),
    ],
)
def test_a_docstring_an_error_message_a_label_a_schema_and_a_comment_change_no_cell(
    source: Path, file: str, old: str, new: str
) -> None:
    assert hit(source, file, old, new) == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("training/step.py", "math.cos(math.pi * rest)) / 2", "math.cos(math.pi * rest)) / 3", ALL),
        ("training/stack.py", "lr=first.lr", "lr=2 * first.lr", ALL),
        ("training/noise.py", "return clean + strength", "return clean - strength", ALL),
        ("arms/unconstrained.py", "return f[:, -1]", "return f[:, -2]", {"erm"}),
        ("arms/deep_supervision.py", "f @ self.weights", "f.square() @ self.weights", {"ut_text"}),
        ("primal_dual/multipliers.py", ".clamp(min=0)", ".clamp(min=0.1)", ALL - {"erm", "ut_text"}),
        ("models/dust.py", "self._shrunk(codes + per_cell", "self._shrunk(codes - per_cell", {"dust", "erm"}),
        ("models/vit.py", "(2 * small - 1)", "(2 * small - 2)", {"vit"}),
        ("models/parts/text.py", "torch.zeros(len(", "torch.ones(len(", {"roberta", "ut_text"}),
        ("tasks/video/losses.py", ".square().flatten(1)", ".abs().flatten(1)", {"dust", "erm", "vit"}),
        ("tasks/video/batches.py", ".float() / 255", ".float() / 256", {"dust", "erm", "vit"}),
        ("tasks/lm/losses.py", 'reduction="sum"', 'reduction="mean"', {"causal_lm"}),
    ],
)
def test_an_edit_of_the_loop_an_arm_a_model_its_batches_or_losses_changes_its_cells_and_no_other(
    source: Path, file: str, old: str, new: str, changed: set[str]
) -> None:
    assert hit(source, file, old, new) == changed


def test_the_closure_of_a_cell_is_small_and_computes() -> None:
    files = fingerprint.closure([COMPUTES, *CELLS["dust"]])
    folders = {file.relative_to(SOURCE / "descent").parts[0] for file in files}
    assert folders == {"arms", "models", "primal_dual", "tasks", "training"} and len(files) <= 20


def test_code_has_the_same_name_in_every_version_of_python() -> None:
    """As 3.11, 3.12 and 3.13 gave it; hosts of several versions share a store, and results move between them."""
    assert fingerprint.words(ast.parse(CODE)) == WORDS
    newer = ast.parse(CODE)
    newer.body[0]._fields = (*newer.body[0]._fields, "type_params_of_a_newer_one")
    newer.body[0].type_params_of_a_newer_one = []
    assert fingerprint.words(newer) == WORDS
    for one, other in (("return", "return None"), ("x = 0", "x = False"), ("x = 0", "x = ''"), ("f()", "f([])")):
        assert fingerprint.words(ast.parse(one)) != fingerprint.words(ast.parse(other))


def test_of_the_analysis_scores_use_only_what_their_digest_holds_and_the_table() -> None:
    files = fingerprint.closure(scores.COMPUTES)
    used = {name for file in files for name in fingerprint.imported(file) if name.startswith("descent.analysis.")}
    modules = {".".join(name.split(".")[:3]) for name in used}
    assert modules <= {*scores.COMPUTES, "descent.analysis.results"}
