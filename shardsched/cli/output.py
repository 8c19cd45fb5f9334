"""Tables and JSON on standard output."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import click

from shardsched.cli.error import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

json_option: Callable[..., Any] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def write_json(document: Any) -> None:
    """Print a value as JSON that any terminal and program takes."""
    is_utf8 = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(document, indent=2, ensure_ascii=not is_utf8))


def write_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns as wide as what they hold; wide letters count twice."""
    cells = [[printable(cell) for cell in row] for row in [headings, *rows]]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        line = "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _width(text: str) -> int:
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else 0 if unicodedata.combining(letter) else 1
        for letter in text
    )


def write_line(text: str) -> None:
    """Print one line, made safe for a terminal."""
    click.echo(printable(text))
