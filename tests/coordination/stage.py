"""A namespace in memory under a clock that stands still, and clients of it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from shardsched.coordination.book import Book
from shardsched.coordination.call_desk import CallDesk
from shardsched.coordination.election import Election
from shardsched.coordination.ledger import Ledger
from shardsched.coordination.membership import Membership
from shardsched.coordination.mirror import Mirror
from shardsched.coordination.namespace import ensure_namespace
from shardsched.coordination.session import Lease
from shardsched.core.assignment import Assignment, Layout, encode_assignment
from shardsched.core.executor import ExecutorRecord
from shardsched.core.fire import Cursor, decode_cursor
from shardsched.core.job import JobConfig
from shardsched.core.job_record import encode_job
from shardsched.core.paths import Paths
from shardsched.errors import RegistryUnavailableError
from shardsched.registry.base import Committed, Create, Put
from shardsched.testing import FakeClock, MemoryRegistry, MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Operation

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TIMEOUT_S = 10.0
TICK_S = 2.0


@dataclass
class Client:
    """One client and what an executor makes of it."""

    name: str
    registry: MemoryRegistry
    lease: Lease
    mirror: Mirror
    book: Book
    ledger: Ledger
    desk: CallDesk
    election: Election
    membership: Membership
    turns: list[str] = field(default_factory=list)
    vanished: list[tuple[str, int]] = field(default_factory=list)

    def entry(self, job: str = "j") -> JobEntry:
        """Return a job as the mirror has it after all reports."""
        self.registry.pump()
        entry = self.mirror.entry(job)
        assert entry is not None
        return entry


class Stage:
    """All of it."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOON)
        self.store = MemoryStore(self.clock)
        self.paths = Paths("f")
        self.people = self.registry()
        ensure_namespace(self.people, self.paths)

    def registry(self) -> MemoryRegistry:
        """Return an open client."""
        registry = MemoryRegistry(self.store, session_timeout_s=TIMEOUT_S, tick_s=TICK_S, inline=True)
        registry.open()
        return registry

    def client(
        self,
        name: str = "e1",
        *,
        home: Path | None = None,
        is_joined: bool = True,
        registry: MemoryRegistry | None = None,
        **record: Any,
    ) -> Client:
        """Return an executor's parts, its place taken unless told."""
        registry = registry or self.registry()
        turns: list[str] = []
        vanished: list[tuple[str, int]] = []
        lease = Lease(registry, self.paths, self.clock, lambda changed: turns.append(changed.standing))
        mirror = Mirror(registry, self.paths, lambda: None)
        fields: dict[str, Any] = {
            "host": "h",
            "pid": 2**22 + 1,
            "process_start": f"elsewhere:{uuid.uuid4().hex}",
        } | record
        executor = ExecutorRecord(
            name=name, incarnation="", ip="", started_at=NOON, version="", handlers={"h": "m:f"}, **fields
        )
        client = Client(
            name=name,
            registry=registry,
            lease=lease,
            mirror=mirror,
            book=Book(registry, self.paths, lambda job, item: vanished.append((job, item))),
            ledger=Ledger(registry, self.paths, lease, name),
            desk=CallDesk(registry, self.paths, lease, mirror, listening=lambda: executor.listening),
            election=Election(registry, self.paths, lease, name),
            membership=Membership(registry, self.paths, self.clock, lease, executor, home),
            turns=turns,
            vanished=vanished,
        )
        if is_joined:
            client.membership.join(patience_s=0.0)
        client.mirror.start()
        registry.pump()
        return client

    def add_job(
        self, name: str = "j", *, owners: dict[str, tuple[int, ...]] | None = None, **changes: Any
    ) -> JobConfig:
        """Create a job; with owners also its assignment."""
        fields: dict[str, Any] = {
            "uid": uuid.uuid4().hex,
            "handler": "h",
            "cron": "*/10 * * * * ?",
            "armed_at": NOON,
        } | changes
        config = JobConfig(name=name, **fields)
        operations: list[Operation] = [
            Create(self.paths.job(name), encode_job(config)),
            Create(self.paths.cursors(name)),
            Create(self.paths.markers(name)),
        ]
        if owners is not None:
            assignment = Assignment(uid=config.uid, layouts=(Layout(items=config.items, config=0),), owners=owners)
            operations.append(Create(self.paths.assignment(name), encode_assignment(assignment)))
        self.write(operations)
        return config

    def write(self, operations: Sequence[Operation]) -> None:
        """Write by hand."""
        assert isinstance(self.people.transact(operations), Committed)

    def edit_job(self, config: JobConfig) -> None:
        """Replace a job's configuration."""
        self.write([Put(self.paths.job(config.name), encode_job(config))])

    def cursor(self, item: int = 0, job: str = "j") -> Cursor | None:
        """Return a stored cursor."""
        node = self.people.get(self.paths.cursor(job, item))
        return None if node is None else decode_cursor(node.path, node.value)

    def has_marker(self, item: int = 0, job: str = "j") -> bool:
        """Whether an item has a marker."""
        return self.people.get(self.paths.marker(job, item)) is not None

    def expire(self, *living: Client) -> None:
        """Let time pass until the sessions of all but some clients are over."""
        for _ in range(12):
            self.clock.advance(1.0)
            for client in (*living,):
                client.registry.get("/")
            self.people.get("/")
            self.store.expire_sessions()


def lose_reply(registry: MemoryRegistry, count: int = 1, moment: str = "reply") -> None:
    """Have the next answers of transactions lost: they are done (or not, at moment ``request``), but nobody is told."""
    left = count

    def fault(now: str, operations: Sequence[Operation]) -> None:
        nonlocal left
        if now == moment and operations and left > 0:
            left -= 1
            raise RegistryUnavailableError("no answer")

    registry.fault = fault
