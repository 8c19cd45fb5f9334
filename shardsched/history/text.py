"""What may be stored: texts without what a database refuses, and no longer than they may be.

A run whose message cannot be stored must not be a run without a row, let alone one that is run again; so everything
is made to fit, and nothing is refused. This module decides; it does not act.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT = 2_000
"""Longest of the short texts, in characters."""
MAX_TRACEBACK = 32_000
"""Longest traceback, in characters; its end says what went wrong."""
MAX_TAIL_BYTES = 64 * 1024
"""Longest end of an output."""
MAX_JSON = 16_384
"""Longest of what a run says of itself, as JSON in characters."""
_MAX_DEPTH = 20
_MAX_INTEGER = 2**63 - 1

_SURROGATE = re.compile("[\ud800-\udfff]")
# Colours and cursor movements of terminals, then all other control characters but tab and new line.
_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def clean_text(text: str, limit: int = MAX_TEXT) -> str:
    """Return the text as every database takes it, cut at so many characters."""
    if len(text) > limit:
        text = f"{text[: limit - 1]}…"
    return _storable(text)


def clean_end(text: str, limit: int) -> str:
    """Return the end of a text as every database takes it, so many characters at most."""
    if len(text) > limit:
        text = f"…{text[-limit + 1 :]}"
    return _storable(text)


def clean_output(data: bytes, *, is_cut: bool = False) -> str:
    """Return the end of an output as text for people, without what steers terminals; 64 KiB at most.

    Args:
        data: The output, or its end.
        is_cut: Whether it begins somewhere within.
    """
    text = plain_output(data)
    tail = _last_bytes(text)
    # Not from the middle of a line, unless that is all there is.
    return tail[tail.find("\n") + 1 :] if is_cut or len(tail) < len(text) else tail


def plain_output(data: bytes) -> str:
    """Return output as text for people, without what steers terminals."""
    text = data.decode(errors="replace").replace("\r\n", "\n")
    return _CONTROL.sub("", _ESCAPE.sub("", text))


def clean_tail(text: str) -> str:
    """Return the end of a text as every database takes it, 64 KiB at most."""
    return _last_bytes(_storable(text))


def clean_json(value: Mapping[str, Any]) -> str:
    """Return a mapping as JSON that every database takes; one that is too large is replaced by a note."""
    if not value:
        return "{}"
    text = _storable(json.dumps(_plain(value, _MAX_DEPTH), ensure_ascii=False, separators=(",", ":")))
    return text if len(text) <= MAX_JSON else json.dumps({"too_large": len(text)})


def _storable(text: str) -> str:
    # PostgreSQL refuses NUL, and half a character cannot be encoded.
    if text.isascii():
        return text.replace("\0", "�")
    return _SURROGATE.sub("�", text.replace("\0", "�"))


def _last_bytes(text: str) -> str:
    if len(text) * 4 <= MAX_TAIL_BYTES:
        return text
    data = text.encode()
    return text if len(data) <= MAX_TAIL_BYTES else data[-MAX_TAIL_BYTES:].decode(errors="ignore")


def _plain(value: object, depth: int) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MAX_INTEGER else str(value)[:64]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth and isinstance(value, dict):
        return {str(_plain(key, 0)): _plain(each, depth - 1) for key, each in value.items()}
    if depth and isinstance(value, list | tuple | set | frozenset):
        return [_plain(each, depth - 1) for each in value]
    # Not its text, which may be endless or fail.
    return f"<{type(value).__name__}>"


def clean_count(value: int) -> int:
    """Return a whole number as every database takes it."""
    return max(-_MAX_INTEGER, min(int(value), _MAX_INTEGER))


def clean_seconds(value: float) -> float:
    """Return a duration as every database takes it; what is no number is 0."""
    return min(max(float(value), 0.0), 1e12) if math.isfinite(value) else 0.0
