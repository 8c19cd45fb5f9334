"""Runs one seed: chaos for a while, then rest, then the audit."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tests.simulation.audit import Audit
from tests.simulation.chaos import HOSTS, Chaos
from tests.simulation.demand import BrokenInvariantError
from tests.simulation.people import People
from tests.simulation.world import CrashError, MissedHandler, World

if TYPE_CHECKING:
    from collections.abc import Callable

CHAOS_S = 25.0
"""Seconds of chaos in one seed."""
REST_S = 22.0
"""Seconds of rest before the audit: more than the time-out, the pace of tidying, and the longest pause between fires."""
JOIN_S = 0.5
CHAINS = 1_000_000
"""The first seed of those whose jobs fire after others."""


class Simulation:
    """One seed; from `CHAINS` on, jobs fire after others."""

    def __init__(self, seed: int, *, tells: bool = False) -> None:
        self.world = World(seed, tells=tells, has_chains=seed >= CHAINS)
        self.people = People(self.world)
        self.chaos = Chaos(self.world, self.people)
        self._missed = MissedHandler()
        self._joins_at = 0.0

    def run(self) -> None:
        """Run it to its end.

        Raises:
            BrokenInvariantError: Something happened that must not.
        """
        logger = logging.getLogger("shardsched")
        before = logger.level, logger.propagate
        logger.setLevel(logging.DEBUG if self.world.tells else logging.WARNING)
        logger.propagate = False
        logger.addHandler(self._missed)
        teller = _Teller(self.world.tell) if self.world.tells else None
        if teller is not None:
            logger.addHandler(teller)
        try:
            self._run()
        finally:
            logger.removeHandler(self._missed)
            if teller is not None:
                logger.removeHandler(teller)
            logger.level, logger.propagate = before

    def _run(self) -> None:
        world = self.world
        for number in range(world.rng.randint(2, 4)):
            self.chaos.start(f"m{number}", HOSTS[number % 3])
        self.people.create_jobs()
        self._pass(3.0, chaos_rate=0.0)
        self._pass(CHAOS_S, chaos_rate=world.rng.choice([0.5, 1.5, 4.0]))
        world.tell("rest")
        self.chaos.heal()
        self._pass(6.0, chaos_rate=0.0)
        world.rest_at = world.clock.now()
        self.people.undrain_all()
        self._pass(REST_S, chaos_rate=0.0)
        self._audit()

    def _audit(self) -> None:
        """Look at the fleet; what was just under way gets time to end."""
        for _ in range(2):
            try:
                Audit(self.world, self.people, self._missed.spans).check()
            except BrokenInvariantError:
                self._pass(5.0, chaos_rate=0.0)
        audit = Audit(self.world, self.people, self._missed.spans)
        audit.check()
        audit.check_losses()

    def _pass(self, seconds: float, *, chaos_rate: float) -> None:
        """Let time pass, with that many misfortunes and edits in a second."""
        world = self.world
        until = world.clock.boot() + seconds
        strikes_at = world.clock.boot()
        while world.clock.boot() < until:
            self.chaos.heal_due()
            self._join()
            while chaos_rate and world.clock.boot() >= strikes_at:
                strikes_at += world.rng.expovariate(chaos_rate)
                self.chaos.act()
            world.act()

    def _join(self) -> None:
        """Have those that wait for their place try again."""
        now = self.world.clock.boot()
        if now < self._joins_at:
            return
        self._joins_at = now + JOIN_S
        for member in self.world.living():
            if not member.is_joined:
                try:
                    member.join()
                except CrashError:
                    member.die()


class _Teller(logging.Handler):
    """Puts what executors log into the story."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.DEBUG)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Tell a log record."""
        fields = {
            key: record.__dict__[key] for key in ("executor", "job", "item", "operation") if key in record.__dict__
        }
        self._tell(f"log: {record.getMessage()} {fields}")


def story_of(seed: int) -> str:
    """Return a seed's story and how it ends, for people."""
    simulation = Simulation(seed, tells=True)
    end = "all is well"
    try:
        simulation.run()
    except Exception as error:  # noqa: BLE001 - whatever it is, the story is wanted
        end = f"{type(error).__name__}: {error}"
    return "\n".join([f"seed {seed}", *simulation.world.story, end])
