"""A simulated fleet: executors, the registry, people and time, in an order that a seed decides.

Actors act one after the other, but between any two requests of one of them others may act too, and time may pass: that
is where protocols break. A world is the same for the same seed in every process, so that a story can be told again.
"""

from __future__ import annotations

import logging
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from shardsched.coordination.namespace import ensure_namespace
from shardsched.core.events import Event
from shardsched.core.paths import Paths
from shardsched.errors import RegistryUnavailableError
from shardsched.testing import FakeClock
from tests.simulation.call_body import CallRecord
from tests.simulation.clockwork import SkewedClock
from tests.simulation.demand import demand
from tests.simulation.judge import Judge
from tests.simulation.member import Member
from tests.simulation.record import Record, RunRecord
from tests.simulation.store import SimRegistry, SimStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.registry.base import Node, Operation

TIMEOUT_S = 4.0
"""Session time-out T: short, since all waits of the protocol are shares of it."""
TICK_S = 0.5
MAX_ACTS = 2_000
"""How often the parts of all executors may step in one second."""
MAX_DEPTH = 2
"""How deep actors may act in the middle of one another."""
_START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class CrashError(BaseException):
    """The process of an executor ends, in the middle of what it did."""


class MissedHandler(logging.Handler):
    """Gathers the fires that executors report as missed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.spans: list[tuple[str, int, datetime, datetime]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a report."""
        fields = record.__dict__
        if fields.get("event") is Event.FIRES_MISSED:
            first, last = (datetime.fromisoformat(fields[name]) for name in ("first", "last"))
            self.spans.append((fields["job"], fields["item"], first, last))


