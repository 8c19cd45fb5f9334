"""Executors: listed, shown with their last hour, drained, failed over, given items again and forgotten."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console.load_ring import LoadRing
from shardsched.core.executor import LoadReport
from shardsched.history.filter import EventFilter
from shardsched.people.audit import AuditFilter
from tests.console.run_stage import HOSTILE, LONG, Stage
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.console.site import Site


def seen(site: Site) -> list[str]:
    """The executors that the console has seen by now."""
    status = site.parts.fleet.sight(fresh=True).status
    return [one.name for one in status.executors] if status and status.leader else []


@pytest.fixture
def stage(site: Site) -> Iterator[Stage]:
    """A fleet of two, of which the second leads."""
    made = Stage(site)
    made.executor("crawler-a", labels={"region": "eu"})
    made.executor("crawler-b", is_leader=True)
    eventually(lambda: seen(site) == ["crawler-a", "crawler-b"], timeout_s=20)
    yield made
    made.close()


def test_list_shows_all_and_filters_find_some(site: Site, stage: Stage) -> None:
    """By name, host or label, and by state; the leader is told apart not by colour alone."""
    stage.executor("crawler-z", labels={"note": HOSTILE}, host=HOSTILE)
    eventually(lambda: "crawler-z" in seen(site), timeout_s=20)
    browser = site.client("viewer")
    page = browser.get("/executors").text
    assert "note=&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img src=x" not in page
    assert len(re.findall("<tr data-row ", page)) == 3
    assert page.count('<span class="only-read">Leader</span>') == 1
    assert len(re.findall("<tr data-row ", browser.get("/executors?q=REGION%3Deu").text)) == 1
    assert "No executor matches" in browser.get("/executors?state=drained").text
    assert "No executor matches" in browser.get(f"/executors?q={LONG[:150]}").text


def test_no_executor_says_what_to_do(site: Site) -> None:
    """Nothing runs then, so the next step is told."""
    assert "shardsched run MODULE" in site.client("viewer").get("/executors").text


def test_registry_that_is_away_is_told_of(site: Site) -> None:
    """The pages answer, and what would change something says why not."""
    site.is_registry_away = True
    browser = site.client("operator")
    assert "Nothing has been seen yet" in browser.get("/executors").text
    assert browser.get("/executors/crawler-a").status_code == 503
    assert site.post(browser, "/executors/crawler-a/drain").status_code == 503


def test_one_shows_its_last_hour_and_what_happened(site: Site, stage: Stage) -> None:
    """Charts as far as the console has looked, each with a table; events newest first."""
    site.parts.loads.close()  # by itself it would take a report of the present before those of the past
    browser = site.client("viewer")
    assert "No reports yet" in browser.get("/executors/crawler-a").text
    for second in range(0, 7200, 10):
        at = stage.now - timedelta(seconds=7200 - second)
        site.parts.loads.add({"crawler-a": LoadReport(at=at, running=second // 10 % 5, cpu=0.5, memory_mb=80.0)})
    stage.event("executor_joined", executor="crawler-a", message="joined the fleet")
    stage.event("executor_joined", executor="crawler-b", message="of another")
    page = browser.get("/executors/crawler-a").text
    assert len(site.parts.loads.reports("crawler-a")) == 360
    assert page.count("data-chart=") == 5
    assert page.count("Show as table") == 5
    assert "joined the fleet" in page
    assert "of another" not in page
    assert browser.get("/executors/nobody").status_code == 404


def test_loads_are_sampled_once_somebody_looked(site: Site, stage: Stage) -> None:
    """Reports of all executors are taken while the registry is open, and those of the last hour are kept."""
    ring = LoadRing(site.parts.fleet, site.clock)
    ring.start()
    site.parts.fleet.sight(fresh=True)
    eventually(lambda: len(ring.reports("crawler-a")) == 1, timeout_s=20)
    assert ring.since == stage.now
    ring.close()
    site.clock.advance(3700)
    ring.add({})
    assert ring.reports("crawler-a") == ()


def test_executor_is_drained_with_undo(site: Site, stage: Stage) -> None:
    """It says who and why; audit and history know of it; doing it twice is doing it once."""
    browser = site.client("operator")
    assert site.post(browser, "/executors/crawler-a/drain", reason="kernel").status_code == 302
    page = browser.get("/executors/crawler-a").text
    assert "Drained by operator-person · kernel" in page
    assert "It is drained already." in page
    assert "/executors/crawler-a/undrain" in page
    [entry] = site.people.audit.page(AuditFilter(action="executor.drain"))
    assert (entry.object, entry.reason, entry.after) == ("crawler-a", "kernel", {"drained": True, "now": False})
    [event] = site.history.events(EventFilter(executor="crawler-a")).rows
    assert (event.kind, event.by, event.message) == ("command_drain", "operator-person", "kernel")
    assert site.post(browser, "/executors/crawler-a/failover").status_code == 302
    [mark] = [one.drain for one in site.parts.fleet.admin().status().executors if one.name == "crawler-a"]
    assert mark is not None
    assert mark.now
    assert site.post(browser, "/executors/crawler-a/undrain").status_code == 302
    assert site.post(browser, "/executors/crawler-a/undrain").status_code == 302
    kinds = [event.kind for event in site.history.events(EventFilter(executor="crawler-a")).rows]
    assert sorted(kinds) == ["command_drain", "command_drain", "command_undrain"]


def test_only_one_that_is_gone_can_be_forgotten(site: Site, stage: Stage) -> None:
    """Its name must be typed; one that lives is refused."""
    stage.executor("crawler-c")
    browser = site.client("operator")
    site.post(browser, "/executors/crawler-c/drain")
    assert site.post(browser, "/executors/crawler-c/forget", confirm="crawler-c").status_code == 409
    stage.registry.transact([stage.delete(site.paths.executor("crawler-c"))])
    assert site.post(browser, "/executors/crawler-c/forget", confirm="crawler").status_code == 422
    assert site.post(browser, "/executors/crawler-c/forget", confirm="crawler-c").status_code == 302
    assert site.post(browser, "/executors/crawler-c/forget", confirm="crawler-c").status_code == 404
    assert "crawler-c" not in browser.get("/executors").text.split("<tbody>")[1]


def test_viewer_sees_actions_that_say_what_they_need(site: Site, stage: Stage) -> None:
    """Nothing is hidden by role."""
    page = site.client("viewer").get("/executors/crawler-a").text
    assert page.count("Needs the role Operator") >= 4
