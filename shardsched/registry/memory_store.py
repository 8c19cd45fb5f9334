"""The nodes and sessions of a registry in memory: what stands in for the servers."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import SessionLostError
from shardsched.registry.base import Node, Refused
from shardsched.registry.tree import ROOT, Draft, Stub, parent_path
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shardsched.clock import Clock
    from shardsched.registry.base import Operation, Outcome


class Client(Protocol):
    """A client as the store sees it; called under the store's lock."""

    def session_ended(self) -> None:
        """Learn that its session is over."""

    def changed(self, paths: Iterable[str]) -> None:
        """Learn that nodes were written."""


@dataclass(slots=True)
class _Session:
    client: Client
    secret: str
    timeout_s: float
    heard_at: float


class MemoryStore:
    """What stands in for the servers. **Thread:** any.

    Args:
        clock: The servers' clock; never that of an executor.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self.clock = clock
        self.lock = threading.RLock()
        self._nodes = {ROOT: Node(ROOT, b"", 0, 0, None, clock.now())}
        self._children: dict[str, set[str]] = {ROOT: set()}
        self._sessions: dict[str, _Session] = {}
        self._clients: list[Client] = []
        self._created_id = 0
        self._session_count = 0

    def expire_sessions(self) -> int:
        """End every session not heard of for its time-out; return how many. Connected owners are told at once."""
        with self.lock:
            now = self.clock.boot()
            old = [name for name, session in self._sessions.items() if now - session.heard_at > session.timeout_s]
            for name in old:
                self.end(name)
            return len(old)

    def end(self, session_id: str) -> None:
        """End a session, if it lives, as if it had expired: its ephemeral nodes go."""
        with self.lock:
            session = self._sessions.pop(session_id, None)
            if session is not None:
                gone = [path for path, node in self._nodes.items() if node.owner == session_id]
                self._write(dict.fromkeys(gone), session_id)
                session.client.session_ended()

    def snapshot(self) -> dict[str, Node]:
        """Return all nodes by path, as at one moment."""
        with self.lock:
            return dict(self._nodes)

    # For the clients

    def begin(self, client: Client, timeout_s: float) -> str:
        """Begin a session; return its name."""
        with self.lock:
            self._session_count += 1
            name = f"memory-{self._session_count}"
            self._sessions[name] = _Session(client, secrets.token_hex(8), timeout_s, self.clock.boot())
            if client not in self._clients:
                self._clients.append(client)
            return name

    def leave(self, client: Client) -> None:
        """Forget a client that closes."""
        with self.lock:
            if client in self._clients:
                self._clients.remove(client)

    def has(self, session_id: str) -> bool:
        """Say whether a session lives."""
        return session_id in self._sessions

    def hear(self, session_id: str) -> None:
        """Take note that a session's client was heard of.

        Raises:
            SessionLostError: It has ended.
        """
        session = self._sessions.get(session_id)
        if session is None:
            raise SessionLostError(Sentence("the session has ended and nothing was written; begin anew"))
        session.heard_at = self.clock.boot()

    def ticket(self, session_id: str) -> str:
        """Return what `end_by_ticket` takes, also when the session has ended."""
        session = self._sessions.get(session_id)
        return f"{session_id}:{session.secret if session else ''}"

    def end_by_ticket(self, ticket: str) -> None:
        """End the session of a ticket, if there is one."""
        with self.lock:
            name, _, secret = ticket.partition(":")
            session = self._sessions.get(name)
            if session is not None and secrets.compare_digest(session.secret.encode(), secret.encode()):
                self.end(name)

    def find(self, path: str) -> Node | None:
        """Return the node at a path."""
        return self._nodes.get(path)

    def names(self, path: str) -> tuple[str, ...] | None:
        """Return the sorted names of a path's children, None if it does not exist."""
        names = self._children.get(path)
        return None if names is None else tuple(sorted(names))

    def around(self, prefix: str) -> dict[str, Node]:
        """Return a node and its children."""
        above = prefix.rstrip("/")
        paths = [prefix, *(f"{above}/{name}" for name in self._children.get(prefix, ()))]
        return {path: self._nodes[path] for path in paths if path in self._nodes}

    def apply(self, session_id: str, operations: Sequence[Operation]) -> Outcome:
        """Do a transaction under a session.

        Raises:
            SessionLostError: The session has ended.
        """
        with self.lock:
            self.hear(session_id)
            draft = Draft(self._stub, lambda path: len(self._children.get(path, ())))
            outcome = draft.apply(operations)
            if not isinstance(outcome, Refused):
                self._write(draft.touched, session_id)
            return outcome

    def _stub(self, path: str) -> Stub | None:
        node = self._nodes.get(path)
        return None if node is None else Stub(node.version, node.owner is not None)

    def _write(self, touched: dict[str, Stub | None], session_id: str) -> None:
        if not touched:
            return
        self._created_id += 1
        for path, stub in touched.items():
            if stub is None or stub.is_new:
                self._remove(path)
            if stub is not None:
                self._put(path, stub, session_id)
        for client in self._clients:
            client.changed(touched)

    def _remove(self, path: str) -> None:
        if self._nodes.pop(path, None) is not None:
            self._children.pop(path, None)
            self._children.get(parent_path(path), set()).discard(path.rpartition("/")[2])

    def _put(self, path: str, stub: Stub, session_id: str) -> None:
        old = self._nodes.get(path)
        if old is None:
            owner = session_id if stub.is_ephemeral else None
            value = stub.value or b""
            self._nodes[path] = Node(path, value, stub.version, self._created_id, owner, self.clock.now())
            self._children[path] = set()
            self._children[parent_path(path)].add(path.rpartition("/")[2])
        else:
            value = old.value if stub.value is None else stub.value
            self._nodes[path] = Node(path, value, stub.version, old.created_id, old.owner, old.created_at)
