"""The text of a job file, and what its JSON or YAML stands for, read as hostile.

Neither reader makes anything but texts, numbers, truth values, None, lists and mappings with texts as keys.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from shardsched.errors import JobFileError
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FILE_BYTES = 4 * 1024 * 1024
"""Largest job file."""
MAX_DEPTH = 32
"""How deep values may be nested; a job needs four."""


class Block(dict[str, Any]):
    """A mapping that knows the lines of its keys, counted from 1; none where its form does not tell."""

    def __init__(self, pairs: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__(pairs)
        self.lines: dict[str, int] = {}

    def place(self, key: str) -> str:
        """Return where a key stands, empty where that is not known."""
        return Sentence("line %(line)s", line=self.lines[key]) if key in self.lines else ""


def decode_file(data: bytes) -> str:
    """Return the text of a file.

    Raises:
        JobFileError: It is too large, not UTF-8, or holds NUL.
    """
    if len(data) > MAX_FILE_BYTES:
        raise JobFileError(Sentence("it has more than %(most)s MiB; split it", most=MAX_FILE_BYTES // 1024 // 1024))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise JobFileError(Sentence("it is not UTF-8; save it in that encoding"), line=line) from None
    if "\0" in text:
        raise JobFileError(
            Sentence("it holds a NUL character; it is not a text"), line=text[: text.index("\0")].count("\n") + 1
        )
    return text.replace("\r\n", "\n")


def load_json(text: str) -> Any:
    """Return what a JSON text stands for.

    Raises:
        JobFileError: It is not JSON, names a key twice, is nested too deep, or holds half a character.
    """
    try:
        value = json.loads(text, object_pairs_hook=_block, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise JobFileError(Sentence("it is not JSON: %(error)s", error=Foreign(error.msg)), line=error.lineno) from None
    except RecursionError:
        raise JobFileError(Sentence("it is nested deeper than %(most)s levels", most=MAX_DEPTH)) from None
    except JobFileError:
        raise
    except ValueError:
        raise JobFileError(Sentence("it holds a number with thousands of digits")) from None
    check_value(value)
    return value


def _block(pairs: list[tuple[str, Any]]) -> Block:
    block = Block(pairs)
    if len(block) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JobFileError(Sentence("key %(key)r is given twice in one object; give it once", key=key[:64]))
            seen.add(key)
    return block


def _refuse_constant(text: str) -> Any:
    raise JobFileError(Sentence("it holds %(text)s, which is no number that can be stored", text=text))


def check_value(value: Any) -> None:
    """Refuse what is nested too deep or holds a text that cannot be stored.

    Raises:
        JobFileError: With what it is.
    """
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for one in level:
            if isinstance(one, str):
                _check_text(one)
            elif isinstance(one, float) and not math.isfinite(one):
                raise JobFileError(Sentence("it holds a number too large to be stored"))
            elif isinstance(one, dict):
                below.extend(one.keys())
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one)
        if not below:
            return
        level = below
    raise JobFileError(Sentence("it is nested deeper than %(most)s levels", most=MAX_DEPTH))


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise JobFileError(
            Sentence("%(text)a holds half a character (a lone surrogate); remove it", text=text[:64])
        ) from None


def as_text(value: Any) -> str:
    """Return a scalar as the text that it was written as, empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
