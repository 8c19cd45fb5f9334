"""Fires that are given up are told of, even where the registry's answer is lost: told twice is better than never."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from shardsched.coordination.book import Book
from shardsched.coordination.ledger import Claimed, Ledger
from shardsched.coordination.mirror import Mirror
from shardsched.coordination.namespace import ensure_namespace
from shardsched.coordination.session import Lease
from shardsched.coordination.tally_book import TallyBook
from shardsched.core.assignment import Assignment, Layout
from shardsched.core.decision import Missed, Run, Settle
from shardsched.core.fire import Cause, ItemState
from shardsched.core.job import JobConfig
from shardsched.core.paths import Paths
from shardsched.core.plan import Candidate, JobPlan
from shardsched.core.view import JobEntry
from shardsched.errors import RegistryUnavailableError
from shardsched.loop.claiming import Claiming
from shardsched.loop.failing import Failing
from shardsched.loop.runs import RunTable
from shardsched.loop.settling import Settling
from shardsched.registry.base import Create
from shardsched.registry.memory import MemoryRegistry
from shardsched.registry.memory_store import MemoryStore
from shardsched.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shardsched.core.fire import Cursor
    from shardsched.core.tally import PendingCall
    from shardsched.execution.failure import FailureReport
    from shardsched.registry.base import Operation

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MISSED = Missed(first=NOW, last=NOW, reason="too late")
CONFIG = JobConfig(name="j", uid="u", handler="h", cron="* * * * *", armed_at=NOW, items=2)
ENTRY = JobEntry(
    name="j", version=0, config=CONFIG, assignment=Assignment(uid="u", layouts=(Layout(items=2, config=0),)),
    assignment_version=0,
)  # fmt: skip


class _NoLauncher:
    def launch(self, claimed: Claimed, config: JobConfig) -> None:
        raise AssertionError("nothing was won")

    def launch_call(self, call_id: str, config: JobConfig, call: PendingCall, incarnation: str) -> None:
        raise AssertionError("nobody listens")

    def stop_run(self, run_id: str, reason: str, grace_s: float) -> None:
        raise AssertionError("nothing runs")

    def abandoned(self, job: str, item: int, cursor: Cursor, reason: str) -> None:
        raise AssertionError("nothing was abandoned")

    def report_failure(self, place: str, report: FailureReport) -> None:
        raise AssertionError("nothing failed")


class _Fleet:
    """What an executor has to settle and claim with, on a registry that loses answers when told."""

    def __init__(self) -> None:
        clock, self.paths = FakeClock(), Paths("n")
        self.registry = MemoryRegistry(MemoryStore(clock))
        self.registry.open()
        ensure_namespace(self.registry, self.paths)
        nodes = [self.paths.session("s"), self.paths.job("j"), self.paths.assignment("j")]
        nodes += [self.paths.cursors("j"), self.paths.markers("j")]
        self.registry.transact([Create(path) for path in nodes])
        self.lease = Lease(self.registry, self.paths, clock, lambda _: None)
        self.lease.join("s", clock.boot(), self.registry.session_id)
        self.ledger = Ledger(self.registry, self.paths, self.lease, "e1")
        self.tallies = TallyBook(self.registry, self.paths, self.lease, Mirror(self.registry, self.paths, lambda: None))
        self.book = Book(self.registry, self.paths, lambda _job, _item: None)
        self.book.read([(ENTRY, 0), (ENTRY, 1)])

    def lose_answers(self) -> None:
        def lose(moment: str, _operations: Sequence[Operation]) -> None:
            if moment == "reply":
                raise RegistryUnavailableError("the answer was lost")

        self.registry.fault = lose


@pytest.fixture
def fleet() -> Iterator[_Fleet]:
    """A fleet of one executor."""
    some = _Fleet()
    yield some
    some.registry.close()


def told_items(caplog: pytest.LogCaptureFixture) -> list[int]:
    """Return the items of which missed fires were told."""
    return [vars(record)["item"] for record in caplog.records if vars(record).get("event") == "fires_missed"]


def test_settling_whose_answer_is_lost_tells_of_all_fires_that_it_may_have_dropped(
    fleet: _Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    """The cursors moved, so nobody else will ever tell."""
    settles = tuple(
        Settle(item=item, state=ItemState.MISSED, fire=NOW, reason="too late", missed=MISSED) for item in (0, 1)
    )
    fleet.lose_answers()
    settling = Settling(
        lease=fleet.lease,
        ledger=fleet.ledger,
        book=fleet.book,
        tallies=fleet.tallies,
        failing=Failing(_NoLauncher()),
    )
    with caplog.at_level(logging.WARNING), pytest.raises(RegistryUnavailableError):
        settling.settle(ENTRY, JobPlan(settles=settles), NOW)
    fleet.registry.fault = None
    assert fleet.registry.get(fleet.paths.cursor("j", 1)) is not None
    assert told_items(caplog) == [0, 1]


def test_claim_whose_answer_is_lost_tells_of_the_fires_that_it_may_have_dropped(
    fleet: _Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    """If the session ends now, another executor runs the claimed fire and knows nothing of those before it."""
    run = Run(
        item=0, cause=Cause.SCHEDULE, run_fire=NOW, fire=NOW, trigger=0, attempt=1, items=2, job_param="", param="",
        first_cause=Cause.SCHEDULE, missed=MISSED,
    )  # fmt: skip
    claiming = Claiming(
        lease=fleet.lease,
        ledger=fleet.ledger,
        book=fleet.book,
        tallies=fleet.tallies,
        launcher=_NoLauncher(),
        runs=RunTable(),
        failing=Failing(_NoLauncher()),
        new_run_id=lambda: "r",
    )
    fleet.lose_answers()
    with caplog.at_level(logging.WARNING):
        claiming.claim([(ENTRY, [Candidate(job="j", priority=0, run=run)])], NOW)
    fleet.registry.fault = None
    assert fleet.registry.get(fleet.paths.cursor("j", 0)) is not None
    assert told_items(caplog) == [0]
