"""Whether a wall clock may decide what is due."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from shardsched.errors import RegistryUnavailableError
from shardsched.loop.wall_clock import STEP_S, WallClock
from shardsched.testing import FakeClock

LIMIT_S = 60.0


class Servers:
    """The registry's clock, and how often it was asked."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.count = 0
        self.is_away = False

    def time(self) -> datetime:
        """Return the time, or fail."""
        self.count += 1
        if self.is_away:
            raise RegistryUnavailableError("no answer")
        return self.clock.now()


@pytest.fixture
def servers() -> Servers:
    """A registry's clock."""
    return Servers()


@pytest.fixture
def clock() -> FakeClock:
    """An executor's clock."""
    return FakeClock()


@pytest.fixture
def wall(clock: FakeClock, servers: Servers) -> WallClock:
    """The trust in it."""
    return WallClock(clock, servers.time, LIMIT_S)


def test_wall_clock_is_compared_once(wall: WallClock, clock: FakeClock, servers: Servers) -> None:
    """A clock that agrees is trusted without asking again, as long as it only runs on."""
    for _ in range(5):
        assert wall.is_right(clock.now())
        clock.advance(1000.0)
    assert servers.count == 1


@pytest.mark.parametrize(("step_s", "is_right"), [(-3600.0, False), (61.0, False), (59.0, True), (-3.0, True)])
def test_wall_clock_that_was_stepped_is_compared_again(
    wall: WallClock, clock: FakeClock, servers: Servers, step_s: float, *, is_right: bool
) -> None:
    """After a step the clock is trusted only if the registry's agrees within the limit."""
    wall.is_right(clock.now())
    clock.step_wall(step_s)
    assert wall.is_right(clock.now()) is is_right
    assert servers.count == 2


def test_wall_clock_that_is_off_is_asked_about_until_it_is_mended(
    wall: WallClock, clock: FakeClock, servers: Servers
) -> None:
    """A clock that is off is not trusted until it agrees again, and then at once."""
    clock.step_wall(300.0)
    assert not wall.is_right(clock.now())
    assert not wall.is_right(clock.now())
    clock.step_wall(-300.0)
    assert wall.is_right(clock.now())
    assert servers.count == 3


def test_wall_clock_without_an_answer_is_not_trusted(wall: WallClock, clock: FakeClock, servers: Servers) -> None:
    """As long as nobody can say whether a stepped clock is right, nothing may be decided by it."""
    wall.is_right(clock.now())
    clock.step_wall(5.0)
    servers.is_away = True
    for _ in range(2):
        with pytest.raises(RegistryUnavailableError):
            wall.is_right(clock.now())
    servers.is_away = False
    assert wall.is_right(clock.now())


@pytest.mark.parametrize("drift_s", [-50.0, 0.0, 50.0])
def test_wall_clock_tells_how_far_ahead_others_may_write(
    wall: WallClock, clock: FakeClock, servers: Servers, drift_s: float
) -> None:
    """Nothing that a clock within the limit wrote lies further ahead than said, and not much beyond it is taken."""
    clock.step_wall(drift_s)
    assert wall.is_right(clock.now())
    furthest = servers.clock.now() + timedelta(seconds=LIMIT_S)
    assert furthest <= clock.now() + timedelta(seconds=wall.ahead_s)
    assert wall.ahead_s == pytest.approx(LIMIT_S - drift_s + STEP_S)
