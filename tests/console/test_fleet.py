"""The fleet as the console sees it: when the registry is away, slow, or back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from console.fleet import Fleet, Link
from shardsched.admin import Admin
from shardsched.admin.live import LiveFleet
from shardsched.clock import SYSTEM_CLOCK
from shardsched.core.paths import Paths
from shardsched.errors import RegistryUnavailableError
from shardsched.testing import MemoryRegistry, MemoryStore
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.console.site import Site


class Line:
    """A way to a registry that a test cuts."""

    def __init__(self) -> None:
        self.registry = MemoryRegistry(MemoryStore(SYSTEM_CLOCK))
        self.registry.open()
        self.is_cut = False
        self.gate = threading.Event()
        self.gate.set()
        self.looks = 0

    def connect(self) -> Link:
        """Reach it, unless it is cut; wait at the gate."""
        if self.is_cut:
            raise RegistryUnavailableError("it is cut")
        live = LiveFleet(self.registry, Paths("fleet"))
        really_look = live.look

        def look() -> object:
            self.looks += 1
            self.gate.wait(10)
            if self.is_cut:
                raise RegistryUnavailableError("it is cut")
            return really_look()

        live.look = look  # type: ignore[method-assign, assignment]  # the registry's answers, as the test wants them
        return Link(admin=Admin(self.registry, Paths("fleet")), live=live, close=self.registry.close)


@pytest.fixture
def line() -> Line:
    """A way to a registry."""
    return Line()


@pytest.fixture
def fleet(line: Line) -> Iterator[Fleet]:
    """A view of the fleet by that way."""
    made = Fleet(line.connect, SYSTEM_CLOCK)
    yield made
    line.gate.set()
    made.close()


def test_fleet_is_read_when_somebody_looks(fleet: Fleet, line: Line) -> None:
    """And not before."""
    assert line.looks == 0
    sight = fleet.sight()
    assert (sight.number, sight.fault) == (1, None)
    assert sight.status is not None
    assert fleet.sight(fresh=True).number > 1


def test_fleet_keeps_what_it_saw_while_the_registry_is_away(fleet: Fleet, line: Line) -> None:
    """With its age and the reason, and refuses to change anything; then all goes on by itself."""
    seen = fleet.sight()
    assert fleet.admin().jobs.names() == ()
    line.is_cut = True
    eventually(lambda: fleet.sight(fresh=True).fault is not None)
    away = fleet.sight()
    assert (away.status is not None, away.read_at is not None, away.fault) == (True, True, "it is cut")
    assert away.number >= seen.number
    with pytest.raises(RegistryUnavailableError, match="it is cut"):
        fleet.admin()
    line.is_cut = False
    assert eventually(lambda: fleet.sight(fresh=True).fault is None)
    assert fleet.admin().jobs.names() == ()


def test_fleet_begins_without_a_registry(line: Line) -> None:
    """The console starts, says why it shows nothing, and finds the registry when it comes."""
    line.is_cut = True
    fleet = Fleet(line.connect, SYSTEM_CLOCK)
    sight = fleet.sight()
    assert (sight.status, sight.fault) == (None, "it is cut")
    line.is_cut = False
    assert eventually(lambda: fleet.sight(fresh=True).status is not None)
    fleet.close()


def test_request_never_hangs_on_a_silent_registry(fleet: Fleet, line: Line) -> None:
    """It gets what there is; one thread alone waits for the registry."""
    line.gate.clear()
    sight = fleet.sight(wait_s=0.05)
    assert sight.status is None
    for _ in range(20):
        fleet.sight(wait_s=0.01)
    assert line.looks == 1


def test_pages_tell_that_the_registry_is_away(site: Site) -> None:
    """A banner on every page; signing in works."""
    site.is_registry_away = True
    browser = site.client("viewer")
    site.parts.fleet.sight()
    text = browser.get("/profile").text
    assert "nothing can be changed here until it is back" in text
    assert "says the test" in text
    assert browser.get("/readyz").status_code == 503
    assert browser.get("/healthz").status_code == 200
    assert "shardsched_registry_up 0.0" in browser.get("/metrics").text


def test_metrics_are_for_this_machine_and_for_tokens(site: Site) -> None:
    """What comes through a proxy comes from elsewhere."""
    client = site.app.test_client()
    headers = site.token("viewer")
    assert client.get("/metrics").status_code == 200
    far = {"X-Forwarded-For": "203.0.113.9"}
    assert client.get("/metrics", headers=far).status_code in {302, 401}
    assert client.get("/metrics", headers=far | headers).status_code == 200
    assert client.get("/metrics", environ_base={"REMOTE_ADDR": "203.0.113.9"}).status_code in {302, 401}
