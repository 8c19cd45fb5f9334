"""What a run counted, made small and plain: nothing an item puts into it can harm whoever stores or shows it.

The item cleans what its handler left, and the warden cleans it again, since an item may say anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

MAX_BYTES = 16 * 1024
"""Most that the numbers and texts of one run may take as JSON."""
_MAX_KEY_CHARS = 200
_MAX_TEXT_CHARS = 2_000
_INTEGER_BITS = 63
"""More no database takes."""

Plain = str | int | float | bool | None


def clean_stats(stats: object) -> dict[str, Plain]:
    """Return numbers and texts by name, 16 KiB of JSON at most; what has no room any more is left out.

    Values of other types become texts, and what cannot is left out.
    """
    cleaned: dict[str, Plain] = {}
    size = 2
    for key, value in stats.items() if isinstance(stats, Mapping) else ():
        try:
            name, plain = _text(key, _MAX_KEY_CHARS), _plain(value)
        except Exception:  # noqa: BLE001, S112 - a value's own code writes it out; a bad one must not fail its run
            continue
        size += len(json.dumps({name: plain})) + 2
        if size > MAX_BYTES:
            break
        cleaned[name] = plain
    return cleaned


def _plain(value: object) -> Plain:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _INTEGER_BITS else float(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    return _text(value, _MAX_TEXT_CHARS)


def _text(value: object, max_chars: int) -> str:
    # Built in two steps, since a subclass of str may write itself out as it likes.
    text = str.__str__(value) if isinstance(value, str) else str(value)
    return text[:max_chars].encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
