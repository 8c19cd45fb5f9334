"""A picture of a campaign as SVG: the runs of each executor over time, with the faults marked (pure)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.strike import Strike
    from tests.fleet.fleet_record import RecordedRun

_LEFT = 70
_TOP = 64
_LABEL_ROWS = 3
_LANE = 9
_PIXELS_PER_S = 12.0
_MAX_WIDTH = 24_000
_COLOURS = ("#3b7dd8", "#2a9d5c", "#8a63d2", "#c98a1b", "#16989c", "#b0567d", "#6b7280", "#7a9a01")
_STYLE = "text{font:11px sans-serif}.f{fill:#d33;fill-opacity:.13}.h{stroke:#d33;stroke-dasharray:3 2}.x{stroke:#000}"


def timeline(runs: Sequence[RecordedRun], strikes: Sequence[Strike], title: str = "") -> str:
    """Return the picture: a band for each executor, a bar for each run, a shade for each fault.

    A run that came to its end is a full bar; one that did not has a dark edge. The shade of a fault covers the bands of
    its victims from when it was in force until it was healed.
    """
    if not runs:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'
    begun, ended = min(run.start for run in runs), max(run.last for run in runs)
    scale = min(_PIXELS_PER_S, _MAX_WIDTH / max(ended - begun, 1.0))
    jobs = sorted({run.job for run in runs})
    parts: list[str] = []
    bands: dict[str, tuple[float, float]] = {}
    top = float(_TOP)
    for name in sorted({run.executor for run in runs}):
        bars, height = _band([run for run in runs if run.executor == name], jobs, begun, scale, top)
        parts += [f'<text x="4" y="{top + 12:.0f}">{escape(name)}</text>', *bars]
        bands[name] = (top, height)
        top += height + 14
    width = _LEFT + (ended - begun) * scale + 40
    shades = [shade for row, strike in enumerate(strikes) for shade in _shades(strike, bands, begun, ended, scale, row)]
    legend = [
        f'<text x="{_LEFT + 110 * index}" y="14" fill="{_colour(index)}">&#9632; {escape(job)}</text>'
        for index, job in enumerate(jobs)
    ]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top + 24:.0f}">',
            f"<style>{_STYLE}</style><title>{escape(title)}</title>",
            *shades,
            *parts,
            *legend,
            *_axis(begun, ended, scale, top),
            "</svg>",
        )
    )


def _colour(index: int) -> str:
    return _COLOURS[index % len(_COLOURS)]


def _band(
    runs: Sequence[RecordedRun], jobs: Sequence[str], begun: float, scale: float, top: float
) -> tuple[list[str], float]:
    """Return the bars of one executor's runs, each in the first lane that is free, and the band's height."""
    free_at: list[float] = []
    bars = []
    for run in runs:
        x, end = _LEFT + (run.start - begun) * scale, _LEFT + (run.last - begun) * scale
        end = max(end, x + 2)
        lane = next((index for index, at in enumerate(free_at) if at <= x), len(free_at))
        if lane == len(free_at):
            free_at.append(0.0)
        free_at[lane] = end + 1
        edge = "" if run.end is not None else ' class="x"'
        label = f"{run.job}/{run.item} {run.fire:%H:%M:%S} {run.cause} {run.attempt} {run.outcome or 'unfinished'}"
        bars.append(
            f'<rect x="{x:.1f}" y="{top + lane * _LANE:.0f}" width="{end - x:.1f}" height="{_LANE - 2}" '
            f'fill="{_colour(jobs.index(run.job))}"{edge}><title>{escape(label)}</title></rect>'
        )
    return bars, max(len(free_at), 2) * _LANE


def _shades(
    strike: Strike, bands: dict[str, tuple[float, float]], begun: float, ended: float, scale: float, row: int
) -> list[str]:
    until = min(strike.healed_at, ended) if math.isfinite(strike.healed_at) else ended
    x, width = _LEFT + (strike.begun_at - begun) * scale, max((until - strike.begun_at) * scale, 2.0)
    known = [bands[name] for name in strike.victims if name in bands]
    shades = [
        f'<rect class="f" x="{x:.1f}" y="{top - 4:.0f}" width="{width:.1f}" height="{height + 8:.0f}"/>'
        for top, height in known
    ]
    # Two that follow soon upon each other must not be written over each other.
    label_y = 28 + 11 * (row % _LABEL_ROWS)
    foot = max((top + height for top, height in bands.values()), default=0.0)
    return [
        *shades,
        f'<line class="h" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 12}" y2="{foot:.0f}"/>',
        f'<text x="{x + 2:.1f}" y="{label_y}" fill="#d33">{escape(strike.fault)}</text>',
    ]


def _axis(begun: float, ended: float, scale: float, top: float) -> list[str]:
    return [
        f'<text x="{_LEFT + second * scale:.0f}" y="{top + 12:.0f}">{second} s</text>'
        for second in range(0, int(ended - begun) + 1, 10)
    ]
