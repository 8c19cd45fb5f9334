"""Which jobs a list shows, and in which order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from shardsched.core.fire import Cause, ItemState
from tests.console.crew import Crew

if TYPE_CHECKING:
    from tests.console.site import Site

_ROW = re.compile(r'name="names" value="([^"]*)"')


@pytest.fixture
def crew(site: Site) -> Crew:
    """A fleet with a job of each kind."""
    crew = Crew(site)
    crew.join("crawler-a")
    crew.lead("crawler-a")
    crew.join("crawler-b")
    crew.job("books", {"crawler-a": (0, 1)}, items=2, description="All the shelves")
    crew.job("failing", {"crawler-a": (0,), "crawler-b": (1,)}, items=2)
    crew.write_cursor("failing", 1, state=ItemState.FAILED, message="RuntimeError: 503")
    crew.job("asleep", {"crawler-b": (0,)}, paused=True)
    crew.job("alone", {}, handler="@http", task={"url": "https://shop.example/"})
    crew.job("busy", {"crawler-a": (0,)}, cron="*/5 * * * *", disabled_items=())
    crew.claim("busy", 0, "crawler-a", cause=Cause.FAILOVER)
    crew.job("partly", {"crawler-a": (0, 1)}, items=2, disabled_items=[1])
    crew.put(crew.paths.job("broken"), b"{")
    crew.show()
    return crew


def listed(site: Site, query: str = "") -> list[str]:
    """The jobs on a page of the list, in order."""
    return _ROW.findall(site.client("viewer").get(f"/jobs{query}").text)


@pytest.mark.usefixtures("crew")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["alone", "asleep", "books", "broken", "busy", "failing", "partly"]),
        ("?q=SHELVES", ["books"]),
        ("?q=shop.example", []),
        ("?q=@http", ["alone"]),
        ("?state=paused", ["asleep"]),
        ("?state=running", ["busy"]),
        ("?state=held", ["broken"]),
        ("?state=unowned", ["alone"]),
        ("?kind=@http", ["alone"]),
        ("?kind=code&q=b", ["books", "busy"]),
        ("?executor=crawler-b", ["asleep", "failing"]),
        ("?executor=nobody", []),
        ("?problem=failing", ["failing"]),
        ("?problem=disabled", ["partly"]),
        ("?problem=any", ["alone", "broken", "failing"]),
        ("?problem=failing&executor=crawler-b&state=enabled", ["failing"]),
        ("?sort=-name", ["partly", "failing", "busy", "broken", "books", "asleep", "alone"]),
        ("?sort=state", ["broken", "alone", "failing", "partly", "books", "busy", "asleep"]),
        ("?sort=nonsense&page=x", ["alone", "asleep", "books", "broken", "busy", "failing", "partly"]),
    ],
)
def test_list_shows_what_its_filters_take(site: Site, query: str, names: list[str]) -> None:
    """Alone and together, in the order that is asked for."""
    assert listed(site, query) == names


@pytest.mark.usefixtures("crew")
def test_next_fire_orders_jobs(site: Site) -> None:
    """Those that do not fire come last."""
    assert listed(site, "?sort=next")[0] == "busy"
    assert set(listed(site, "?sort=next")[-2:]) <= {"asleep", "broken"}


def test_pages_have_each_job_once(site: Site) -> None:
    """Three pages, counted; one beyond the last says what to do."""
    crew = Crew(site)
    crew.join("crawler-a")
    for number in range(120):
        crew.job(f"job-{number:03}")
    crew.show()
    pages = [listed(site, f"?page={number}") for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [50, 50, 20]
    assert [name for page in pages for name in page] == [f"job-{number:03}" for number in range(120)]
    assert "101\u2013120 of 120" in site.client("viewer").get("/jobs?page=3").text


def test_empty_lists_say_why(site: Site, crew: Crew) -> None:
    """Nothing there, nothing that matches, nothing seen: three different sentences."""
    browser = site.client("operator")
    assert "No job matches" in browser.get("/jobs?q=nothing").text
    for name in list(crew.admin.jobs.names()):
        crew.admin.jobs.delete(name, wait_s=0)
    crew.leave("crawler-a")
    for name in list(crew.admin.jobs.names()):
        crew.admin.jobs.delete(name, wait_s=0)
    crew.show()
    assert "No job yet" in browser.get("/jobs").text


def test_part_is_not_sent_again_while_nothing_changes(site: Site, crew: Crew) -> None:
    """A look every three seconds costs next to nothing."""
    browser = site.client("viewer")
    first = browser.get("/jobs", headers={"HX-Request": "true"})
    assert "<html" not in first.text
    tag = first.headers["HX-PTag"]
    again = browser.get("/jobs", headers={"HX-Request": "true", "HX-PTag": tag})
    assert (again.status_code, again.data) == (304, b"")
    crew.write_cursor("books", 0, state=ItemState.FAILED)
    crew.show()
    assert browser.get("/jobs", headers={"HX-Request": "true", "HX-PTag": tag}).status_code == 200


@pytest.mark.parametrize("name", ["<script>alert(1)<", "..%2f..", "\u202egnp.exe", '" onmouseover="x', "x" * 300])
def test_hostile_name_is_shown_as_text(site: Site, name: str) -> None:
    """Made by hand beside the rules: it is listed, shown, and can be deleted, and is never markup."""
    crew = Crew(site)
    crew.join("crawler-a")
    crew.job("books")
    crew.put(crew.paths.job(name), crew.registry.get(crew.paths.job("books")).value)  # type: ignore[union-attr]
    crew.show()
    browser = site.client("admin")
    page = browser.get("/jobs").text
    assert "<script>alert" not in page
    assert 'value="" onmouse' not in page
    found = re.search(r'data-row-link href="(/jobs/(?!books)[^"]+)"', page)
    assert found is not None
    address = found[1]
    shown = browser.get(address)
    assert shown.status_code == 200
    assert "<script>alert" not in shown.text
    assert site.post(browser, f"{address}/delete", confirm=name).status_code == 302
    assert name not in crew.admin.jobs.names()


def test_list_stays_while_the_registry_is_away(site: Site, crew: Crew) -> None:
    """With what was last seen, its age, and no button that works."""
    browser = site.client("operator")
    assert "books" in browser.get("/jobs").text
    link = site.parts.fleet._link
    assert link is not None
    link.close()
    crew.show()
    page = browser.get("/jobs").text
    assert "The registry does not answer" in page
    assert "books" in page
    assert site.post(browser, "/jobs/books/pause").status_code == 503
