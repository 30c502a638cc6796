"""`make bench` runs what says so of itself, and the README names what is a command of its own."""

import ast
import re

from tests.fakes.core import ROOT
from tests.newcomer import readme

MODULES = [file for file in (ROOT / "tests/bench").glob("*.py") if not file.name.startswith(("test_", "__"))]
SAID = {file.stem: ast.get_docstring(ast.parse(file.read_text())) for file in MODULES}


def test_make_bench_runs_every_module_that_is_a_part_of_it_and_quotes_the_table_last() -> None:
    (recipe,) = re.findall(r"^bench:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    (run,) = re.findall(r"for part in ([\w ]+);", recipe)
    parts = {name for name, said in SAID.items() if said.startswith("make bench:")}
    assert "cluster" in parts and sorted(run.split()) == sorted(parts)
    assert run.startswith("rate "), "what is asked of a GPU comes first, since its time is lent"
    assert recipe.rstrip().endswith("python -m tests.bench.table")


def test_the_readme_or_a_page_of_it_names_every_command_of_its_own() -> None:
    commands = {name for name, said in SAID.items() if said.startswith(f"python -m tests.bench.{name}:")}
    told = " ".join(readme.text().split())
    assert "archive" in commands
    assert all(f"PYTHONPATH=src python -m tests.bench.{name}`" in told for name in commands)
