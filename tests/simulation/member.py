"""One simulated executor: the real parts, put together as `shardsched.executor` does, with no thread.

The simulator calls the steps of its three workers, its callbacks and its chores, in any order and also in the middle
of one another, since in a real executor each has a thread.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shardsched.coordination.assignment import Leadership
from shardsched.coordination.book import Book
from shardsched.coordination.call_desk import CallDesk
from shardsched.coordination.election import Election
from shardsched.coordination.ledger import Ledger
from shardsched.coordination.membership import Membership
from shardsched.coordination.mirror import Mirror
from shardsched.coordination.process import process_start
from shardsched.coordination.session import Lease, Standing
from shardsched.core.executor import ExecutorRecord
from shardsched.errors import NameTakenError, RegistryError
from shardsched.keeper import Keeper
from shardsched.leader import Leader
from shardsched.loop.message import Interrupt, Resync, SessionEnded, Stopping, Vanished
from shardsched.loop.step import Loop
from shardsched.registry.base import SessionState
from tests.simulation.body import Warden

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.core.paths import Paths
    from shardsched.loop.message import Message
    from tests.simulation.clockwork import SkewedClock
    from tests.simulation.record import Record
    from tests.simulation.store import SimRegistry

REPORT_S = 10.0
DRIFT_LIMIT_S = 60.0
_NEVER = float("inf")
PARTS = ("callbacks", "keeper", "loop", "leader", "report", "stop")
"""What may step on its own, as threads do."""


class Member:
    """One executor. Times are of its own boot clock.

    Args:
        host: Its machine; a later process of the same name there may take over from it at once when it is dead.
    """

    def __init__(
        self,
        *,
        name: str,
        host: str,
        slots: int,
        handlers: tuple[str, ...],
        listening: tuple[str, ...],
        registry: SimRegistry,
        paths: Paths,
        clock: SkewedClock,
        record: Record,
        rng: random.Random,
        durations: Callable[[str], float],
        number: int,
    ) -> None:
        self.name = name
        self.host = host
        self.clock = clock
        self.registry = registry
        self.is_joined = self.is_dead = False
        self.frozen_until = self.deaf_until = self.drift_s = 0.0
        self.stop_at: float | None = None
        self.busy: set[str] = set()
        self._rng = rng
        self._due = dict.fromkeys(PARTS, _NEVER)
        self._wake_at: datetime | None = None
        self._is_interrupted = False
        self.warden = Warden(
            rng=rng,
            boot=record.boot,
            own_boot=clock.true_boot,
            record=record,
            post=self._post,
            durations=durations,
        )
        self.lease = Lease(registry, paths, clock, self._lease_changed)
        self.mirror = Mirror(registry, paths, lambda: self.wake("loop", "leader"))
        self.book = Book(registry, paths, lambda job, item: self._post(Vanished(job=job, item=item)))
        self.desk = CallDesk(
            registry, paths, self.lease, self.mirror, listening=lambda: listening, drift_limit_s=DRIFT_LIMIT_S
        )
        run_ids = (f"run-{number}-{count}" for count in range(1, 1_000_000))
        self.loop = Loop(
            name=name,
            slots=slots,
            clock=clock,
            lease=self.lease,
            mirror=self.mirror,
            ledger=Ledger(registry, paths, self.lease, name),
            book=self.book,
            desk=self.desk,
            launcher=self.warden,
            wake_at=lambda moment: setattr(self, "_wake_at", moment),
            new_run_id=lambda: next(run_ids),
            server_time=registry.server_time,
            drift_limit_s=DRIFT_LIMIT_S,
        )
        election = Election(registry, paths, self.lease, name)
        self.leader = Leader(
            clock=clock,
            lease=self.lease,
            mirror=self.mirror,
            election=election,
            leadership=Leadership(registry, paths, self.lease, election),
        )
        place = (process_start(1) or ":").rpartition(":")[0]
        executor = ExecutorRecord(
            name=name,
            incarnation="",
            host=host,
            ip="",
            pid=2**22 + number,
            process_start=f"{place}:{number}",
            started_at=clock.now(),
            version="",
            handlers=dict.fromkeys(handlers, "m:f"),
            listening=listening,
            slots=slots,
        )
        self.membership = Membership(registry, paths, clock, self.lease, executor, None)

    # Life

    def join(self) -> bool:
        """Try to take the place; return whether it was taken."""
        try:
            self.membership.join(patience_s=0.0)
        except (NameTakenError, RegistryError):
            return False
        self.is_joined = True
        self.keeper = Keeper(
            clock=self.clock,
            lease=self.lease,
            membership=self.membership,
            on_rejoined=self._rejoined,
            on_clock_step=self._clock_stepped,
        )
        self._lease_changed(self.lease)
        self.registry.on_session(self._session_changed)
        self.mirror.start()
        self.wake("report", "keeper", "loop", "leader")
        self._due["callbacks"] = 0.0
        return True

    def die(self) -> None:
        """End as by kill -9."""
        self.is_dead = True
        self.registry.disconnect()
        self.warden.die()

    def shut_down(self, grace_s: float) -> None:
        """Begin a clean stop."""
        if self.stop_at is None:
            self.stop_at = self.clock.boot() + grace_s
            self.wake("stop")

    # What is due

    def wake(self, *parts: str) -> None:
        """Have parts step at once."""
        for part in parts:
            self._due[part] = 0.0

    def due_at(self, part: str) -> float:
        """Return when a part steps next."""
        due = self._due[part]
        if part == "loop" and self._wake_at is not None:
            left_s = (self._wake_at - self.clock.now()).total_seconds()
            return min(due, self.clock.boot() + max(left_s, 0.0))
        if part == "callbacks":
            return max(due, self.deaf_until) if self.registry.has_news else _NEVER
        # A real executor ends its workers before it leaves.
        return _NEVER if part == "stop" and self.busy else due

    def next_at(self) -> float:
        """Return when any part steps next."""
        if not self.is_joined:
            return _NEVER
        return max(
            min((self.due_at(part) for part in PARTS if part not in self.busy), default=_NEVER), self.frozen_until
        )

    def ready(self) -> list[str]:
        """Return the parts that could step now."""
        now = self.clock.boot()
        if not self.is_joined or now < self.frozen_until:
            return []
        return [part for part in PARTS if part not in self.busy and self.due_at(part) <= now]

    def step(self, part: str) -> None:
        """Let one part do what it can."""
        self.busy.add(part)
        try:
            self._step(part)
        finally:
            self.busy.discard(part)

    def _step(self, part: str) -> None:
        now = self.clock.boot()
        match part:
            case "callbacks":
                self._due[part] = now + self._rng.random() * 0.1
                self.registry.pump_some(self._rng.choice([1, 1, 2, 9]))
            case "keeper":
                self._due[part] = _NEVER
                self._sleep(part, self.keeper.step())
            case "loop":
                self._due[part] = _NEVER
                self._wake_at = None
                self.loop.step()
                if self.loop.has_more:
                    self.wake("loop")
            case "leader":
                self._due[part] = _NEVER
                self._sleep(part, self.leader.step())
            case "report":
                self._due[part] = now + REPORT_S
                self._report()
            case _:
                self._stop()

    def _sleep(self, part: str, delay_s: float | None) -> None:
        if delay_s is not None:
            self._due[part] = min(self._due[part], self.clock.boot() + delay_s)

    # As in the executor

    def _post(self, message: Message) -> None:
        self.loop.post(message)
        self.wake("loop")

    def _session_changed(self, state: SessionState) -> None:
        if state is SessionState.SUSPENDED:
            self.lease.suspend()
        elif state is SessionState.LOST:
            self.lease.session_ended()
        else:
            self.lease.resume()
            self.wake("keeper", "loop", "leader")

    def _lease_changed(self, lease: Lease) -> None:
        if lease.standing is Standing.LOST:
            self.warden.revoke()
            self._post(SessionEnded())
            self.wake("keeper")
        elif lease.incarnation:
            self.warden.set_lease(lease.incarnation, lease.alive_until, lease.soft_until)

    def _rejoined(self) -> None:
        self._post(Resync())
        self.wake("leader")
        self._report()

    def _clock_stepped(self) -> None:
        self._report()
        self._post(Resync())

    def _report(self) -> None:
        if self.lease.incarnation:
            try:
                self.drift_s = (self.clock.now() - self.registry.server_time()).total_seconds()
            except RegistryError:
                return
        if self.loop.unfit is None and abs(self.drift_s) > DRIFT_LIMIT_S:
            self._say_unfit(f"its clock is {self.drift_s:+.0f} s off")
        elif self.loop.unfit is not None and self.stop_at is None and abs(self.drift_s) < 0.8 * DRIFT_LIMIT_S:
            self._say_unfit(None)

    def _say_unfit(self, reason: str | None) -> None:
        self.loop.unfit = reason
        with contextlib.suppress(RegistryError):
            self.membership.update(unfit=reason)
        self._post(Resync())

    def _stop(self) -> None:
        """Go on stopping: wait for runs, interrupt what is left, then leave."""
        if self.loop.unfit is None:
            self._say_unfit("it is stopping")
        now = self.clock.boot()
        assert self.stop_at is not None
        is_idle = self.loop.unaccounted_count == 0 or not self.lease.incarnation
        if is_idle or now >= self.stop_at + 2.0:
            self.leader.step_down()
            self.warden.die()
            self.membership.leave()
            self.is_dead = True
            self.registry.close()
        else:
            if now >= self.stop_at - 1.0 and not self._is_interrupted:
                self._is_interrupted = True
                self._post(Interrupt(stopping=Stopping.SHUTDOWN, grace_s=1.0))
            self._due["stop"] = now + 0.2
