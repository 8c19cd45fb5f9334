"""The grid of runs as a page shows it: a cell each, made fast, since there are a thousand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from flask import current_app, url_for

from console.label import item_glyph, state_look
from console.locale import time_text
from console.text import gettext as _

if TYPE_CHECKING:
    from collections.abc import Iterable

    from console.job_grid import Grid
    from shardsched.history.row import RunRow

_PLACE = "run-id"
_SHOW = "execution.show"


class Cell(NamedTuple):
    """One run, or none."""

    code: str
    """How it ended; empty where there was no run."""
    glyph: str
    """Its letter."""
    title: str
    """What is told of it."""
    address: str
    """Where all of it is shown, empty where that is nowhere."""


class Line(NamedTuple):
    """One item."""

    item: int
    """Which."""
    cells: tuple[Cell, ...]
    """Its runs, by the grid's fires."""


_NO_RUN = Cell("", "", "", "")


def grid_lines(grid: Grid | None) -> list[Line]:
    """Return the lines of a grid."""
    if grid is None:
        return []
    address = _address()
    times = [time_text(column.fire) for column in grid.columns]
    texts: dict[str, str] = {}
    return [
        Line(item, tuple(_cell(run, time, address, texts) for run, time in zip(runs, times, strict=True)))
        for item, runs in grid.lines
    ]


def grid_marks(lines: Iterable[Line]) -> list[tuple[str, str, str]]:
    """Return what the letters in a grid mean, the most frequent first: a code, the letter, and the words of all."""
    counts = Counter(cell.code for line in lines for cell in line.cells if cell.code)
    codes: dict[str, list[str]] = {}
    for code, _count in counts.most_common():
        codes.setdefault(item_glyph(code), []).append(code)
    return [(same[0], glyph, " / ".join(str(state_look(code).text) for code in same)) for glyph, same in codes.items()]


def _cell(run: RunRow | None, time: str, address: str, texts: dict[str, str]) -> Cell:
    if run is None:
        return _NO_RUN
    code = run.outcome or "running"
    if code not in texts:
        texts[code] = str(state_look(code).text)
    parts = [time, texts[code], run.executor]
    if run.ended_at is not None and run.duration_s:
        parts.append(f"{run.duration_s:.3g} s")
    if run.attempt > 1:
        parts.append(_("attempt %(number)s", number=run.attempt))
    if run.message:
        parts.append(run.message[:120])
    return Cell(code, item_glyph(code), " · ".join(parts), address.replace(_PLACE, quote(run.run_id, safe="")))


def _address() -> str:
    if _SHOW not in current_app.view_functions:
        return ""
    argument = next(iter(next(current_app.url_map.iter_rules(_SHOW)).arguments))
    place: dict[str, Any] = {argument: _PLACE}
    return url_for(_SHOW, **place)
