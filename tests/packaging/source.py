"""The files of the project, as a reader of a clone sees them."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The project's folder."""

_NOT_OURS = {".venv", ".git", "node_modules", "dist", "build"}
"""Folders that hold no work of this project, where there is no Git to ask."""


def project_files(*suffixes: str) -> list[Path]:
    """Return the files that belong to the project, with one of the suffixes, sorted."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not _NOT_OURS & set(path.relative_to(ROOT).parts)]
    return sorted(path for path in paths if path.suffix in suffixes and path.is_file())
