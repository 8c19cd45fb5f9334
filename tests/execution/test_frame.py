"""Messages over streams arrive whole, in order, or not at all."""

from __future__ import annotations

import socket
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.execution.frame import (
    MAX_FRAME_BYTES,
    Channel,
    FrameError,
    FrameReader,
    pack,
    receive_blocking,
    send_blocking,
)

messages = st.dictionaries(st.text(max_size=5), st.one_of(st.text(max_size=20), st.integers(), st.none()), max_size=4)


@given(st.lists(messages, max_size=6), st.lists(st.integers(1, 40), max_size=50))
def test_messages_cut_anywhere_arrive_as_sent(sent: list[dict[str, Any]], cuts: list[int]) -> None:
    """However the bytes are divided, the messages are the same."""
    data = b"".join(pack(message) for message in sent)
    reader, received = FrameReader(), []
    for cut in cuts:
        received += reader.feed(data[:cut])
        data = data[cut:]
    received += reader.feed(data)
    assert received == sent


@pytest.mark.parametrize("body", [b"not json", b"[1]", b'"text"', b"\xff", b"[" * 100_000])
def test_frame_that_is_no_object_is_refused(body: bytes) -> None:
    """Only JSON objects are messages."""
    with pytest.raises(FrameError):
        FrameReader().feed(struct.pack(">I", len(body)) + body)


def test_frame_that_announces_too_much_is_refused() -> None:
    """A length that no message of ours has is not waited for."""
    with pytest.raises(FrameError, match="are allowed"):
        FrameReader().feed(struct.pack(">I", MAX_FRAME_BYTES + 1))


def test_pack_refuses_what_json_cannot_hold() -> None:
    """A mistake is found where it is made."""
    with pytest.raises(TypeError):
        pack({"value": object()})
    with pytest.raises(ValueError, match="Out of range"):
        pack({"value": float("inf")})
    with pytest.raises(ValueError, match="too large"):
        pack({"value": "x" * MAX_FRAME_BYTES})


def channels() -> tuple[Channel, Channel]:
    """Return two ends of one stream."""
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)


def test_channel_never_blocks_on_a_reader_that_does_not_read() -> None:
    """What is not taken is kept, and arrives when the reader reads again."""
    ours, theirs = channels()
    count = 200
    for number in range(count):
        ours.send({"number": number, "filler": "x" * 10_000})
    was_unsent = ours.has_unsent
    received: list[int] = []
    while len(received) < count:
        received += [message["number"] for message in theirs.receive()]
        ours.flush()
    assert received == list(range(count))
    assert (was_unsent, ours.has_unsent) == (True, False)
    ours.close()
    theirs.close()


def test_channel_gives_what_came_before_the_end() -> None:
    """Messages sent just before the other side closed are not lost, and the end is told."""
    ours, theirs = channels()
    ours.send({"last": 1})
    ours.close()
    assert theirs.receive() == [{"last": 1}]
    assert not theirs.is_open
    assert theirs.receive() == []
    theirs.close()


def test_channel_to_nobody_drops_what_is_sent() -> None:
    """Sending to a side that is gone is no error: reading tells of it."""
    ours, theirs = channels()
    theirs.close()
    ours.send({"lost": "x" * 1_000_000})
    assert not ours.has_unsent
    assert ours.receive() == []
    assert not ours.is_open
    ours.send({"lost": 1})
    ours.close()


def test_blocking_ends_exchange_messages() -> None:
    """The simple form speaks the same language, and tells None at the end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send_blocking(ours, {"a": 1})
        assert receive_blocking(theirs) == {"a": 1}
        ours.close()
        assert receive_blocking(theirs) is None
