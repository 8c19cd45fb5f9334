"""One node and its direct children, mirrored by ZooKeeper's one-shot watches.

Every connection begins a new generation: a sync (so that a lagging server cannot take the mirror back in time), then
the node, the names of its children and every child are read, each leaving a watch, many reads under way at once. An
event only says which path to read again; what is reported is what was read. For each path at most one read is under
way, and an event that comes meanwhile has it read once more. So reports of a path never go back in time, and after the
last change of a path a read of it follows.

A read of a missing node leaves no watch, therefore the node itself is asked for by `Exists` when it is missing; the
watch for the names of the children tells when a child comes (back).
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NoAuthError, NoNodeError
from kazoo.protocol.serialization import Exists, GetChildren, GetData, Sync
from kazoo.protocol.states import EventType

from shardsched.core.events import Event
from shardsched.errors import RegistryUnavailableError, SessionLostError
from shardsched.registry.tree import parent_path
from shardsched.registry.zookeeper_error import translate
from shardsched.registry.zookeeper_link import ANY_WATCHES, DATA_WATCHES
from shardsched.registry.zookeeper_path import child
from shardsched.registry.zookeeper_read import MAX_IN_FLIGHT, node
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from shardsched.registry.base import Node
    from shardsched.registry.report import Report
    from shardsched.registry.zookeeper_client import Client
    from shardsched.registry.zookeeper_path import Chroot

logger = logging.getLogger(__name__)

MAX_ANSWERS_UNTOLD = 64
"""Changes are told when no read is under way, so that a burst becomes few reports; after so many answers anyway."""

_NAMES = ""
"""Stands among the paths to be read for the names of the children."""


class Watch:
    """The mirror of a node and its children, and who is told of it.

    **Thread:** answers come on the connection's thread, events on kazoo's; nothing here blocks.
    """

    def __init__(self, prefix: str, chroot: Chroot) -> None:
        self.prefix = prefix
        self._full = chroot.full(prefix)
        self._chroot = chroot
        self._lock = threading.RLock()
        self._reports: list[Report] = []
        self._client: Client | None = None
        self._generation = 0
        self._nodes: dict[str, Node] = {}
        self._unread: set[str] = set()
        self._queue: deque[str] = deque()
        self._queued: set[str] = set()
        self._flying: set[str] = set()
        self._again: set[str] = set()
        self._changes: dict[str, Node | None] = {}
        self._answer_count = 0

    def add(self, report: Report) -> None:
        """Tell one more subscriber."""
        with self._lock:
            self._reports.append(report)
            if self._is_loaded():
                report.replace(self._nodes)

    def remove(self, report: Report) -> bool:
        """Tell a subscriber no more; say whether nobody is left."""
        with self._lock:
            if report in self._reports:
                self._reports.remove(report)
            return not self._reports

    def begin(self, client: Client) -> None:
        """Read everything anew over a new connection."""
        with self._lock:
            self._forget()
            self._client = client
            self._nodes = {}
            self._unread = {self.prefix, _NAMES}
            client.call(Sync(self._full), lambda *_: None)
            self._read(self.prefix)
            self._read(_NAMES)

    def suspend(self) -> None:
        """Stop reading until the next connection."""
        with self._lock:
            self._forget()

    def end(self) -> dict[str, int]:
        """Stop for good, take the watches off the servers, and return their paths and kinds."""
        with self._lock:
            client = self._client
            kinds = dict.fromkeys((*self._nodes, *self._flying), DATA_WATCHES)
            kinds.pop(_NAMES, None)
            kinds[self.prefix] = ANY_WATCHES
            self._forget()
        if client is None:
            return {}
        for path, kind in kinds.items():
            client.unwatch(self._chroot.full(path), kind, self._on_event)
        return kinds

    def rearm(self, path: str) -> None:
        """Read a path again, since another's end took our watch off it."""
        with self._lock:
            if path == self.prefix:
                self._read(_NAMES)
            if path == self.prefix or parent_path(path) == self.prefix:
                self._read(path)

    def _forget(self) -> None:
        self._tell()
        self._generation += 1
        self._client = None
        for keys in (self._queue, self._queued, self._flying, self._again):
            keys.clear()

    def _is_loaded(self) -> bool:
        return self._client is not None and not self._unread

    # Reading

    def _read(self, key: str) -> None:
        if self._client is None:
            return
        if key in self._flying:
            self._again.add(key)
        elif key not in self._queued:
            self._queued.add(key)
            self._queue.append(key)
        self._send()

    def _send(self) -> None:
        while self._queue and len(self._flying) < MAX_IN_FLIGHT and self._client is not None:
            key = self._queue.popleft()
            self._queued.discard(key)
            self._flying.add(key)
            if key == _NAMES:
                self._ask(GetChildren(self._full, self._on_event), key)
            else:
                self._ask(GetData(self._chroot.full(key), self._on_event), key)

    def _ask(self, request: Any, key: str) -> None:
        generation = self._generation
        if self._client is not None:
            self._client.call(request, lambda result, error: self._take(generation, key, request, result, error))

    def _take(self, generation: int, key: str, request: Any, result: Any, error: Exception | None) -> None:
        with self._lock:
            if generation != self._generation:
                return
            if error is not None and not isinstance(error, NoNodeError):
                self._fail(key, error)
            elif key == _NAMES:
                self._take_names(() if error else result)
            elif isinstance(request, Exists):
                self._take_existence(result)
            elif error is None:
                self._record(key, node(key, *result))
                self._finish(key)
            elif key == self.prefix:
                self._ask(Exists(self._full, self._on_event), key)
            else:
                self._record(key, None)
                self._finish(key)

    def _take_existence(self, stat: Any) -> None:
        if stat is None:
            self._record(self.prefix, None)
        else:
            # It came between the two questions, and no event will tell.
            self._again.add(self.prefix)
            self._read(_NAMES)
        self._finish(self.prefix)

    def _take_names(self, names: Any) -> None:
        present = {child(self.prefix, name) for name in names}
        known = self._nodes.keys() - {self.prefix}
        busy = self._flying | self._queued
        for path in known - present - busy:
            self._record(path, None)
        for path in present - known:
            if _NAMES in self._unread:
                self._unread.add(path)
            self._read(path)
        self._finish(_NAMES)

    def _finish(self, key: str) -> None:
        if key in self._unread:
            self._unread.discard(key)
            if not self._unread:
                self._changes.clear()
                for report in self._reports:
                    report.replace(self._nodes)
        self._go_on(key)

    def _go_on(self, key: str) -> None:
        """Take up what waited for an answer, and tell what there is to be told."""
        self._flying.discard(key)
        if key in self._again:
            self._again.discard(key)
            self._read(key)
        self._send()
        self._answer_count += 1
        if not self._flying or self._answer_count >= MAX_ANSWERS_UNTOLD:
            self._tell()

    def _tell(self) -> None:
        self._answer_count = 0
        if self._is_loaded() and self._changes:
            for report in self._reports:
                report.add(self._changes)
        self._changes.clear()

    def _record(self, path: str, new: Node | None) -> None:
        if new == self._nodes.get(path):
            return
        if new is None:
            del self._nodes[path]
        else:
            self._nodes[path] = new
        self._changes[path] = new

    def _fail(self, key: str, error: Exception) -> None:
        if isinstance(error, NoAuthError):
            # What cannot be read is not reported as missing: a complete report waits until it can be.
            logger.error(
                "a node cannot be read with our credentials: %s",
                key or self.prefix,
                extra={"event": Event.REGISTRY_EXPOSED},
            )
            self._go_on(key)
            return
        client = self._client
        self._forget()
        ours = translate(error, Sentence("the watch of %(path)s", path=self.prefix))
        if client is not None and not isinstance(ours, RegistryUnavailableError | SessionLostError):
            logger.error("a watch failed: %s", ours, extra={"event": Event.REGISTRY_STUCK})
            client.reset()

    # Events

    def _on_event(self, event: Any) -> None:
        if event.type == EventType.NONE:  # the connection is gone; the next one reads everything
            return
        path = self._chroot.own(event.path)
        with self._lock:
            if event.type == EventType.CHILD:
                self._read(_NAMES)
                return
            self._read(path)
            if path == self.prefix and event.type in {EventType.CREATED, EventType.DELETED}:
                self._read(_NAMES)
