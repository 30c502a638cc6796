"""Which of our own source files a module needs: for exact DVC dependencies and for fingerprints."""

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path

SOURCE = Path("src")
# The schema of params.yaml: what it says enters by value, so its code cannot change a result.
SCHEMAS = (
    "descent.config",
    "descent.schema",
    "descent.tasks.lm.schema",
    "descent.tasks.text.schema",
    "descent.tasks.video.schema",
)


def find(module: str) -> Path | None:
    """The file of one of our modules, relative to the project's root, or None if it is not ours."""
    parts = module.split(".")
    root = SOURCE if parts[0] == "descent" else Path()
    file = root.joinpath(*parts).with_suffix(".py")
    if file.is_file():
        return file
    package = root.joinpath(*parts, "__init__.py")
    return package if parts[0] in ("descent", "stages") and package.is_file() else None


def closure(modules: Iterable[str]) -> set[Path]:
    """The files of the named modules and of everything of ours that they import, however deep.

    Imports by computed name (a model, a figure) cannot be seen; name those modules too.
    """
    found: set[Path] = set()
    waiting = [file for file in map(find, modules) if file]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            package = file.with_name("__init__.py")
            waiting.extend([package] if package.exists() else [])
            waiting.extend(path for name in _imported(file) if (path := find(name)))
    return found


def entries() -> list[str]:
    """The modules that stages name: their own, those of models and those of figures and tables."""
    files = [*Path("stages").glob("*.py"), *(SOURCE / "descent/models").glob("*.py")]
    for pattern in ("fig[0-9_]*.py", "table[0-9_]*.py"):
        files += (SOURCE / "descent/figures").glob(pattern)
    roots = [(file.relative_to(SOURCE) if file.is_relative_to(SOURCE) else file) for file in files]
    return sorted(".".join(root.with_suffix("").parts) for root in roots if root.stem != "__init__")


def file_digest(module: str) -> str:
    """A name for the files of a module and of all that it imports, byte by byte: the same under every Python."""
    total = hashlib.sha256()
    for file in sorted(closure([module])):
        total.update(f"{file}\n".encode() + file.read_bytes())
    return total.hexdigest()


def digest(modules: Iterable[str]) -> str:
    """A name for what the code computes: comments, docstrings, layout and SCHEMAS do not enter.

    Args:
        modules: where the computation begins.
    """
    out = {find(module) for module in SCHEMAS}
    total = hashlib.sha256()
    for file in sorted(closure(modules) - out):
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
                value = body[0].value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    body[:1] = [] if len(body) > 1 else [ast.Pass()]
        total.update(f"{file}\n{ast.dump(tree)}\n".encode())
    return total.hexdigest()[:32]


def _imported(file: Path) -> Iterable[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
