"""One file per kind of bad input, with its table in CASES; a further kind is a further file."""

import pkgutil
from importlib import import_module

from tests.faults.case import Case


def every() -> list[Case]:
    """The cases of all files of this folder."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return [case for name in names for case in import_module(f"{__name__}.{name}").CASES]
