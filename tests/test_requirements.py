"""Every library that is imported, be it only where it is installed, has its version in a file that names it."""

import ast
import re
import sys
from importlib.metadata import packages_distributions

from tests.fakes.core import ROOT
from tests.newcomer import readme

JUDGE = "alpaca-eval"  # of the frozen stage, whose message says what to install
PINNED = re.compile(r"^([\w.-]+)==[\d.]+", re.MULTILINE)


def libraries() -> set[str]:
    """The packages of what src and stages import; of one that is not installed, by the name of its module."""
    modules: set[str] = set()
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "stages").glob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                modules |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                modules.add(node.module.partition(".")[0])
    known = packages_distributions()
    others = modules - {*sys.stdlib_module_names, "descent", "stages"}
    return {plain(name) for module in others for name in known.get(module, [module])}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_library_has_its_version() -> None:
    files = [*ROOT.glob("requirements*.txt"), ROOT / "constraints.txt"]
    pinned = {plain(name) for file in files for name in PINNED.findall(file.read_text())}
    found = libraries()
    assert {"torch", "ray", "liger-kernel"} <= found
    assert found - pinned == {JUDGE}


def test_the_readme_and_the_audit_name_every_file_of_extras() -> None:
    audit = (ROOT / "Makefile").read_text()
    for file in ROOT.glob("requirements-*.txt"):
        assert f"--requirement {file.name}" in audit
        assert file.name == "requirements-dev.txt" or f"pip install -r {file.name}" in readme.text()
