"""What befalls a simulated fleet: crashes, freezes, cuts, lost replies, late watches, clocks that are off."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.simulation.world import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulation.member import Member
    from tests.simulation.people import People
    from tests.simulation.world import World

HOSTS = ("host1", "host2", "host3")
MAX_MEMBERS = 5
RELIVED = timedelta(seconds=25)
"""An executor whose clock is ahead may have handled fires this far ahead of the time at which all were set back."""


class Chaos:
    """The misfortune of one world."""

    def __init__(self, world: World, people: People) -> None:
        self._world = world
        self._people = people
        self._rng = world.rng
        self._pending: list[tuple[float, Callable[[], None]]] = []
        self._name_count = 0
        self._moves = (
            (people.act, 8),
            (self._crash, 2),
            (self._start, 3),
            (self._start_again, 2),
            (self._freeze, 2),
            (self._cut, 2),
            (self._make_flaky, 3),
            (self._make_deaf, 2),
            (self._step_clock, 1),
            (self._skew_clock, 1),
            (self._take_registry_down, 0.6),
            (self._shut_down, 1.5),
            (self._make_crashes, 0.7),
            (self._change_run_time, 1),
            (self._step_all_clocks, 0.15),
        )

    def act(self) -> None:
        """Let something happen."""
        moves, weights = zip(*self._moves, strict=True)
        self._rng.choices(moves, weights)[0]()

    def heal_due(self) -> None:
        """End the misfortunes whose time is over."""
        now = self._world.clock.boot()
        for moment in [one for one in self._pending if one[0] <= now]:
            self._pending.remove(moment)
            moment[1]()

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        self._pending.append((self._world.clock.boot() + seconds, action))

    def _some(self) -> Member | None:
        members = [member for member in self._world.living() if member.is_joined]
        return self._rng.choice(members) if members else None

    def _duration_s(self) -> float:
        """Return how long something lasts: mostly around the session time-out, where it matters."""
        return TIMEOUT_S * self._rng.choice([0.1, 0.3, 0.7, 0.9, 1.1, 1.5, 3.0])

    # Processes

    def _start(self) -> None:
        if len(self._world.living()) < MAX_MEMBERS:
            self._name_count += 1
            self.start(f"e{self._name_count}", self._rng.choice(HOSTS))

    def start(self, name: str, host: str) -> None:
        """Start an executor's process."""
        offset_s = self._rng.choice([0.0, 0.0, self._rng.uniform(-20, 20)])
        handlers = self._rng.choice([("h1", "h2"), ("h1", "h2"), ("h1",)])
        self._world.tell(f"start {name} on {host}, clock {offset_s:+.1f} s, handlers {handlers}")
        self._world.add_member(name, host, offset_s=offset_s, slots=self._rng.choice([1, 2, 3, 16]), handlers=handlers)

    def _start_again(self) -> None:
        dead = [member for member in self._world.members if member.is_dead]
        living = {member.name for member in self._world.living()}
        dead = [member for member in dead if member.name not in living]
        if dead and len(living) < MAX_MEMBERS:
            member = self._rng.choice(dead[-3:])
            self.start(member.name, member.host if self._rng.random() < 0.6 else "elsewhere")

    def _crash(self) -> None:
        member = self._some()
        if member is not None:
            self._world.tell(f"{member.name} crashes")
            member.die()

    def _shut_down(self) -> None:
        member = self._some()
        if member is not None:
            self._world.tell(f"{member.name} is asked to stop")
            member.shut_down(self._rng.choice([0.0, 2.0, 8.0]))

    def _freeze(self) -> None:
        member = self._some()
        if member is not None and member.clock.boot() >= member.frozen_until:
            seconds = self._duration_s()
            is_told = self._rng.random() < 0.5
            self._world.tell(f"{member.name} freezes for {seconds:.1f} s, {'link cut' if is_told else 'link open'}")
            member.frozen_until = member.clock.boot() + seconds
            if is_told:
                member.registry.disconnect()
                self._later(seconds, lambda: self._reconnect(member))

    def _make_crashes(self) -> None:
        self._world.crashes = 0.02
        self._later(self._duration_s(), lambda: setattr(self._world, "crashes", 0.0))

    def _change_run_time(self) -> None:
        self._world.run_s = self._rng.choice([0.05, 0.5, 2.0, 6.0])

    # Links

    def _reconnect(self, member: Member) -> None:
        if not member.is_dead and not self._world.is_down:
            member.registry.reconnect()

    def _cut(self) -> None:
        member = self._some()
        if member is not None:
            seconds = self._duration_s()
            self._world.tell(f"{member.name} is cut off for {seconds:.1f} s")
            member.registry.disconnect()
            self._later(seconds, lambda: self._reconnect(member))

    def _make_flaky(self) -> None:
        member = self._some()
        if member is not None:
            share, seconds = self._rng.choice([0.1, 0.3, 0.6, 1.0]), self._duration_s()
            self._world.tell(f"{member.name} gets no answer to {share:.0%} for {seconds:.1f} s")
            self._world.flaky[member.name] = share
            self._later(seconds, lambda: self._world.flaky.update({member.name: 0.0}))

    def _make_deaf(self) -> None:
        member = self._some()
        if member is not None:
            seconds = self._duration_s()
            self._world.tell(f"{member.name} hears of no change for {seconds:.1f} s")
            member.deaf_until = member.clock.boot() + seconds

    def _take_registry_down(self) -> None:
        world, seconds = self._world, self._duration_s() * 2
        if world.is_down:
            return
        world.tell(f"the registry is down for {seconds:.1f} s")
        world.is_down = True
        for member in world.living():
            member.registry.disconnect()
        self._later(seconds, self.bring_registry_up)

    def bring_registry_up(self) -> None:
        """Have the servers answer again; sessions are as they were, since their time stood still."""
        world = self._world
        if world.is_down:
            world.tell("the registry is up again")
            world.is_down = False
            world.store.restart()
            for member in world.living():
                member.registry.reconnect()

    # Clocks

    def _skew_clock(self) -> None:
        member = self._some()
        if member is not None:
            member.clock.offset_s = max(-20.0, min(20.0, member.clock.offset_s + self._rng.uniform(-1.5, 1.5)))

    def _step_clock(self) -> None:
        member = self._some()
        if member is not None:
            step_s = self._rng.choice([-3.0, 3.0, -15.0, 15.0, -90.0, 90.0, -3600.0, 3600.0])
            self._world.tell(f"{member.name}: clock stepped by {step_s:+.0f} s")
            member.clock.offset_s += step_s
            self._later(self._duration_s() * 2, lambda: setattr(member.clock, "offset_s", 0.0))

    def _step_all_clocks(self) -> None:
        """Set all clocks back for good, the registry's too: what was fired is fired again, by design."""
        world = self._world
        step_s = self._rng.choice([-2.0, -40.0, -120.0, -86_400.0])
        world.tell(f"all clocks are stepped by {step_s:+.0f} s")
        world.judge.can_rewind = True
        world.judge.relived_until = world.clock.now() + RELIVED
        world.clock.step_wall(step_s)

    def heal(self) -> None:
        """End all misfortune, and see to it that somebody can work."""
        world = self._world
        self._pending.clear()
        self.bring_registry_up()
        world.is_calm = True
        world.flaky.clear()
        world.crashes = 0.0
        world.run_s = 0.1
        for member in world.living():
            member.frozen_until = member.deaf_until = 0.0
            member.loop._slots = 16
            member.clock.offset_s = max(-1.0, min(1.0, member.clock.offset_s))
            member.registry.reconnect()
        working = [one for one in world.living() if one.stop_at is None]
        if not any(len(one.membership.record.handlers) > 1 for one in working):
            world.add_member("last", "host9", offset_s=0.0, slots=16, handlers=("h1", "h2"))
