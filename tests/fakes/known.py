"""Parameters that know every component: what those of the tests do not name is as params.yaml has it."""

from pathlib import Path
from typing import Any

from descent.config import Params
from descent.io import core_yaml
from descent.schema import validated

TESTS = Path(__file__).parents[1] / "params.yaml"
PROJECT = TESTS.parents[1] / "params.yaml"
SECTIONS = (  # where components have sections of their own
    "shifts",
    "models",
    "objectives",
    "objectives.constrained.models",
    "profiles.demo.video.models",
    "profiles.demo.text.models",
    "profiles.demo.lm.models",
)


def params() -> Params:
    """A new component then needs a word in params.yaml, and none among the tests."""
    own, real = core_yaml.read(TESTS), core_yaml.read(PROJECT)
    for section in SECTIONS:
        known = at(own, section)
        known.update({name: told for name, told in at(real, section).items() if name not in known})
    return validated(Params, own, str(TESTS))


def at(values: dict[str, Any], section: str) -> dict[str, Any]:
    """A section by the path of its key."""
    for key in section.split("."):
        values = values[key]
    return values
