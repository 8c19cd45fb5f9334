"""Cells of tables that spreadsheets open."""

from __future__ import annotations

_LEADS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a formula may begin with, in the widths of East Asian texts too."""


def cell_text(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula, whoever wrote it."""
    return f"'{text}" if text.startswith(_LEADS) else text
