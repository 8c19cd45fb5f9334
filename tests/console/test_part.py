"""Parts that keep themselves up to date: not made again while nothing changes, and never stale."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from flask import template_rendered
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from console import part
from console.job_list import make_row
from shardsched.core.attention import COLD_S
from shardsched.core.fire import ItemState
from tests.console.run_stage import Stage as RunStage
from tests.console.troupe import Troupe
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flask.testing import FlaskClient

    from tests.console.site import Site

PART = {"HX-Request": "true"}
FLEET_PARTS = (
    "/map",
    "/overview",
    "/jobs",
    "/jobs/news",
    "/executors",
    "/executors/crawler-a",
    "/map/item?job=news&item=1",
)
LOADED_LATER = ("/jobs/news/runs", "/jobs/news/checkpoints")
HISTORY_PARTS = ("/executions", "/statistics", "/audit", "/executions/r1", *LOADED_LATER)
MAX_QUERIES = {"/statistics": 16, "/overview": 4}
"""Of the database for a part; of others two, besides finding out who asks."""


@pytest.fixture
def troupe(site: Site) -> Iterator[Troupe]:
    """Two executors, the first leads, and a job of three items."""
    made = Troupe(site)
    made.assemble()
    made.job("news", {"crawler-a": (0, 2), "crawler-b": (1,)}, items=3)
    yield made
    made.close()


@pytest.fixture
def runs(site: Site, troupe: Troupe) -> Iterator[RunStage]:
    """A run that is over, and one that is not."""
    stage = RunStage(site)
    stage.keep(stage.run(run_id="r1"), stage.running(run_id="r2", item=1))
    yield stage
    stage.close()


def tag(browser: FlaskClient, path: str) -> str:
    """Return the tag of a part as it is now."""
    answer = browser.get(path, headers=PART)
    assert answer.status_code == 200, answer.text
    return str(answer.headers["HX-PTag"])


def settle(site: Site, troupe: Troupe) -> None:
    """Have the console see what was changed, also where it would have no reason to look."""
    stored = {name: troupe.admin.jobs.entry(name) for name in troupe.admin.jobs.names()}

    def seen() -> bool:
        site.clock.advance(COLD_S + 1)
        sight = site.parts.fleet.sight(fresh=True)
        known = {job.entry.name: job.entry for job in sight.status.jobs} if sight.status else {}
        return known == stored and sight.picture is not None and sight.picture.is_filled

    assert eventually(seen)


@contextmanager
def counted(site: Site) -> Iterator[list[str]]:
    """Keep the templates that are rendered and the statements that are sent to the database."""
    found: list[str] = []

    def note_template(_app: Any, template: Any, **_values: Any) -> None:
        found.append(str(template.name))

    def note_statement(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        if "console_sessions" not in statement and "history_version" not in statement:
            found.append(f"sql {statement}")

    with template_rendered.connected_to(note_template, site.app):
        event.listen(Engine, "before_cursor_execute", note_statement)
        yield found
        event.remove(Engine, "before_cursor_execute", note_statement)


def test_unchanged_part_is_not_made_again(site: Site, troupe: Troupe, runs: RunStage) -> None:
    """While time passes, and for the page's own first poll too; with few statements to the database."""
    browser = site.client("admin")
    settle(site, troupe)
    for path in (*FLEET_PARTS, *HISTORY_PARTS):
        known = tag(browser, path)
        if path not in LOADED_LATER:
            assert f'hx-ptag="{known}"' in browser.get(path).text, path
        site.clock.advance(3)
        with counted(site) as made:
            answer = browser.get(path, headers=PART | {"HX-PTag": known})
        assert (answer.status_code, answer.data) == (304, b""), path
        assert [one for one in made if not one.startswith("sql ")] == [], path
        assert len(made) <= MAX_QUERIES.get(path, 2), (path, made)


CHANGES: dict[str, Callable[[Site, Troupe], Any]] = {
    "state": lambda _, troupe: troupe.admin.jobs.pause("news"),
    "owner": lambda _, troupe: troupe.assign("news", {"crawler-b": (0, 1, 2)}),
    "item": lambda _, troupe: troupe.claim("news", 1, "crawler-b"),
    "outcome": lambda _, troupe: troupe.write_cursor("news", 1, state=ItemState.FAILED, message="HTTP 503"),
    "next fire": lambda site, _: site.clock.advance(3600),
    "executor": lambda _, troupe: troupe.leave("crawler-b"),
    "fault": lambda site, _: site.parts.fleet._link.close(),  # type: ignore[union-attr]
}
_EXECUTORS = ("/executors", "/executors/crawler-a")
UNTOUCHED = {
    "state": _EXECUTORS,
    "owner": ("/overview",),
    "item": ("/executors/crawler-a",),
    "outcome": _EXECUTORS,
    "next fire": (*_EXECUTORS, "/map"),
}
"""Where a change does not show; a tag may change all the same."""


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_in_the_fleet_changes_the_tag(site: Site, troupe: Troupe, change: str) -> None:
    """On every page that shows it."""
    browser = site.client("operator")
    settle(site, troupe)
    before = {path: tag(browser, path) for path in FLEET_PARTS}
    CHANGES[change](site, troupe)
    shown = [path for path in FLEET_PARTS if path not in UNTOUCHED.get(change, ())]

    def unchanged() -> list[str]:
        site.clock.advance(1)
        site.parts.fleet.sight(fresh=True)
        return [path for path in shown if tag(browser, path) == before[path]]

    assert eventually(lambda: not unchanged()), change


