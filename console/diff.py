"""What changed between two JSON values, for people."""

from __future__ import annotations

import difflib
import json
from typing import Any

CONTEXT = 3
"""Lines that are shown around a change although they are alike."""
GAP = "…"
"""Marks lines that are left out."""


def diff_lines(before: Any, after: Any) -> list[tuple[str, str]]:
    """Return the lines that changed, and a few around them.

    Args:
        before: The old value, None if there was none.
        after: The new one, likewise.

    Returns:
        The mark of each line (``-``, ``+``, a blank, or `GAP` where lines that are alike are left out) and the line.
    """
    old, new = _lines(before), _lines(after)
    found: list[tuple[str, str]] = []
    end = 0
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        if group[0][1] > end:
            found.append((GAP, ""))
        for _tag, old_from, old_to, new_from, new_to in group:
            if _tag == "equal":
                found += [(" ", line) for line in old[old_from:old_to]]
            else:
                found += [("-", line) for line in old[old_from:old_to]]
                found += [("+", line) for line in new[new_from:new_to]]
            end = old_to
    if found and end < len(old):
        found.append((GAP, ""))
    return found


def value_text(value: Any) -> str:
    """Return one value as people read it: letters of all languages as they are, whole numbers without a fraction."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _lines(value: Any) -> list[str]:
    return [] if value is None else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True).splitlines()
