"""A name for what the code computes: on what a cell's numbers depend beside parameters and data."""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2]
# What carries, reads, tells or draws, and cannot change a number; what schemas and cells say enters by value.
CARRIES = (
    "descent.analysis",
    "descent.cells",
    "descent.components",
    "descent.config",
    "descent.declared",
    "descent.kept",
    "descent.study",
    "descent.errors",
    "descent.figures",
    "descent.io",
    "descent.paths",
    "descent.published",
    "descent.report",
    "descent.runner",
    "descent.schema",
    "descent.training.schema",
    "descent.tasks.lm.schema",
    "descent.tasks.text.schema",
    "descent.tasks.video.schema",
    "descent.primal_dual.problem",
)
SCHEMAS = (
    "Schema",
    "OneOf",
    "Shift",
    "Shares",
    "Problem",
    "Pretrained",
    "VideoBudget",
    "TextBudget",
)  # what schemas derive from


@cache
def digest(modules: tuple[str, ...]) -> str:
    """A name for what these modules and all that they import compute.

    Imports by computed name (an arm, a model) cannot be seen: name those modules too, and those of CARRIES that
    compute after all. Comments, docstrings, layout, the words of an error, labels and schemas do not enter.
    """
    total = hashlib.sha256()
    for file in sorted(closure(modules)):
        total.update(f"{file.relative_to(SOURCE)}\n{_dump(file, file.stat().st_mtime_ns)}\n".encode())
    return total.hexdigest()[:32]


def closure(modules: Iterable[str]) -> set[Path]:
    """The files of the named modules and of everything of ours that they import, however deep, less CARRIES."""
    found: set[Path] = set()
    waiting = [file for file in map(_file, modules) if file]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting.extend(path for name in imported(file) if not _carries(name) and (path := _file(name)))
    return found


def imported(file: Path) -> tuple[str, ...]:
    """The names that a file imports, at its top or inside its functions; of `from a import b` both a and a.b."""
    return _imported(file, file.stat().st_mtime_ns)


@cache
def _imported(file: Path, changed: int) -> tuple[str, ...]:
    found: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
    return tuple(found)


@cache
def _dump(file: Path, changed: int) -> str:
    """What a file computes, as words."""
    return words(_computes(ast.parse(file.read_text())))


def words(node: object) -> str:
    """A syntax tree as words that are the same in every version of Python.

    What is empty is left out: a newer version gives nodes new fields (`type_params`), and ast.dump may show them.
    """
    if isinstance(node, ast.AST):
        fields = (f"{name}={words(value)}" for name, value in ast.iter_fields(node) if value not in (None, []))
        return f"{type(node).__name__}({', '.join(fields)})"
    return f"[{', '.join(map(words, node))}]" if isinstance(node, list) else repr(node)


def _carries(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in CARRIES)


def _file(module: str) -> Path | None:
    path = SOURCE.joinpath(*module.split(".")).with_suffix(".py")
    return path if path.is_file() else None


def _computes(tree: ast.Module) -> ast.Module:
    """The tree without what cannot change a number."""
    tree.body = [node for node in tree.body if not _tells(node)]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body[:1] = [] if len(body) > 1 else [ast.Pass()]
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
    return tree


def _tells(node: ast.stmt) -> bool:
    """Whether a statement at the top of a file is a label, or a schema, whose values enter by themselves."""
    if isinstance(node, ast.ClassDef):
        return any(isinstance(base, ast.Name) and base.id in SCHEMAS for base in node.bases)
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "LABEL"
