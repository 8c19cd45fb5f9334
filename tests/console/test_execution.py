"""Executions: found by filters, paged without repeats, shown with their outputs, run again and stopped."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from shardsched.core.assignment import Assignment, Layout, encode_assignment
from shardsched.history.filter import EventFilter
from shardsched.people.audit import AuditFilter
from shardsched.registry.base import Create
from tests.console.run_stage import HOSTILE, LONG, RTL, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.console.site import Site

HTMX = {"HX-Request": "true"}


@pytest.fixture
def site(make_site: Callable[..., Site], tmp_path: Path) -> Site:
    """A console whose machine has a folder of outputs."""
    return make_site(state_dir=tmp_path / "state")


@pytest.fixture
def stage(site: Site) -> Iterator[Stage]:
    """Its fleet and its past."""
    made = Stage(site)
    yield made
    made.close()


def shown(text: str) -> list[str]:
    """The ids of the runs in a list."""
    return re.findall(r'id="run-([^"]+)"', text)


def test_list_is_paged_without_gap_or_repeat_while_runs_come(site: Site, stage: Stage) -> None:
    """Three pages hold every run once, also when new ones are claimed in between; those are told of."""
    old = [
        stage.run(run_id=f"r{number:03}", queued_at=stage.now - timedelta(seconds=number + 1)) for number in range(120)
    ]
    stage.keep(*old)
    browser = site.client("viewer")
    page = browser.get("/executions").text
    seen = shown(page)
    stage.keep(stage.running(run_id="new", queued_at=stage.now + timedelta(seconds=5)))
    while (link := re.search(r'href="(/executions\?[^"]*after=[^"]+)">Older', page)) is not None:
        page = browser.get(link[1].replace("&amp;", "&")).text
        seen += shown(page)
    assert seen == [run.run_id for run in old]


def test_new_runs_are_announced_and_not_pushed_in(site: Site, stage: Stage) -> None:
    """The part that polls keeps its rows, as they are by now, and says how many are new."""
    stage.keep(stage.running(run_id="first"))
    browser = site.client("viewer")
    page = browser.get("/executions").text
    poll = re.search(r'id="runs" hx-get="([^"]+)"', page)
    assert poll is not None
    address = poll[1].replace("&amp;", "&")
    first = browser.get(address, headers=HTMX)
    assert shown(first.text) == ["first"]
    assert "new, show" not in first.text
    unchanged = browser.get(address, headers=HTMX | {"HX-PTag": first.headers["HX-PTag"]})
    assert unchanged.status_code == 304
    for number in range(12):
        stage.keep(stage.run(run_id=f"n{number}", queued_at=stage.now + timedelta(seconds=number)))
    stage.keep(replace(stage.run(run_id="first"), outcome="failed"))
    part = browser.get(address, headers=HTMX).text
    assert shown(part) == ["first"]
    assert "12 new, show" in part
    assert "Failed" in part


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("job=news", {"a", "b", "d"}),
        ("job=news&item=3", {"b"}),
        ("executor=crawler-b", {"b", "c"}),
        ("outcome=ok", {"a"}),
        ("outcome=bad", {"b", "c"}),
        ("outcome=running", {"d"}),
        ("cause=manual", {"c"}),
        ("min=60", {"c"}),
        ("min=x&item=-1&since=never", {"a", "b", "c", "d"}),
        ("outcome=nonsense", set()),
        (f"job={LONG}", set()),
    ],
)
def test_filters_in_the_address_choose_runs(site: Site, stage: Stage, query: str, found: set[str]) -> None:
    """All conditions hold together; what makes no sense is left out."""
    stage.keep(
        stage.run(run_id="a"),
        stage.run(run_id="b", item=3, executor="crawler-b", outcome="failed"),
        stage.run(run_id="c", job="prices", executor="crawler-b", outcome="timeout", cause="manual", duration_s=61.0),
        stage.running(run_id="d"),
    )
    page = site.client("viewer").get(f"/executions?{query}")
    assert set(shown(page.text)) == found
    if not found:
        assert "No run matches" in page.text
        assert "Clear filters" in page.text


def test_times_in_the_address_are_those_of_the_viewer(site: Site, stage: Stage) -> None:
    """What somebody in Shanghai types is Shanghai's time."""
    stage.keep(stage.run(run_id="a"))
    browser = site.client("viewer")
    browser.set_cookie("zone", "Asia/Shanghai")
    local = stage.now + timedelta(hours=8) - timedelta(minutes=4)
    assert shown(browser.get(f"/executions?since={local:%Y-%m-%dT%H:%M}").text) == ["a"]
    assert shown(browser.get(f"/executions?until={local:%Y-%m-%dT%H:%M}").text) == []


