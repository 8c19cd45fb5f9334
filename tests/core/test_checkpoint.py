"""The record of a checkpoint, and what may be in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.checkpoint import MAX_STATE_BYTES, Checkpoint, decode_checkpoint, encode_checkpoint, state_text
from shardsched.errors import CheckpointError, CorruptNodeError

PATH = "/n/checkpoints/j/0"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def texts() -> st.SearchStrategy[str]:
    """Texts that can be encoded."""
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def states() -> st.SearchStrategy[Any]:
    """JSON values."""
    plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts()
    return st.recursive(plain, lambda some: st.lists(some) | st.dictionaries(texts(), some), max_leaves=12)


def checkpoint(state: str | None) -> Checkpoint:
    """Return a record."""
    return Checkpoint(uid="u", token=3, run="r", number=2, fire=NOON, saved_at=NOON, state=state)


@given(states())
def test_state_comes_back_as_it_was(state: Any) -> None:
    """Any JSON value passes through the record unchanged; None clears."""
    stored = decode_checkpoint(PATH, encode_checkpoint(checkpoint(state_text("j", 0, state))))
    assert stored == checkpoint(state_text("j", 0, state))
    assert (stored.state is None) is (state is None)
    assert stored.state is None or json.loads(stored.state) == state


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode(errors="surrogatepass")))
def test_value_of_anybody_is_read_or_refused(value: bytes) -> None:
    """Whatever stands there gives a record or the error for it."""
    with pytest.raises(CorruptNodeError):
        decode_checkpoint(PATH, value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("state", "{"), ("state", ""), ("state", {"a": 1}), ("token", "3"), ("saved_at", "noon"), ("run", None)],
)
def test_field_that_is_none_of_ours_is_refused(field: str, value: object) -> None:
    """Each field has its type, and the state is JSON as text."""
    record = json.loads(encode_checkpoint(checkpoint("1"))) | {field: value}
    with pytest.raises(CorruptNodeError, match=field):
        decode_checkpoint(PATH, json.dumps(record).encode())


def test_size_is_that_of_the_json_in_utf8() -> None:
    """The largest passes, one byte more is refused with both numbers."""
    assert state_text("j", 0, "x" * (MAX_STATE_BYTES - 2)) is not None
    for state in ("x" * (MAX_STATE_BYTES - 1), "é" * (MAX_STATE_BYTES // 2)):
        with pytest.raises(CheckpointError, match=f"{MAX_STATE_BYTES} are allowed"):
            state_text("j", 0, state)


def test_state_without_end_is_refused() -> None:
    """A value within itself, or nested too deep, is not JSON."""
    loop: list[Any] = []
    loop.append(loop)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for state in (loop, deep):
        with pytest.raises(CheckpointError, match="not JSON"):
            state_text("j", 0, state)
