"""Files that browsers get: addresses that change with their content, and drawings of icons."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from flask import url_for
from markupsafe import Markup

STATIC = Path(__file__).with_name("static")
_ICONS = STATIC / "vendor" / "icons"


@cache
def _version(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]


def asset(name: str) -> str:
    """Return the address of a file below ``static``; browsers keep it for good, as it changes with the file."""
    return url_for("static", filename=name, v=_version(name))


@cache
def icon(name: str, size: int = 20) -> Markup:
    """Return the drawing of one of Tabler's icons, hidden from screen readers: a text stands beside it, or a label.

    Raises:
        FileNotFoundError: It is not among the vendored ones; add it to ``console/tools/vendor.py``.
    """
    drawing = (_ICONS / f"{name}.svg").read_text()
    paths = drawing[drawing.index(">", drawing.index("<svg")) + 1 : drawing.rindex("</svg>")]
    lines = "".join(line.strip() for line in paths.splitlines() if 'stroke="none"' not in line)
    return Markup(  # noqa: S704 - a file of ours
        f'<svg class="icon" width="{size}" height="{size}" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
        f'stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{lines}</svg>'
    )
