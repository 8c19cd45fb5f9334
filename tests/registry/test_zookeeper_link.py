"""How the connection sends and receives: together where it can, and right where what comes in is cut anywhere."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from shardsched.registry import zookeeper_link
from shardsched.registry.base import Committed, Create
from shardsched.registry.zookeeper_bell import Bell
from shardsched.registry.zookeeper_link import LinkHandler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.registry.zookeeper import ZooKeeperRegistry

    Make = Callable[..., ZooKeeperRegistry]


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two connected sockets."""
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_select_quiet_connection_returns_nothing_in_time(pair: tuple[socket.socket, socket.socket]) -> None:
    """Nothing is ready where nothing came, and the wait ends."""
    assert LinkHandler(1.0, None).select([pair[0]], [], [], 0.01) == ([], [], [])


def test_select_tells_who_can_be_read_and_written(pair: tuple[socket.socket, socket.socket]) -> None:
    """A connection and a bell are told apart."""
    handler, bell = LinkHandler(1.0, None), Bell()
    bell.send(b"\0")
    assert handler.select([pair[0], bell], [], [], 1.0)[0] == [bell]
    pair[1].send(b"x")
    assert handler.select([pair[0], bell], [], [], 1.0)[0] == [pair[0], bell]
    assert handler.select([], [pair[0]], [], 1.0)[1] == [pair[0]]
    bell.close()


def test_select_broken_connection_counts_as_readable(pair: tuple[socket.socket, socket.socket]) -> None:
    """Whoever reads is told that the other side hung up."""
    pair[1].close()
    assert LinkHandler(1.0, None).select([pair[0]], [], [], 1.0)[0] == [pair[0]]


def test_select_unread_input_comes_before_new_requests(pair: tuple[socket.socket, socket.socket]) -> None:
    """What was received is used up first, so that the requests that it leads to go out together."""
    handler, bell = LinkHandler(1.0, None), Bell()
    bell.send(b"\0")
    handler.has_unread = lambda: True
    assert handler.select([pair[0], bell], [], [], 1.0)[0] == [pair[0]]
    bell.close()


@pytest.mark.zookeeper
@pytest.mark.parametrize(("received", "together"), [(1, 1), (7, 100), (4096, 1 << 20)])
def test_registry_input_cut_anywhere_is_read_right(
    make_zk: Make, monkeypatch: pytest.MonkeyPatch, received: int, together: int
) -> None:
    """Answers arrive whole and in order, however many bytes are received or sent at once."""
    monkeypatch.setattr(zookeeper_link, "RECEIVE_BYTES", received)
    monkeypatch.setattr(zookeeper_link, "MAX_TOGETHER_BYTES", together)
    registry = make_zk()
    paths = [f"/n{number}" for number in range(300)]
    sent = [registry.submit([Create(path, path.encode() * (index % 5))]) for index, path in enumerate(paths)]
    assert all(isinstance(future.result(20), Committed) for future in sent)
    values = [node.value if node else None for node in registry.read(paths, fresh=True)]
    assert values == [path.encode() * (index % 5) for index, path in enumerate(paths)]
