"""The catalogue is the folder: figNN_*.py and tableN_*.py, fig_*.py and table_*.py where the paper has none.

All are found by name, and each is described by its sidecar.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from descent.config import Params
from descent.errors import UserError
from descent.figures.parts.style import VIDEO, synthetic


def module(name: str, kind: str) -> ModuleType:
    """The module of one figure (kind "figure") or table (kind "table").

    Raises:
        UserError: no such name; the message lists those there are.
    """
    pattern = {"figure": "fig[0-9_]*.py", "table": "table[0-9_]*.py"}[kind]
    known = sorted(path.stem for path in Path(__file__).parent.glob(pattern))
    if name not in known:
        raise UserError(f"there is no {kind} {name!r}; known: {', '.join(known)}")
    return import_module(f"descent.figures.{name}")


def sidecar(entry: ModuleType, kind: str, params: Params) -> dict[str, Any]:
    """What the report page shows beside a figure or table: words, parameters with their values, profile."""
    name = entry.__name__.rsplit(".", 1)[-1]
    return {
        "name": name,
        "kind": kind,
        "title": entry.TITLE,
        "caption": " ".join(entry.CAPTION.split()),
        "parameters": {
            key: value(params, key) for key in (p.replace("${profile}", params.profile) for p in entry.PARAMETERS)
        },
        "profile": params.profile,
        "synthetic": synthetic(params, getattr(entry, "TASKS", VIDEO)),
        "made_by": {
            "stage": getattr(entry, "STAGE", f"{kind}@{name}"),
            "module": f"src/descent/figures/{name}.py",
        },
    }


def value(params: Params, dotted: str) -> Any:
    """A parameter by its dotted name in params.yaml, as plain data."""
    found: Any = params
    for word in dotted.split("."):
        found = found[word] if isinstance(found, dict) else getattr(found, word)
    return found.model_dump() if isinstance(found, BaseModel) else found
