"""A page of small line charts as SVG text: one number grows along all of them, on a logarithmic axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMNS = 3
_WIDTH, _HEIGHT = 300, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 30, 30
_HEAD = 40
_LOG_SPAN = 50
"""Values that span more than this factor are drawn on a logarithmic axis too."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: its title, and its points in order."""

    title: str
    points: Sequence[tuple[float, float]]


def draw(title: str, panels: Sequence[Panel], along: str) -> str:
    """Return a page of charts.

    Args:
        title: What stands above all of them.
        panels: The charts, drawn row by row.
        along: What grows from left to right.
    """
    rows = math.ceil(len(panels) / _COLUMNS)
    width, height = _COLUMNS * _WIDTH, _HEAD + rows * _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(width / 2, 24, title, anchor="middle", size=15),
    ]
    for number, panel in enumerate(panels):
        x, y = number % _COLUMNS * _WIDTH, _HEAD + number // _COLUMNS * _HEIGHT
        parts += [f'<g transform="translate({x},{y})">', *_panel(panel, along), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def number_text(value: float) -> str:
    """Return a number as a short label."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{letter}"
    return f"{value:.3g}"


def ticks(high: float) -> list[float]:
    """Return round numbers from 0 up to the first that is not below `high`."""
    if high <= 0:
        return [0.0, 1.0]
    step = 10.0 ** math.floor(math.log10(high))
    step = next(step * factor for factor in (0.2, 0.5, 1, 2) if high / (step * factor) <= 5)
    return [step * count for count in range(math.ceil(high / step - 1e-9) + 1)]


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 11) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


class _Axis:
    """Where values lie on a line from `start` to `end`."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, logarithmic: bool) -> None:
        self._start, self._end = start, end
        self._logarithmic = logarithmic
        if logarithmic:
            low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
            self._low, self._high = float(low), float(max(high, low + 1))
            self.ticks = [10.0**power for power in range(low, int(self._high) + 1)]
        else:
            self.ticks = ticks(max(values))
            self._low, self._high = 0.0, self.ticks[-1]

    def place(self, value: float) -> float:
        """Return a value's coordinate."""
        value = math.log10(value) if self._logarithmic else value
        return self._start + (value - self._low) / (self._high - self._low) * (self._end - self._start)


def _panel(panel: Panel, along: str) -> list[str]:
    points = [point for point in panel.points if not math.isnan(point[1])]
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = [_text((_LEFT + right) / 2, _TOP - 10, panel.title, anchor="middle", size=12)]
    if not points:
        return [*parts, _text(_LEFT, bottom, "no value")]
    values = [value for _, value in points]
    across = _Axis([key for key, _ in points], _LEFT + 8, right - 8, logarithmic=True)
    wide = min(values) > 0 and max(values) / min(values) > _LOG_SPAN
    up = _Axis([max(value, 0.0) for value in values], bottom, _TOP, logarithmic=wide)
    for tick in up.ticks:
        y = up.place(tick)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 5, y + 4, number_text(tick), anchor="end"))
    parts += [_text(across.place(key), bottom + 14, number_text(key), anchor="middle") for key, _ in points]
    parts.append(_text((_LEFT + right) / 2, bottom + 27, along, anchor="middle"))
    line = " ".join(f"{across.place(key):.1f},{up.place(max(value, 0.0)):.1f}" for key, value in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1f6fb2" stroke-width="1.8"/>')
    for key, value in points:
        x, y = across.place(key), up.place(max(value, 0.0))
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.8" fill="#1f6fb2"><title>{value:g}</title></circle>')
    return parts
