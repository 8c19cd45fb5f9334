"""A large fleet that exists in a registry only: its records are written as real executors would, and nothing runs."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.clock import SYSTEM_CLOCK
from shardsched.coordination.namespace import ensure_namespace
from shardsched.core.assignment import Assignment, Layout, encode_assignment
from shardsched.core.executor import (
    ExecutorRecord,
    LeaderRecord,
    LoadReport,
    encode_executor,
    encode_leader,
    encode_load,
)
from shardsched.core.fire import Cursor, ItemState, Marker, encode_cursor, encode_marker
from shardsched.core.job import JobConfig
from shardsched.core.job_record import encode_job
from shardsched.registry.base import Committed, Create, Delete, Put, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future

    from shardsched.core.paths import Paths
    from shardsched.registry.base import Operation, Outcome, Registry

CRONS = ("*/10 * * * *", "0 * * * *", "30 2 * * *", "*/5 8-20 * * *", "0 6 * * 1-5", "0 0/30 * * * ?")
SITES = ("news-sina", "shop-jd-price", "weibo-hot", "zhihu-answers", "house-lianjia", "stock-eastmoney", "papers-arxiv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a fleet is."""

    jobs: int = 1_000
    items: int = 100
    executors: int = 50


class Crowd:
    """The fleet.

    Args:
        registry: An open registry; what is ephemeral belongs to its session.
        paths: The namespace.
        size: How large.
        seed: Of all that is drawn.
    """

    def __init__(self, registry: Registry, paths: Paths, size: Size, seed: int = 1) -> None:
        self._registry = registry
        self._paths = paths
        self._random = random.Random(seed)  # noqa: S311 - figures, not secrets
        self._runs = itertools.count(1)
        self.size = size
        self.executors = [f"crawler-{number:02d}" for number in range(1, size.executors + 1)]
        self.jobs = [SITES[number] if number < len(SITES) else f"crawl-{number:04d}" for number in range(size.jobs)]
        self._running: dict[tuple[str, int], Cursor] = {}

    def build(self) -> None:
        """Write all of it; every item has run once."""
        ensure_namespace(self._registry, self._paths)
        self._write([operation for name in self.executors for operation in self._executor(name)])
        leader = LeaderRecord(name=self.executors[0], incarnation=self.executors[0], epoch=1)
        self._write([Create(self._paths.leader, encode_leader(leader), ephemeral=True)])
        for name in self.jobs:
            self._write(self._job(name))

    def _executor(self, name: str) -> list[Operation]:
        now = SYSTEM_CLOCK.now()
        record = ExecutorRecord(
            name=name,
            incarnation=name,
            host=f"host-{name[-2:]}",
            ip=f"10.20.0.{int(name[-2:])}",
            pid=self._random.randrange(1_000, 30_000),
            process_start="1",
            started_at=now,
            version="0.1.0",
            handlers={"crawl": "shop.jobs:crawl"},
            slots=200,
        )
        load = LoadReport(
            at=now,
            cpu=self._random.random() * 0.9,
            memory_mb=self._random.uniform(40, 240),
            drift_s=self._random.uniform(-0.05, 0.05),
        )
        return [
            Create(self._paths.executor(name), encode_executor(record), ephemeral=True),
            Create(self._paths.load(name), encode_load(load), ephemeral=True),
        ]

    def _job(self, name: str) -> list[Operation]:
        now = SYSTEM_CLOCK.now()
        config = JobConfig(
            name=name,
            uid=name,
            handler="crawl",
            cron=self._random.choice(CRONS),
            armed_at=now - timedelta(minutes=10),
            timezone="Asia/Shanghai",
            items=self.size.items,
            paused=self._random.random() < 0.01,
        )
        cursors = [
            Create(self._paths.cursor(name, item), encode_cursor(self._ended(name, item)))
            for item in range(self.size.items)
        ]
        return [
            Create(self._paths.job(name), encode_job(config)),
            Create(self._paths.assignment(name), self._assignment(name)),
            Create(self._paths.cursors(name)),
            Create(self._paths.markers(name)),
            *cursors,
        ]

    def _assignment(self, name: str, shift: int = 0) -> bytes:
        owners: dict[str, list[int]] = {}
        for item in range(self.size.items):
            owners.setdefault(self._owner(name, item + shift), []).append(item)
        assignment = Assignment(
            uid=name,
            layouts=(Layout(items=self.size.items, config=0),),
            owners={owner: tuple(items) for owner, items in owners.items()},
        )
        return encode_assignment(assignment)

    def move(self, job: str, shift: int) -> None:
        """Give each item of a job to another executor."""
        self._write([Put(self._paths.assignment(job), self._assignment(job, shift))])

    def _owner(self, job: str, item: int) -> str:
        return self.executors[(len(job) + sum(map(ord, job[-4:])) + item) % len(self.executors)]

    def _ended(self, job: str, item: int) -> Cursor:
        now = SYSTEM_CLOCK.now()
        state = ItemState.FAILED if self._random.random() < 0.001 else ItemState.DONE
        return Cursor(
            uid=job,
            state=state,
            fire=now,
            run_fire=now,
            run=f"run-{next(self._runs)}",
            attempt=1,
            items=self.size.items,
            executor=self._owner(job, item),
            started_at=now,
            ended_at=now,
        )

    def begin(self, count: int) -> None:
        """Have some items that do not run begin to."""
        places = [(self._random.choice(self.jobs), self._random.randrange(self.size.items)) for _ in range(count)]
        wait_all([self._begin(job, item) for job, item in dict.fromkeys(places) if (job, item) not in self._running])

    def _begin(self, job: str, item: int) -> Future[Outcome]:
        now, owner, run = SYSTEM_CLOCK.now(), self._owner(job, item), f"run-{next(self._runs)}"
        cursor = Cursor(uid=job, state=ItemState.RUNNING, fire=now, run=run, attempt=1, executor=owner, started_at=now)
        marker = Marker(uid=job, run=run, incarnation=owner, executor=owner, fire=now, attempt=1, started_at=now)
        self._running[job, item] = cursor
        return self._registry.submit(
            [
                Create(self._paths.marker(job, item), encode_marker(marker), ephemeral=True),
                Put(self._paths.cursor(job, item), encode_cursor(cursor)),
            ]
        )

    def end(self, count: int) -> None:
        """Have some items that run end, the longest running first."""
        ended = list(itertools.islice(self._running, count))
        wait_all([self._end(job, item) for job, item in ended])

    def _end(self, job: str, item: int) -> Future[Outcome]:
        del self._running[job, item]
        return self._registry.submit(
            [
                Delete(self._paths.marker(job, item)),
                Put(self._paths.cursor(job, item), encode_cursor(self._ended(job, item))),
            ]
        )

    @property
    def running_count(self) -> int:
        """How many items run."""
        return len(self._running)

    def _write(self, operations: Sequence[Operation]) -> None:
        chunks = [operations[start : start + 50] for start in range(0, len(operations), 50)]
        for chunk in chunks:
            outcome = self._registry.transact(chunk, 60.0)
            if not isinstance(outcome, Committed):
                raise outcome.error()


def wait_all(futures: Iterable[Future[Outcome]]) -> None:
    """Wait for transactions that are under way."""
    for future in futures:
        wait_for(future, 60.0)
