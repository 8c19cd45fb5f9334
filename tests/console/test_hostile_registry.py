"""A registry in which somebody wrote by hand, or that lost a node: every page is shown, and what is there can be removed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from markupsafe import escape

from shardsched.registry.base import Delete
from tests.console.crew import Crew
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask.testing import FlaskClient

    from tests.console.site import Site

PAGES = (
    "/overview",
    "/map",
    "/map/table",
    "/map/item?job=x&item=0",
    "/live",
    "/jobs",
    "/jobs/x",
    "/jobs/x/runs",
    "/jobs/x/checkpoints",
    "/jobs/x/edit",
    "/jobs/x/delete",
    "/jobs/x/revisions",
    "/jobs/y",
    "/jobs:new?from=x",
    "/jobs:export",
    "/executors",
    "/executors/e1",
    "/search?q=x",
    "/metrics",
    "/api/v1/jobs",
    "/api/v1/jobs/x",
    "/api/v1/jobs/x/items",
    "/api/v1/jobs/x/items/0",
    "/api/v1/jobs/x/next-fires",
    "/api/v1/executors",
    "/api/v1/executors/e1",
    "/api/v1/shard-map",
)
NODES: dict[str, Callable[[Crew], str]] = {
    "job": lambda crew: crew.paths.job("x"),
    "assignment": lambda crew: crew.paths.assignment("x"),
    "commands": lambda crew: crew.paths.commands("x"),
    "fires": lambda crew: crew.paths.fires("x"),
    "cursor": lambda crew: crew.paths.cursor("x", 0),
    "marker": lambda crew: crew.paths.marker("x", 0),
    "checkpoint": lambda crew: crew.paths.checkpoint("x", 1),
    "executor": lambda crew: crew.paths.executor("e1"),
    "load": lambda crew: crew.paths.load("e1"),
    "drained": lambda crew: crew.paths.drained("e1"),
    "leader": lambda crew: crew.paths.leader,
    "session": lambda crew: crew.paths.session(crew.actors["e1"].record.incarnation),
}
GARBAGE = (
    b"",
    b"\x00\xff",
    b"[" * 50_000,
    b'{"format": 1' + b"0" * 5_000 + b"}",
    b'{"format": 1, "x": "' + b"a" * 500_000,
)
"""One for each node in turn: what any of them does to a record is tried with the records themselves."""


@pytest.fixture
def crew(site: Site) -> Crew:
    """A fleet with a job that runs, and one that fires after it."""
    crew = Crew(site)
    crew.join("e1")
    crew.join("e2")
    crew.lead("e1")
    crew.job("x", {"e1": (0, 1), "e2": (2,)}, items=3)
    crew.job("y", {"e1": (0,)}, after=["x"], cron="")
    crew.claim("x", 0, "e1")
    crew.write_cursor("x", 1)
    crew.save("x", 1, '{"a": 1}')
    crew.show()
    return crew


@pytest.fixture
def browser(site: Site) -> FlaskClient:
    """An admin's."""
    return site.client("admin")


def broken(site: Site, browser: FlaskClient) -> list[tuple[str, int]]:
    """Return the pages that are not shown, once the console has looked at all there is."""
    site.parts.fleet.attend("x")
    sight = site.parts.fleet.sight(fresh=True)
    codes = [(path, browser.get(path, buffered=True).status_code) for path in PAGES]
    return [(path, code) for path, code in codes if code not in {200, 304, 404}] + (
        [(sight.fault, 0)] if sight.fault else []
    )


@pytest.mark.parametrize(
    "nodes",
    [
        ("cursor", "marker", "checkpoint", "fires", "load", "drained"),
        ("assignment", "commands", "session", "leader"),
        ("job", "executor"),
    ],
)
def test_nodes_that_are_garbage_or_gone_break_no_page(
    site: Site, crew: Crew, browser: FlaskClient, nodes: tuple[str, ...]
) -> None:
    """They are shown as what they are: not to be read, or missing."""
    paths = [NODES[node](crew) for node in nodes]
    for path, value in zip(paths, itertools.cycle(GARBAGE), strict=False):
        crew.put(path, value)
    assert broken(site, browser) == []
    crew.registry.transact([Delete(path) for path in paths])
    assert broken(site, browser) == []


@pytest.mark.parametrize("name", ["<img src=x>", "..%2f..", '"q"\'s', "a?b#c&d=%"])
def test_job_of_a_name_that_somebody_made_up_can_be_removed(
    site: Site, crew: Crew, browser: FlaskClient, name: str
) -> None:
    """It is listed, shown, and deleted like any other, by page and by API."""
    place = f"/jobs/{quote(name, safe='')}"
    for is_readable in (True, False):
        stored = crew.registry.get(crew.paths.job("y"), fresh=True)
        assert stored is not None
        crew.put(crew.paths.job(name), stored.value if is_readable else b"?")
        assert eventually(lambda: escape(name) in browser.get("/jobs").text)
        for path in (place, f"{place}/edit", f"{place}/delete", f"/api/v1{place}", f"/search?q={quote(name)}"):
            assert browser.get(path).status_code == 200, path
        if is_readable:
            answer = site.post(browser, f"{place}/delete", confirm=name)
            assert answer.headers.get("Location") == "/jobs", answer.text
        else:
            tag = browser.get(f"/api/v1{place}").headers["ETag"]
            headers = {"If-Match": tag, "X-CSRFToken": site.csrf(browser)}
            assert browser.delete(f"/api/v1{place}", headers=headers).status_code == 200
        assert crew.registry.get(crew.paths.job(name), fresh=True) is None
