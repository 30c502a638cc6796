"""YAML by its core schema (1.2), as DVC reads params.yaml: 1e-3 is a number, `on` is a word."""

import re
from pathlib import Path
from typing import Any, ClassVar

import yaml

from descent.errors import UserError

INT = r"[-+]?(?:[0-9][0-9_]*|0o[0-7_]+|0x[0-9a-fA-F_]+|0b[01_]+)"
FLOAT = r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9_]+(?:[eE][-+][0-9]+)?|\.(?:inf|Inf|INF))"
SCALARS = (  # tag, pattern, the characters that it begins with; the first that fits
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", INT, "-+0123456789"),
    ("float", rf"{FLOAT}|\.(?:nan|NaN|NAN)", "-+0123456789."),
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("merge", r"<<", "<"),
)

LARGEST = 100_000  # values of a file, of which params.yaml holds some two thousand


class Core(yaml.SafeLoader):
    """PyYAML's safe loader with the scalars of YAML 1.2; dates are words, and no key stands in a section twice."""

    yaml_implicit_resolvers: ClassVar[dict] = {}

    def get_single_node(self) -> yaml.Node | None:
        """The file as nodes, none of which refers to itself, and no bomb of aliases of aliases."""
        node = super().get_single_node()
        if node is not None and _size(node, {}) > LARGEST:
            raise yaml.composer.ComposerError(None, None, f"its aliases stand for more than {LARGEST} values")
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """A section; PyYAML itself would keep the last of two values and say nothing, where DVC refuses them."""
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                told = f"the key {key.value} stands there twice"
                raise yaml.constructor.ConstructorError(None, None, told, key.start_mark)
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def _size(node: yaml.Node, known: dict[int, int | None]) -> int:
    """How many nodes there are below and with this one, where each alias is written out."""
    if id(node) not in known:
        known[id(node)] = None  # until it is counted
        children = [] if isinstance(node, yaml.ScalarNode) else node.value
        pairs = isinstance(node, yaml.MappingNode)
        known[id(node)] = 1 + sum(
            _size(child, known) for children in (children if pairs else [children]) for child in children
        )
    if known[id(node)] is None:
        raise yaml.composer.ComposerError(None, None, "an alias refers to itself", node.start_mark)
    return known[id(node)]


def _int(loader: Core, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node).replace("_", "")
    # What begins with a plain 0 is decimal in YAML 1.2, octal only after 0o.
    return int(text, 0) if text.lstrip("+-")[:2] in ("0o", "0x", "0b") else int(text)


def _float(loader: Core, node: yaml.ScalarNode) -> float:
    text = loader.construct_scalar(node).replace("_", "").lower()
    return float(text.replace(".", "") if text.endswith((".inf", ".nan")) else text)


for _tag, _pattern, _first in SCALARS:
    _characters = [*_first, ""] if _tag == "null" else list(_first)  # nothing at all is null too
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _characters)
Core.add_constructor("tag:yaml.org,2002:int", _int)
Core.add_constructor("tag:yaml.org,2002:float", _float)


def read(path: Path) -> Any:
    """The plain values of a YAML (or JSON) file.

    Raises:
        UserError: a missing or unreadable file.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for, a device has no end
        raise UserError(f"{path} is no file")
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Core)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; run from the project's root") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise UserError(f"{path} is not YAML for people: it is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or a number of thousands of digits
        raise UserError(f"{path} is not YAML: {error}") from None
