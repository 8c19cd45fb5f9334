"""Reads, many of them under way at once, waited for together."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NoNodeError
from kazoo.protocol.serialization import GetChildren, GetData, Sync

from shardsched.errors import RegistryUnavailableError
from shardsched.registry.base import Node
from shardsched.registry.zookeeper_error import fail
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.registry.zookeeper_client import Client

MAX_IN_FLIGHT = 256
"""Reads sent before the first is answered: enough to fill the link, few enough that other requests get a turn."""


def node(path: str, value: bytes | None, stat: Any) -> Node:
    """Return a node as it was read."""
    owner = stat.ephemeralOwner
    return Node(
        path=path,
        value=value or b"",
        version=stat.version,
        created_id=stat.czxid,
        owner=session_name(owner) if owner else None,
        created_at=moment(stat.ctime),
    )


def moment(milliseconds: int) -> datetime:
    """Return a time of the servers'."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def session_name(session_id: int) -> str:
    """Return a session's identity as ZooKeeper's own logs write it."""
    return f"{session_id & 0xFFFF_FFFF_FFFF_FFFF:#x}"


class Gathering:
    """Requests sent in a pipeline, and their answers.

    A missing node is answered by None; the first other failure ends it.
    """

    def __init__(self, client: Client, requests: Sequence[Any]) -> None:
        self._client = client
        self._requests = requests
        self._results: list[Any] = [None] * len(requests)
        self._error: Exception | None = None
        self._lock = threading.Lock()
        self._sent_count = 0
        self._answered_count = 0
        self._finished = threading.Event()

    def results(self, timeout_s: float, what: str) -> list[Any]:
        """Send all and return the answers.

        Raises:
            RegistryError: What the failure is to us; RegistryUnavailableError also when it takes too long.
        """
        if not self._requests:
            return []
        for _ in range(MAX_IN_FLIGHT):
            self._send_next()
        if not self._finished.wait(timeout_s):
            self._fail(
                RegistryUnavailableError(
                    Sentence(
                        "ZooKeeper did not answer %(what)s within %(seconds)g s; try again",
                        what=what,
                        seconds=timeout_s,
                    )
                )
            )
        if self._error is not None:
            fail(self._error, what)
        return self._results

    def _send_next(self) -> None:
        with self._lock:
            index = self._sent_count
            if index >= len(self._requests) or self._error is not None:
                return
            self._sent_count += 1
        self._client.call(self._requests[index], lambda result, error: self._take(index, result, error))

    def _take(self, index: int, result: Any, error: Exception | None) -> None:
        if error is not None and not isinstance(error, NoNodeError):
            self._fail(error)
            return
        self._results[index] = result
        with self._lock:
            self._answered_count += 1
            complete = self._answered_count == len(self._requests)
        if complete:
            self._finished.set()
        else:
            self._send_next()

    def _fail(self, error: Exception) -> None:
        with self._lock:
            self._error = self._error or error
        self._finished.set()


def read_nodes(
    client: Client, paths: Sequence[tuple[str, str]], *, fresh: bool, timeout_s: float
) -> tuple[Node | None, ...]:
    """Return the nodes at pairs of (our path, the servers' path)."""
    requests = [GetData(full, None) for _, full in paths]
    answers = _answers(client, requests, fresh, timeout_s, _what(Sentence("the read"), paths))
    return tuple(node(path, *answer) if answer else None for (path, _), answer in zip(paths, answers, strict=True))


def read_names(
    client: Client, paths: Sequence[tuple[str, str]], *, fresh: bool, timeout_s: float
) -> tuple[tuple[str, ...] | None, ...]:
    """Return the names of the children at pairs of (our path, the servers' path)."""
    requests = [GetChildren(full, None) for _, full in paths]
    answers = _answers(client, requests, fresh, timeout_s, _what(Sentence("the listing"), paths))
    return tuple(None if answer is None else tuple(sorted(answer)) for answer in answers)


def _answers(client: Client, requests: list[Any], fresh: bool, timeout_s: float, what: str) -> list[Any]:
    # A server answers one client in order, so the reads need not wait for the answer to the sync.
    if not (fresh and requests):
        return Gathering(client, requests).results(timeout_s, what)
    return Gathering(client, [Sync(requests[0].path), *requests]).results(timeout_s, what)[1:]


def _what(verb: str, paths: Sequence[tuple[str, str]]) -> str:
    if not paths:
        return Sentence("%(verb)s of nothing", verb=verb)
    values = {"verb": verb, "path": paths[0][0], "count": len(paths) - 1}
    if len(paths) > 1:
        return Sentence("%(verb)s of %(path)s and %(count)s more", **values)
    return Sentence("%(verb)s of %(path)s", **values)
