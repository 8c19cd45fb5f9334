"""One executor's loop on a registry in memory, with a launcher that only takes note."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.core.fire import ItemState
from shardsched.loop.message import Ended, Vanished
from shardsched.loop.step import Loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.coordination.ledger import Claimed
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.core.tally import PendingCall
    from shardsched.execution.failure import FailureReport
    from tests.coordination.stage import Client, Stage


@dataclass
class Body:
    """A launcher that only takes note."""

    launched: list[Claimed] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    reports: list[tuple[str, FailureReport]] = field(default_factory=list)
    left: list[tuple[str, int, str]] = field(default_factory=list)
    called: list[tuple[str, PendingCall, str]] = field(default_factory=list)

    def launch_call(self, call_id: str, config: JobConfig, call: PendingCall, incarnation: str) -> None:
        """Take note of a call."""
        self.called.append((call_id, call, config.name))

    def launch(self, claimed: Claimed, config: JobConfig) -> None:
        """Take note of a launch."""
        self.launched.append(claimed)

    def stop_run(self, run_id: str, reason: str, grace_s: float) -> None:
        """Take note of a stop."""
        self.stopped.append(run_id)

    def abandoned(self, job: str, item: int, cursor: Cursor, reason: str) -> None:
        """Take note of a run that was left unfinished."""
        self.left.append((job, item, cursor.run))

    def report_failure(self, place: str, report: FailureReport) -> None:
        """Take note of a report."""
        self.reports.append((place, report))


@dataclass
class Actor:
    """One executor's loop."""

    client: Client
    loop: Loop
    body: Body
    wakes: list[datetime | None]

    def step(self, count: int = 3) -> None:
        """Hear the news and step, as often as told."""
        for _ in range(count):
            self.client.registry.pump()
            while self.client.vanished:
                job, item = self.client.vanished.pop()
                self.loop.post(Vanished(job=job, item=item))
            self.loop.step()

    def end(self, state: ItemState | None = ItemState.DONE, index: int = -1) -> None:
        """Have a run end."""
        self.loop.post(Ended(run_id=self.body.launched[index].marker.run, state=state))

    @property
    def items(self) -> list[int]:
        """The items launched."""
        return [claimed.item for claimed in self.body.launched]


def actor(
    stage: Stage,
    name: str,
    slots: int = 16,
    server_time: Callable[[], datetime] | None = None,
    listening: tuple[str, ...] = (),
) -> Actor:
    """Return an executor's loop."""
    client, body = stage.client(name, listening=listening), Body()
    wakes: list[datetime | None] = []
    ids = (f"{name}-{number}" for number in range(1000))
    loop = Loop(
        name=name,
        slots=slots,
        clock=stage.clock,
        lease=client.lease,
        mirror=client.mirror,
        ledger=client.ledger,
        book=client.book,
        desk=client.desk,
        launcher=body,
        wake_at=wakes.append,
        new_run_id=lambda: next(ids),
        server_time=server_time or client.registry.server_time,
    )
    return Actor(client, loop, body, wakes)


def pass_fire(stage: Stage, *actors: Actor) -> None:
    """Let ten seconds pass, with everybody's heart beating."""
    for _ in range(5):
        stage.clock.advance(2.0)
        stage.people.get("/")
        for one in actors:
            one.client.lease.beat()
