"""The terminal: lines that stay, and a few below them that are drawn anew."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.clock import Clock

LOG_INTERVAL_S = 2.0
"""How often the state is told where it cannot be drawn."""
_WIDTH = 80


class Screen:
    """Draws on a terminal, and writes plain lines where there is none.

    **Thread:** one.
    """

    def __init__(self, clock: Clock, *, has_colour: bool, is_live: bool | None = None) -> None:
        is_terminal = sys.stdout.isatty() and shutil.get_terminal_size().columns >= _WIDTH
        self._is_live = is_terminal if is_live is None else is_live
        self._colour = has_colour and self._is_live
        self._clock = clock
        self._drawn_count = 0
        self._told_at = float("-inf")
        self._told = ""

    @property
    def has_colour(self) -> bool:
        """Whether styles are seen."""
        return self._colour

    def say(self, line: str) -> None:
        """Write a line that stays."""
        self._erase()
        click.echo(line, color=self._colour)

    def draw(self, lines: Sequence[str], summary: str) -> None:
        """Draw the lines over those drawn before; without a terminal tell the summary now and then."""
        if self._is_live:
            self._erase()
            click.echo("\n".join(lines), color=self._colour)
            self._drawn_count = len(lines)
            return
        now = self._clock.boot()
        if summary != self._told and now - self._told_at >= LOG_INTERVAL_S:
            self._told, self._told_at = summary, now
            click.echo(summary, color=False)

    def _erase(self) -> None:
        if self._drawn_count:
            click.echo(f"\x1b[{self._drawn_count}A\x1b[J", nl=False, color=True)
            self._drawn_count = 0