@pytest.mark.parametrize("name", [HOSTILE, RTL, LONG, "../../etc/passwd", "a'b\"c&d"])
def test_hostile_names_are_text(site: Site, stage: Stage, name: str) -> None:
    """Whatever a job, an executor, a message or an output is called, nothing of it is markup."""
    run = stage.run(run_id="r", job=name, executor=name, message=name, traceback=name, log_tail=name, outcome="failed")
    stage.keep(run)
    browser = site.client("viewer")
    for path in ("/executions", "/executions/r", "/executions/r/log/hits?q=a"):
        page = browser.get(path)
        assert page.status_code == 200
        assert "<img" not in page.text.replace('<img src="/static', "")


def test_one_shows_attempts_error_and_figures(site: Site, stage: Stage) -> None:
    """What was tried, why it failed, what it cost, and with what it ran."""
    first = stage.run(run_id="first", outcome="lost", executor="crawler-b")
    second = stage.run(
        run_id="second",
        fire=first.fire,
        attempt=2,
        cause="failover",
        outcome="oom",
        exit_code=None,
        signal=9,
        traceback="Traceback: here",
        job_param="depth=3",
        dropped_bytes=5_000_000,
    )
    stage.keep(first, second)
    page = site.client("viewer").get("/executions/second").text
    for text in ("2 attempts", "SIGKILL", "Out of memory", "Traceback: here", "depth=3", "1,200", "5.0 MB", "49.4 MB"):
        assert text in page
    assert "<title>news, item 2 · Execution · shardsched</title>" in page
    assert site.client("viewer").get("/executions/nobody").status_code == 404


def test_log_comes_from_the_disk_of_this_machine(site: Site, stage: Stage, tmp_path: Path) -> None:
    """The end first, earlier parts and lines on demand, without what steers terminals; all of it as a file."""
    data = b"".join(b"\x1b[32mline\x1b[0m %d\n" % number for number in range(1, 20_001))
    run = stage.with_log(stage.run(run_id="r"), tmp_path / "state", data)
    stage.keep(run)
    browser = site.client("viewer")
    page = browser.get("/executions/r").text
    assert 'data-no="20000">line 20000<' in page
    assert "\x1b" not in page
    assert len(page) < 500_000
    end = browser.get("/executions/r/log").json
    assert end is not None
    earlier = browser.get(f"/executions/r/log?before={end['begin']}").json
    assert earlier is not None
    assert earlier["end"] == end["begin"]
    assert earlier["text"].endswith(f"line {end['first'] - 1}\n")
    around = browser.get("/executions/r/log?line=5000").json
    assert around is not None
    assert "line 5000\n" in around["text"]
    assert browser.get("/executions/r/log/raw").data == data
    hits = browser.get("/executions/r/log/hits?q=LINE+1999").text
    assert "11 lines have it" in hits
    assert 'href="/executions/r?line=1999&amp;q=LINE+1999#L1999"' in hits


def test_log_is_followed_while_the_run_goes_on(site: Site, stage: Stage, tmp_path: Path) -> None:
    """Whole lines as they are written, the rest when the run is over."""
    run = stage.with_log(stage.running(run_id="r"), tmp_path / "state", b"one\ntw")
    stage.keep(run)
    browser = site.client("viewer")
    first = browser.get("/executions/r/log?after=0").json
    assert first is not None
    assert (first["text"], first["over"]) == ("one\n", False)
    stage.log_path(run, tmp_path / "state").write_bytes(b"one\ntwo\nthree")
    second = browser.get(f"/executions/r/log?after={first['end']}").json
    assert second is not None
    assert second["text"] == "two\n"
    stage.keep(replace(stage.run(run_id="r"), log_path=run.log_path))
    third = browser.get(f"/executions/r/log?after={second['end']}").json
    assert third is not None
    assert (third["text"], third["over"], third["end"]) == ("three", True, 13)


def test_log_of_another_machine_is_its_kept_end(site: Site, stage: Stage) -> None:
    """The page says where the full one is."""
    stage.executor("crawler-a")
    stage.keep(
        stage.run(run_id="r", log_tail="the last line\n", log_path="/x/0123456789ab/crawler-a/logs/news/r.log"),
        stage.running(run_id="live"),
    )
    browser = site.client("viewer")
    page = browser.get("/executions/r").text
    assert "the last line" in page
    assert "node-2.example" in page
    assert browser.get("/executions/r/log/raw").data == b"the last line\n"
    assert "1 line has it" in browser.get("/executions/r/log/hits?q=LAST").text
    assert "its end comes here when the run is over" in browser.get("/executions/live").text


