"""Nothing is refused for what it says, and nothing is kept that a database would refuse."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.history.log_tail import log_tail
from shardsched.history.text import (
    MAX_JSON,
    MAX_TAIL_BYTES,
    clean_count,
    clean_end,
    clean_json,
    clean_output,
    clean_seconds,
    clean_tail,
    clean_text,
)

if TYPE_CHECKING:
    from pathlib import Path

any_text = st.text(st.characters(codec=None, categories=None))
"""Lone surrogates, NUL and all."""


def is_storable(text: str) -> bool:
    """Whether every database takes it."""
    text.encode()
    return "\0" not in text


@given(any_text, st.integers(2, 50))
def test_text_is_storable_and_within_its_limit(text: str, limit: int) -> None:
    """Whatever it is."""
    for cleaned in (clean_text(text, limit), clean_end(text, limit)):
        assert is_storable(cleaned)
        assert len(cleaned) <= limit


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=50))
def test_text_that_fits_stays_as_it_is(text: str) -> None:
    """Nobody's words are changed without need."""
    assert clean_text(text, 50) == clean_end(text, 50) == clean_tail(text) == text


def test_text_that_is_cut_says_so_where_it_was_cut() -> None:
    """A message keeps its beginning, a traceback its end."""
    assert clean_text("abcdef", 4) == "abc…"
    assert clean_end("abcdef", 4) == "…def"
    assert clean_text("a\0b\ud800c") == "a�b�c"


def test_output_loses_what_steers_terminals() -> None:
    """Colours, titles, bells and returns go; tabs, lines and letters of any script stay."""
    assert (
        clean_output("\x1b[1;31mred\x1b[0m\ttab\r\n\x1b]0;title\x07书\x00\x08 end\xff".encode())
        == "red\ttab\n书 end\xff"
    )
    assert clean_output(b"half \xf0\x9f") == "half �"


@given(st.binary(max_size=400))
def test_output_is_storable(data: bytes) -> None:
    """Whatever a run wrote."""
    assert is_storable(clean_output(data))


def test_output_of_four_byte_characters_is_cut_between_them() -> None:
    """64 KiB are bytes, and no character is halved."""
    tail = clean_tail("x" + "😀" * MAX_TAIL_BYTES)
    assert len(tail.encode()) <= MAX_TAIL_BYTES
    assert set(tail) == {"😀"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(any_text, json_values, max_size=4))
def test_json_is_storable_and_read_again(value: dict[str, object]) -> None:
    """Numbers that are none, bytes and half characters included."""
    text = clean_json(value)
    assert is_storable(text)
    assert isinstance(json.loads(text), dict)
    json.loads(text, parse_constant=pytest.fail)


def test_json_keeps_what_is_plain_and_notes_what_is_too_large() -> None:
    """Statistics of a crawl come back as they were."""
    stats = {"pages": 12, "share": 0.5, "by_status": {"200": 11, "404": 1}, "urls": ["a"], "done": True, "none": None}
    assert json.loads(clean_json(stats)) == stats
    assert set(json.loads(clean_json({"x": "y" * MAX_JSON}))) == {"too_large"}
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"in": deep}
    assert len(clean_json(deep)) <= MAX_JSON


def test_numbers_fit_into_columns() -> None:
    """Neither 2**70 bytes nor endless seconds keep a row out."""
    assert clean_count(2**70) == 2**63 - 1
    assert clean_count(-(2**70)) == -(2**63) + 1
    assert [clean_seconds(value) for value in (float("nan"), float("inf"), -1.0, 1.5)] == [0.0, 0.0, 0.0, 1.5]


def test_log_tail_is_the_end_of_the_file_from_a_whole_line_on(tmp_path: Path) -> None:
    """What says why a run failed stands at the end."""
    path = tmp_path / "run.log"
    path.write_bytes(b"".join(b"line %05d\n" % number for number in range(20_000)))
    tail = log_tail(str(path))
    assert tail.endswith("line 19999\n")
    assert tail.startswith("line ")
    assert MAX_TAIL_BYTES - 4096 < len(tail) <= MAX_TAIL_BYTES
    path.write_bytes(b"short\n")
    assert log_tail(str(path)) == "short\n"


def test_log_tail_of_what_is_no_file_is_empty(tmp_path: Path) -> None:
    """A log that went, a folder, a pipe that nobody writes to and a device hold nobody up."""
    os.mkfifo(tmp_path / "pipe")
    paths = [str(tmp_path / "none"), str(tmp_path), str(tmp_path / "pipe"), "/dev/zero", "a\0b"]
    assert [log_tail(path) for path in paths] == [""] * 5
