"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.source import ROOT, project_files

CODE = project_files(".py")
MAX_LINES = 300

_DENIED = {
    # Each is put together here, so that this file does not hold what it looks for.
    "who wrote it": r"\bA" r"I\b|\bL" r"LMs?\b|\bchat" r"gpt|\bcl" r"aude\b|\bcop" r"ilot\b|language" r" model",
    "a folder of one machine": r"/wo" r"rk/(main|shared)|/tmp/br" r"ief",
    "a paper that is not in the project": r"\b(des" r"ign|runn" r"ing|scena" r"rios|kaz" r"oo|st" r"yle)\.md\b",
    "a to-do without an issue": r"\bTO" r"DO\b(?!.*#\d)|\bFIX" r"ME\b|\bXX" r"X\b",
}


def name(path: Path) -> str:
    """A file's name in test reports."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("what", _DENIED)
def test_text_speaks_of_the_project_only(what: str) -> None:
    """Code and documents are about what they do, not about how they came to be."""
    denied = re.compile(_DENIED[what], re.IGNORECASE if what == "who wrote it" else 0)
    found = [
        f"{name(path)}:{number}: {line.strip()[:80]}"
        for path in project_files(".py", ".md", ".toml", ".js", ".css", ".html", ".yml", ".sh")
        if "vendor" not in path.parts  # what others wrote
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if denied.search(line)
    ]
    assert found == []


def test_modules_have_at_most_300_lines() -> None:
    """A module that grows beyond holds more than one noun."""
    shipped = [path for path in CODE if name(path).startswith(("shardsched/", "console/", "examples/"))]
    counts = {name(path): len(path.read_text().splitlines()) for path in shipped}
    assert {module: count for module, count in counts.items() if count > MAX_LINES} == {}


def test_tests_say_in_one_line_what_must_hold() -> None:
    """Every test has a docstring of one line."""
    silent = []
    for path in (path for path in CODE if path.name.startswith("test_")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                text = ast.get_docstring(node)
                if text is None or "\n" in text:
                    silent.append(f"{name(path)}:{node.lineno} {node.name}")
    assert silent == []


def test_import_contracts_are_kept() -> None:
    """Each module imports only from the floors beneath it, and each library is known to one place."""
    lint = Path(sys.executable).with_name("lint-imports")
    answer = subprocess.run([str(lint), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout
