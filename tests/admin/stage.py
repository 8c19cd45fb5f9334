"""A namespace in which a test makes up executors, assignments and runs by hand, as real ones would write them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shardsched.admin import Admin
from shardsched.coordination.namespace import ensure_namespace
from shardsched.core.assignment import Assignment, Layout, encode_assignment
from shardsched.core.checkpoint import Checkpoint, encode_checkpoint
from shardsched.core.command import decode_commands
from shardsched.core.executor import ExecutorRecord, LeaderRecord, encode_executor, encode_leader
from shardsched.core.fire import (
    Cursor,
    ItemState,
    Marker,
    decode_cursor,
    encode_cursor,
    encode_marker,
)
from shardsched.core.job_record import decode_job
from shardsched.core.paths import Paths
from shardsched.registry.base import Create, Put
from shardsched.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.core.command import Commands
    from shardsched.core.job import JobConfig
    from shardsched.registry.base import Registry

HOURLY = {"handler": "crawl", "cron": "0 * * * *"}


@dataclass(frozen=True, slots=True)
class Actor:
    """An executor that a test plays."""

    registry: Registry
    """Its own client, whose session its nodes belong to."""
    record: ExecutorRecord
    """What it says of itself."""


class Stage:
    """One namespace, and what a test does in it in the place of executors."""

    def __init__(self, make_registry: Callable[[], Registry]) -> None:
        self._make_registry = make_registry
        self._numbers = itertools.count(1)
        self.registry = make_registry()
        self.paths = Paths("test/fleet")
        self.clock = FakeClock()
        self.admin = Admin(self.registry, self.paths, self.clock)
        self.actors: dict[str, Actor] = {}
        self.url = ""

    def create(self, path: str, value: bytes = b"", registry: Registry | None = None) -> None:
        """Create a node, ephemeral where a client of its own is given."""
        operation = Create(path, value, ephemeral=registry is not None)
        outcome = (registry or self.registry).transact([operation])
        assert hasattr(outcome, "versions"), outcome

    def put(self, path: str, value: bytes) -> None:
        """Write a node, whether it exists or not."""
        exists = self.registry.get(path, fresh=True) is not None
        outcome = self.registry.transact([Put(path, value) if exists else Create(path, value)])
        assert hasattr(outcome, "versions"), outcome

    def join(self, name: str, handlers: tuple[str, ...] = ("crawl",), **fields: Any) -> Actor:
        """Have an executor take its place."""
        ensure_namespace(self.registry, self.paths)
        registry = self._make_registry()
        record = ExecutorRecord(
            name=name,
            incarnation=f"{name}-session-{next(self._numbers)}",
            host="host1",
            ip="127.0.0.1",
            pid=4711,
            process_start="1",
            started_at=self.clock.now(),
            version="0.1.0",
            handlers={handler: f"shop.jobs:{handler}" for handler in handlers},
            **fields,
        )
        self.create(self.paths.session(record.incarnation), registry=registry)
        self.create(self.paths.executor(name), encode_executor(record), registry)
        self.actors[name] = Actor(registry, record)
        return self.actors[name]

    def leave(self, name: str) -> None:
        """Have an executor end, with all its nodes."""
        self.actors.pop(name).registry.close()

    def lead(self, name: str) -> None:
        """Have an executor lead."""
        actor = self.actors[name]
        record = LeaderRecord(name=name, incarnation=actor.record.incarnation, epoch=1)
        self.create(self.paths.leader, encode_leader(record), actor.registry)

    def config(self, job: str) -> JobConfig:
        """Return a job as it is stored."""
        node = self.registry.get(self.paths.job(job), fresh=True)
        assert node is not None
        return decode_job(node.path, job, node.value)

    def job(self, name: str, owners: Mapping[str, tuple[int, ...]] | None = None, **settings: Any) -> JobConfig:
        """Create a job and, where owners are given, assign its items."""
        config = self.admin.jobs.create(name, HOURLY | settings)
        if owners is not None:
            self.assign(name, owners)
        return config

    def assign(self, job: str, owners: Mapping[str, tuple[int, ...]], **fields: Any) -> None:
        """Write an assignment as the leader would."""
        config = self.config(job)
        layouts = fields.pop("layouts", (Layout(items=config.items, config=0),))
        assignment = Assignment(uid=config.uid, layouts=layouts, owners=owners, **fields)
        self.put(self.paths.assignment(job), encode_assignment(assignment))

    def claim(self, job: str, item: int, executor: str, **fields: Any) -> Cursor:
        """Have an executor begin to run an item."""
        actor = self.actors[executor]
        now = self.clock.now()
        run = f"run-{next(self._numbers)}"
        uid = self.config(job).uid
        defaults: dict[str, Any] = {"fire": now, "run_fire": now, "started_at": now, "attempt": 1, "token": 1}
        cursor = Cursor(uid=uid, state=ItemState.RUNNING, run=run, executor=executor, **(defaults | fields))
        self.put(self.paths.cursor(job, item), encode_cursor(cursor))
        marker = Marker(
            uid=uid,
            run=run,
            incarnation=actor.record.incarnation,
            executor=executor,
            fire=now,
            attempt=1,
            started_at=now,
        )
        self.create(self.paths.marker(job, item), encode_marker(marker), actor.registry)
        return cursor

    def cursor(self, job: str, item: int) -> Cursor:
        """Return an item's cursor."""
        node = self.registry.get(self.paths.cursor(job, item), fresh=True)
        assert node is not None
        return decode_cursor(node.path, node.value)

    def write_cursor(self, job: str, item: int, **fields: Any) -> Cursor:
        """Write an item's cursor: done, unless told otherwise."""
        defaults: dict[str, Any] = {"state": ItemState.DONE, "fire": self.clock.now()}
        cursor = Cursor(uid=self.config(job).uid, **(defaults | fields))
        self.put(self.paths.cursor(job, item), encode_cursor(cursor))
        return cursor

    def change_cursor(self, job: str, item: int, **changes: Any) -> None:
        """Change some fields of an item's cursor."""
        self.put(self.paths.cursor(job, item), encode_cursor(replace(self.cursor(job, item), **changes)))

    def save(self, job: str, item: int, state: str | None, **changes: Any) -> None:
        """Write a checkpoint as an executor would."""
        ensure_namespace(self.registry, self.paths)
        if self.registry.get(self.paths.checkpoints(job), fresh=True) is None:
            self.create(self.paths.checkpoints(job))
        now = self.clock.now()
        fields: dict[str, Any] = {"uid": self.config(job).uid, "token": 7, "run": "r", "number": 1} | changes
        record = Checkpoint(fire=now, saved_at=now, state=state, **fields)
        self.put(self.paths.checkpoint(job, item), encode_checkpoint(record))

    def commands(self, job: str) -> Commands:
        """Return what was asked of a job."""
        node = self.registry.get(self.paths.commands(job), fresh=True)
        assert node is not None
        return decode_commands(node.path, node.value)

    def tree(self, path: str | None = None) -> set[str]:
        """Return the paths of all nodes of the namespace but those of executors."""
        root = path or self.paths.root
        found: set[str] = set()
        for name in self.registry.children(root, fresh=True):
            found |= {f"{root}/{name}"} | self.tree(f"{root}/{name}")
        return found