class World:
    """All of it.

    Args:
        seed: Decides everything.
        tells: Whether the story is written down; it costs time.
        has_chains: Whether jobs fire after others.
    """

    def __init__(self, seed: int, *, tells: bool = False, has_chains: bool = False) -> None:
        self.seed = seed
        self.has_chains = has_chains
        self.rest_at: datetime | None = None
        """Since when nothing bad has happened."""
        self.rng = random.Random(seed)  # noqa: S311 - a simulation must be repeatable
        self.story: list[str] = []
        self.tells = tells
        self.clock = FakeClock(_START, boot=1000.0)
        self.server_clock = SkewedClock(self.clock, 0.0, 500.0)
        self.store = SimStore(self.server_clock)
        self.paths = Paths("f")
        self.judge = Judge(self.store, self.paths, TIMEOUT_S)
        self.store.on_commit = self._committed
        calls = CallRecord(lambda incarnation: self.store.find(self.paths.session(incarnation)) is not None)
        self.record = Record(self.clock.boot, self._started, self._ended, calls)
        self.members: list[Member] = []
        self.is_calm = False
        """Whether nothing bad happens any more."""
        self.is_down = False
        self.flaky: dict[str, float] = {}
        """By executor: the share of requests that get no answer."""
        self.crashes = 0.0
        """The share of requests at which an executor's process ends."""
        self.run_s = self.rng.choice([0.2, 1.5, 4.0])
        """How long runs take, at the median."""
        self._act_since = (0.0, 0)
        self._depth = 0
        self._member_count = 0
        self.server_timeout_s = TIMEOUT_S - self.rng.random() * TICK_S / 2
        self.people = SimRegistry(self.store, timeout_s=1e9, server_timeout_s=1e9, tick_s=0.0, boot=self.clock.boot)
        self.people.open()
        ensure_namespace(self.people, self.paths)

    # Telling

    def tell(self, text: str) -> None:
        """Write down what happens."""
        if self.tells:
            now = self.clock.now().strftime("%M:%S.%f")[:-4]
            self.story.append(f"{now} {'  ' * self._depth}{text}")

    def _started(self, run: RunRecord) -> None:
        self.tell(f"start {run}")
        self.judge.started(run, self.record.active.get((run.claimed.job, run.claimed.item)))

    def _ended(self, run: RunRecord) -> None:
        self.tell(f"end {run}")

    def _committed(self, session_id: str, operations: tuple[Operation, ...], before: dict[str, Node | None]) -> None:
        if self.tells:
            for operation in operations:
                if type(operation).__name__ != "Check":
                    value = getattr(operation, "value", b"")[:300].decode()
                    self.tell(f"{session_id} {type(operation).__name__} {operation.path} {value}")
        self.judge.committed(session_id, operations, before)

    # Members

    def living(self) -> list[Member]:
        """Return the executors whose process lives."""
        return [member for member in self.members if not member.is_dead]

    def add_member(self, name: str, host: str, *, offset_s: float, slots: int, handlers: tuple[str, ...]) -> Member:
        """Start an executor's process; it joins as soon as it can."""
        self._member_count += 1
        registry = SimRegistry(
            self.store,
            timeout_s=TIMEOUT_S,
            server_timeout_s=self.server_timeout_s,
            tick_s=TICK_S,
            boot=self.clock.boot,
        )
        registry.proved_at = self.judge.proved_at
        member = Member(
            name=name,
            host=host,
            slots=slots,
            handlers=handlers,
            listening=("h1",) if self.has_chains else (),
            registry=registry,
            paths=self.paths,
            clock=SkewedClock(self.clock, offset_s, self.rng.random() * 100),
            record=self.record,
            rng=self.rng,
            durations=lambda _: self.run_s * (0.3 + self.rng.random() * 2.0),
            number=self._member_count,
        )
        registry.open()
        if self.is_down:
            registry.disconnect()
        registry.fault = lambda moment, operations: self._meet(member, moment, operations)
        self.members.append(member)
        return member

    def _meet(self, member: Member, moment: str, operations: Sequence[Operation]) -> None:
        """What may happen around a request of an executor."""
        if member.is_dead:
            return
        luck = self.rng.random()
        flaky = self.flaky.get(member.name, 0.0)
        if luck < flaky:
            self.tell(f"{member.name}: no answer ({moment} of {len(operations)} operations)")
            raise RegistryUnavailableError("no answer")
        if luck < flaky + self.crashes:
            raise CrashError
        if luck > 0.85 and self._depth < MAX_DEPTH:
            self._interleave(member)

    def _interleave(self, member: Member) -> None:
        self._depth += 1
        try:
            if self.is_calm or self.rng.random() < 0.8:
                self.act()
            else:
                self._hold_up(member)
        finally:
            self._depth -= 1
        if member.is_dead:
            raise CrashError

    def _hold_up(self, member: Member) -> None:
        """Let time pass in the middle of a step: its thread gets no turn, or its whole process is frozen."""
        seconds = TIMEOUT_S * self.rng.choice([0.02, 0.1, 0.5, 1.3])
        until = self.clock.boot() + seconds
        if self.rng.random() < 0.5:
            self.tell(f"{member.name} freezes in the middle of it for {seconds:.1f} s")
            member.frozen_until = member.clock.boot() + seconds
        while self.clock.boot() < until and not member.is_dead:
            self.act()

    # Time

    def advance(self, seconds: float) -> None:
        """Let time pass; what launchers do meanwhile happens at its moment, and old sessions end."""
        target = self.clock.boot() + seconds
        while True:
            due_at, warden = min(
                ((member.warden.due_at(), member.warden) for member in self.living()),
                key=lambda one: one[0],
                default=(float("inf"), None),
            )
            if warden is None or due_at > target:
                break
            # Rounding must not leave the clock short of the moment.
            self.clock.advance(max(due_at - self.clock.boot(), 0.0) + 1e-6)
            warden.step()
        self.clock.advance(max(target - self.clock.boot(), 0.0))
        self.expire()

    def expire(self) -> None:
        """Have the servers look for sessions that are over; they do not while they are down."""
        if not self.is_down and self.store.expire_sessions():
            self.tell("a session expired")

    def ready(self) -> list[tuple[Member, str]]:
        """Return every part of every executor that could step now."""
        return [(member, part) for member in self.living() for part in member.ready()]

    def act(self) -> None:
        """Let one part of one executor step, or let time pass until one can."""
        self._count_act()
        ready = self.ready()
        if not ready:
            self.advance(min(self._idle_s(), 1.0) + self.rng.random() * 0.05)
            ready = self.ready()
        if ready:
            member, part = self.rng.choice(ready)
            self.step(member, part)

    def _count_act(self) -> None:
        """Refuse to act without end at one moment, as when parts of executors wake one another for nothing."""
        if self.clock.boot() - self._act_since[0] > 1.0:
            self._act_since = (self.clock.boot(), 0)
        began, count = self._act_since
        self._act_since = (began, count + 1)
        demand(count < MAX_ACTS, "the fleet spins: its parts wake one another for nothing")

    def _idle_s(self) -> float:
        moments = (member.next_at() - member.clock.boot() for member in self.living())
        return max(min(moments, default=1.0), 0.0)

    def step(self, member: Member, part: str) -> None:
        """Let one part of one executor step, and judge what runs then."""
        if self.tells and part != "callbacks":
            self.tell(f"{member.name}.{part}")
        try:
            member.step(part)
        except CrashError:
            if not member.is_dead:
                self.tell(f"{member.name} crashes in its {part}")
                member.die()
        self.judge.look(list(self.record.active.values()), self.clock.boot())
