"""The registry of a simulated fleet: every committed transaction is shown to a judge, every request may meet a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.registry.base import Committed
from shardsched.registry.memory import MemoryRegistry
from shardsched.registry.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future

    from shardsched.clock import Clock
    from shardsched.registry.base import Check, Node, Operation, Outcome

Commit = tuple[str, tuple["Operation", ...], dict[str, "Node | None"]]


class SimStore(MemoryStore):
    """A store that shows each committed transaction, with what stood at its paths before, to `on_commit`."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.on_commit: Callable[[str, tuple[Operation, ...], dict[str, Node | None]], None] | None = None

    def apply(self, session_id: str, operations: Sequence[Operation]) -> Outcome:
        """Do a transaction; what is committed is judged at once."""
        before = {operation.path: self.find(operation.path) for operation in operations}
        outcome = super().apply(session_id, operations)
        if isinstance(outcome, Committed) and self.on_commit is not None:
            self.on_commit(session_id, tuple(operations), before)
        return outcome

    def restart(self) -> None:
        """Count the time-outs of all sessions anew, as servers do that were down."""
        for session in self._sessions.values():
            session.heard_at = self.clock.boot()


class SimRegistry(MemoryRegistry):
    """One executor's client.

    Args:
        store: The store.
        timeout_s: The time-out T that the client is told.
        server_timeout_s: After how long the servers in fact give a session up: T less up to half a tick.
        tick_s: The tick that the client is told.
        boot: The true boot clock.
    """

    def __init__(
        self, store: SimStore, *, timeout_s: float, server_timeout_s: float, tick_s: float, boot: Callable[[], float]
    ) -> None:
        super().__init__(store, session_timeout_s=server_timeout_s, tick_s=tick_s, inline=True)
        self._told_timeout_s = timeout_s
        self._boot = boot
        self.proved_at: dict[str, float] = {}
        """By fence: when the last heartbeat that was answered had been sent."""

    @property
    def session_timeout_s(self) -> float:
        """The time-out that the client is told."""
        return self._told_timeout_s

    @property
    def has_news(self) -> bool:
        """Whether callbacks wait to be run."""
        return not self._callbacks._queue.empty()

    def pump_some(self, count: int) -> None:
        """Run so many of the callbacks that wait, so that what one watch tells is known before what another does."""
        while count > 0 and self.has_news:
            count -= 1
            self._callbacks._queue.get_nowait()()

    def renew(self, check: Check) -> Future[Outcome]:
        """Send a heartbeat, and take note of it once it is answered."""
        sent_at = self._boot()
        future = super().renew(check)
        if future.exception() is None and isinstance(future.result(), Committed):
            self.proved_at[check.path] = sent_at
        return future

    def changed(self, paths: Iterable[str]) -> None:
        """Report nodes one by one, so that a seed gives the same story in every process."""
        for path in sorted(paths):
            super().changed((path,))
