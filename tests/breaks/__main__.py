"""A test of the tests: breaks the product on purpose, one way after the other, and tells which tests notice.

``python -m tests.breaks`` goes through all breaks; ``--only WORDS`` through those whose names hold the words. Each is
made in a copy of the tree. The simulation then runs the seeds of ``make test`` until three have failed, and the tests
that are named beside it run too. Ends with exit code 1 if a break goes unnoticed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.breaks.catalogue import BREAKS

if TYPE_CHECKING:
    from tests.breaks.catalogue import Break

ROOT = Path(__file__).resolve().parents[2]
ENOUGH = 3
"""So many seeds that fail tell how seldom it is."""
PATIENCE_S = 1800
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "dist", "build")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What noticed one break."""

    name: str
    """The break's."""
    seeds: str
    """What the simulation says, in words."""
    first: str
    """The first invariant that it saw broken."""
    tests: tuple[str, ...]
    """Tests that failed."""
    is_noticed: bool
    """Whether anything failed."""
    took_s: float
    """Seconds for the simulation and the tests."""

    def row(self) -> str:
        """Return it as a row of a table."""
        tests = ", ".join(f"`{test}`" for test in self.tests) or "none"
        return f"| {self.name} | {self.seeds} | {self.first} | {tests} | {self.took_s:.0f} |"


def find(mistake: Break, folder: Path) -> Finding:
    """Make a break in a copy of the tree, and see what fails."""
    text = mistake.broken_text(ROOT)
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=_LEFT_OUT)
    (tree / mistake.path).write_text(text)
    begun = time.monotonic()
    found: dict[str, Any] = _hunt(tree) if mistake.is_simulated else {"broken": []}
    tests = _failing(tree, mistake.tests)
    took_s = time.monotonic() - begun
    shutil.rmtree(tree)
    broken = found["broken"]
    seeds = f"{len(broken)} of {found['tried']}" if mistake.is_simulated else "no processes there"
    first = f"seed {broken[0][0]}: {_short(broken[0][1])}" if broken else ""
    return Finding(
        name=mistake.name,
        seeds=seeds,
        first=first,
        tests=tests,
        is_noticed=bool(broken or tests),
        took_s=took_s,
    )


def _hunt(tree: Path) -> dict[str, Any]:
    told = _python(tree, "-m", "tests.simulation.hunt", "--enough", str(ENOUGH))
    return dict(json.loads(told.splitlines()[-1]))


def _failing(tree: Path, tests: tuple[str, ...]) -> tuple[str, ...]:
    told = _python(tree, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=no", "--timeout=60", *tests)
    lines = [line.split()[1] for line in told.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return tuple(sorted({line.partition("[")[0].rpartition("/")[2] for line in lines}))


def _python(tree: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done.stdout


def _short(text: str) -> str:
    line = text.replace("|", "/").splitlines()[0].partition(": ")[2]
    return line if len(line) < 90 else f"{line[:87]}..."


def main() -> None:
    """Read the command line, break, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.breaks", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="breaks whose names hold these words")
    only = parser.parse_args().only
    some = [one for one in BREAKS if only in one.name]
    sys.stdout.write("| break | seeds that fail | the first | tests that fail | s |\n|---|---|---|---|---|\n")
    unnoticed = 0
    for mistake in some:
        with tempfile.TemporaryDirectory(prefix="shardsched-break-") as folder:
            finding = find(mistake, Path(folder))
        sys.stdout.write(f"{finding.row()}\n")
        sys.stdout.flush()
        unnoticed += not finding.is_noticed
    sys.exit(1 if unnoticed or not some else 0)


if __name__ == "__main__":
    main()
