"""A registry that counts what is asked of another, so that an executor's share of the load can be watched."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from shardsched.registry.base import Registry
from shardsched.registry.url import open_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future
    from datetime import datetime

    from shardsched.clock import Clock
    from shardsched.registry.base import Changes, Check, Node, Operation, Outcome, SessionState, Subscription


class CountedRegistry(Registry):
    """Passes everything on, and counts requests by kind. It promises what the one behind it does.

    Args:
        registry: The one behind it.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def counts(self) -> Mapping[str, int]:
        """Return how many requests of each kind were made."""
        with self._lock:
            return dict(self._counts)

    def _counted(self, kind: str) -> Registry:
        with self._lock:
            self._counts[kind] += 1
        return self._registry

    def open(self, timeout_s: float = 15.0) -> None:
        """Pass it on."""
        self._registry.open(timeout_s)

    def close(self) -> None:
        """Pass it on."""
        self._registry.close()

    @property
    def session_id(self) -> str:
        """Pass it on."""
        return self._registry.session_id

    @property
    def session_timeout_s(self) -> float:
        """Pass it on."""
        return self._registry.session_timeout_s

    @property
    def tick_s(self) -> float:
        """Pass it on."""
        return self._registry.tick_s

    @property
    def session_ticket(self) -> str:
        """Pass it on."""
        return self._registry.session_ticket

    def end_session(self, ticket: str) -> None:
        """Pass it on."""
        self._registry.end_session(ticket)

    def on_session(self, callback: Callable[[SessionState], None]) -> Subscription:
        """Pass it on."""
        return self._registry.on_session(callback)

    def renew(self, check: Check) -> Future[Outcome]:
        """Count a heartbeat."""
        return self._counted("heartbeat").renew(check)

    def reset_connection(self) -> None:
        """Pass it on."""
        self._registry.reset_connection()

    def give_up_session(self) -> None:
        """Pass it on."""
        self._registry.give_up_session()

    def submit(self, operations: Sequence[Operation]) -> Future[Outcome]:
        """Count a transaction."""
        return self._counted("transaction").submit(operations)

    def read(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[Node | None, ...]:
        """Count a read, however many nodes it is of."""
        return self._counted("read").read(paths, fresh=fresh)

    def read_children(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[tuple[str, ...] | None, ...]:
        """Count a listing, however many nodes it is of."""
        return self._counted("list").read_children(paths, fresh=fresh)

    def watch(self, prefix: str, callback: Callable[[Changes], None]) -> Subscription:
        """Count a watch."""
        return self._counted("watch").watch(prefix, callback)

    def server_time(self) -> datetime:
        """Count a question for the time."""
        return self._counted("time").server_time()


def open_counted(url: str, *, session_timeout_s: float, clock: Clock) -> CountedRegistry:
    """Return the registry at a URL, as `open_registry` does, with its requests counted.

    Raises:
        SettingsError: The URL cannot be read.
    """
    return CountedRegistry(open_registry(url, session_timeout_s=session_timeout_s, clock=clock))
