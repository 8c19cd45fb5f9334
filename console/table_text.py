"""Cells of tables that spreadsheets open."""

from __future__ import annotations


def cell_text(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula, whoever wrote it."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