def _are_alike(one: FlaskClient, other: FlaskClient, path: str) -> bool:
    """Whether two see the same; the thread that looks may see something new between their requests."""
    return tag(one, path) == tag(other, path)


def test_who_looks_and_where_changes_the_tag(site: Site, troupe: Troupe) -> None:
    """Role, language, zone, filters and page do; the forgery token and the theme do not."""
    settle(site, troupe)
    browser = site.client("viewer")
    for path in (*FLEET_PARTS, "/executions?top=2026-01-01", "/statistics"):
        first = tag(browser, path)
        more = "&" if "?" in path else "?"
        others = [
            tag(browser, f"{path}{more}page=2"),
            tag(browser, f"{path}{more}q=x"),
            tag(site.client("operator"), path),
        ]
        for cookie, value in (("language", "zh_Hans"), ("zone", "Asia/Tokyo")):
            browser.set_cookie(cookie, value)
            others.append(tag(browser, path))
            browser.delete_cookie(cookie)
        assert len({first, *others}) == 1 + len(others), path
        again = site.client("viewer")
        again.set_cookie("theme", "dark")
        eventually(partial(_are_alike, again, browser, path))


def test_part_is_made_of_what_changed_in_history(site: Site, runs: RunStage) -> None:
    """A run that ends, one that is new, a rate."""
    browser = site.client("admin")
    paths = ("/executions?top=2026-01-01", "/executions/r2", "/jobs/news/runs")
    before = {path: tag(browser, path) for path in paths}
    runs.keep(replace(runs.running(run_id="r2", item=1), outcome="failed", ended_at=runs.now, duration_s=3.0))
    assert [path for path in paths[1:] if tag(browser, path) == before[path]] == []
    first = tag(browser, "/executions")
    runs.keep(runs.run(run_id="r3", queued_at=runs.now))
    assert tag(browser, "/executions") != first


def test_row_of_a_job_stays_until_the_job_changes(site: Site, troupe: Troupe) -> None:
    """One that was looked at again and is as before is the same; its key changes with anything of it."""
    browser = site.client("viewer")
    settle(site, troupe)
    browser.get("/jobs")
    keys = []
    for _ in range(2):
        settle(site, troupe)
        row = site.parts.jobs.row(site.parts.fleet.sight(), "news")
        assert row is not None
        keys.append(row.shown_key)
        assert row._replace(shown_key=0) == make_row(row.status)
    assert keys[0] == keys[1]
    troupe.write_cursor("news", 2, state=ItemState.DONE, message="a word that no list shows")
    settle(site, troupe)
    changed = site.parts.jobs.row(site.parts.fleet.sight(), "news")
    assert changed is not None
    assert changed.shown_key != keys[0]


class Kind(StrEnum):
    """Some kind."""

    ONE = "one"


@dataclass(frozen=True)
class Thing:
    """Some value."""

    name: str
    parts: tuple[Any, ...] = ()


class Pair(NamedTuple):
    """Some pair."""

    left: Any
    right: Any


_TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - as it is wanted
_ATOMS = st.none() | st.text(max_size=3) | st.integers(2, 5) | _TIMES | st.timedeltas()
_VALUES = st.recursive(
    _ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.builds(Pair, inner, inner)
        | st.builds(Thing, st.text(max_size=2), st.lists(inner, max_size=2).map(tuple))
    ),
    max_leaves=8,
)


@given(_VALUES, _VALUES)
def test_values_are_told_apart(one: Any, other: Any) -> None:
    """What is written alike is alike."""
    written = [repr(part.plain(value)) for value in (one, other)]
    if one == other and type(one) is type(other):
        assert part.plain(one) == part.plain(other)
    if written[0] == written[1]:
        assert _bare(one) == _bare(other)


def _bare(value: Any) -> Any:
    """Return a value without the names of its classes, which a template does not show."""
    if isinstance(value, Thing):
        return (value.name, _bare(value.parts))
    if isinstance(value, dict):
        return tuple((key, _bare(each)) for key, each in value.items())
    return tuple(map(_bare, value)) if isinstance(value, tuple) else value


def test_kinds_of_values() -> None:
    """Those that need a rule have one; what has none is refused rather than shown stale."""
    assert part.plain({"code": Kind.ONE, "call": len, "set": frozenset({2, 1})}) == (
        ("code", "one"),
        ("call", None),
        ("set", ["1", "2"]),
    )
    assert part.plain(timedelta(1)) != part.plain(timedelta(2))
    with pytest.raises(TypeError, match="object"):
        part.plain([object()])