def test_path_in_history_leads_nowhere_else(site: Site, stage: Stage, tmp_path: Path) -> None:
    """A row that somebody wrote by hand shows no file of this machine."""
    (tmp_path / "state").mkdir()
    secret = tmp_path / "secret.log"
    secret.write_text("the secret")
    browser = site.client("viewer")
    for number, path in enumerate((str(secret), f"{tmp_path}/state/../secret.log", "/etc/passwd", "../../etc/passwd")):
        stage.keep(stage.run(run_id=f"r{number}", log_path=path))
        for address in (f"/executions/r{number}", f"/executions/r{number}/log", f"/executions/r{number}/log/raw"):
            text = browser.get(address).text
            assert "the secret" not in text
            assert "root:" not in text
    assert browser.get("/executions/..%2f..%2fetc%2fpasswd/log").status_code == 404


def owned_job(site: Site, stage: Stage) -> None:
    """Put a job of ten items into the fleet, all owned by one executor."""
    stage.executor("crawler-a", handlers={"news:crawl": "news:crawl"})
    admin = site.parts.fleet
    admin.sight(fresh=True)
    config = admin.admin().jobs.create("news", {"handler": "news:crawl", "cron": "0 4 * * *", "items": 10})
    layout = Layout(items=10, config=0)
    assignment = Assignment(uid=config.uid, layouts=(layout,), owners={"crawler-a": tuple(range(10))})
    stage.registry.transact([Create(site.paths.assignment("news"), encode_assignment(assignment))])


def test_items_are_run_again_with_the_parameter_of_then(site: Site, stage: Stage) -> None:
    """The trigger says who asked; audit and history know of it."""
    owned_job(site, stage)
    stage.keep(stage.run(run_id="r", job_param="depth=3"))
    browser = site.client("operator")
    answer = site.post(browser, "/executions/r/rerun", items="2, 4-5", has_param="1")
    assert answer.status_code == 302, answer.text
    entry = site.parts.fleet.admin().jobs.entry("news")
    assert entry.commands is not None
    [trigger] = entry.commands.triggers
    assert (trigger.only, trigger.param, trigger.by) == ((2, 4, 5), "depth=3", "operator-person")
    [audit] = site.people.audit.page(AuditFilter(action="execution.rerun"))
    assert audit.after == {"number": 1, "items": "2,4-5", "param": "depth=3"}
    [event] = site.history.events(EventFilter(job="news", kinds=frozenset({"command_trigger"}))).rows
    assert (event.by, event.run_id) == ("operator-person", "r")
    assert "runs again: 2,4-5" in browser.get("/executions").text


def test_selected_runs_are_run_again_by_job(site: Site, stage: Stage) -> None:
    """Several runs of one job become one trigger of their items."""
    owned_job(site, stage)
    stage.keep(stage.run(run_id="a", item=1), stage.run(run_id="b", item=7), stage.run(run_id="c", item=7))
    browser = site.client("operator")
    assert site.post(browser, "/executions/rerun", run=["a", "b", "c"]).status_code == 302
    entry = site.parts.fleet.admin().jobs.entry("news")
    assert entry.commands is not None
    assert [trigger.only for trigger in entry.commands.triggers] == [(1, 7)]
    assert site.post(browser, "/executions/rerun").status_code == 302


def test_only_a_run_that_goes_on_can_be_stopped(site: Site, stage: Stage) -> None:
    """The button of another says why not, and asking all the same is refused."""
    owned_job(site, stage)
    stage.keep(stage.run(run_id="over"), stage.running(run_id="live"))
    browser = site.client("operator")
    assert "It is over." in browser.get("/executions/over").text
    assert site.post(browser, "/executions/over/stop").status_code == 409
    assert site.post(browser, "/executions/live/stop").status_code == 302
    entry = site.parts.fleet.admin().jobs.entry("news")
    assert entry.commands is not None
    assert (entry.commands.stop, entry.commands.stop_by) == (1, "operator-person")
    assert "Needs the role Operator" in site.client("viewer").get("/executions/live").text


def test_history_that_is_away_is_told_of(site: Site, stage: Stage) -> None:
    """Lists answer with a banner; what needs it most says so with 503."""
    stage.executor("crawler-a")
    browser = site.client("viewer")
    browser.get("/executors")
    with site.history.database.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE shardsched_runs RENAME TO gone_runs")
        connection.exec_driver_sql("ALTER TABLE shardsched_hours RENAME TO gone_hours")
        connection.exec_driver_sql("ALTER TABLE shardsched_events RENAME TO gone_events")
    for path in ("/executions", "/statistics", "/executors/crawler-a"):
        page = browser.get(path)
        assert page.status_code == 200, page.text
        assert "History does not answer" in page.text
    assert browser.get("/executions/r").status_code == 503
