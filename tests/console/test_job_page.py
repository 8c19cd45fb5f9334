"""One job: what its page shows, and what is done from it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from shardsched.core.fire import ItemState
from shardsched.history.filter import EventFilter
from shardsched.people.audit import AuditFilter, Result
from tests.console.crew import Crew
from tests.history.stage import make_run, run_record, store
from tests.waiting import eventually

if TYPE_CHECKING:
    from tests.console.site import Site


@pytest.fixture
def crew(site: Site) -> Crew:
    """A fleet with one job."""
    crew = Crew(site)
    crew.join("crawler-a")
    crew.lead("crawler-a")
    crew.job("books", {"crawler-a": (0, 1, 2)}, items=3, item_params={0: "fiction"}, timezone="Europe/Paris")
    crew.show()
    return crew


def test_page_says_what_when_and_where(site: Site, crew: Crew) -> None:
    """In words, with the next fires in the job's zone and the viewer's, and with who runs what."""
    crew.write_cursor("books", 1, state=ItemState.FAILED, message="RuntimeError: <b>503</b>", attempt=2)
    crew.job("after-books", {"crawler-a": (0,)}, cron="", after=["books"])
    crew.show()
    page = site.client("viewer").get("/jobs/books").text
    for text in ("Every hour", "2026-01-01 02:00:00", "Europe/Paris", "2026-01-01 01:00:00", "crawler-a", "fiction"):
        assert text in page
    assert "RuntimeError: &lt;b&gt;503&lt;/b&gt;" in page
    assert "attempt 2" in page
    assert "/jobs/after-books" in page
    assert "After books" in site.client("viewer").get("/jobs/after-books").text


def test_executor_keeps_its_number_when_another_leaves(site: Site, crew: Crew) -> None:
    """The one that the map and the list of executors give it."""
    crew.join("crawler-b")
    crew.assign("books", {"crawler-b": (0, 1, 2)})
    crew.show()
    browser = site.client("viewer")
    eventually(lambda: 'owner-2">2</span>' in browser.get("/jobs/books").text)
    crew.leave("crawler-a")
    eventually(lambda: executors(site) == ["crawler-b"])
    assert 'owner-2">2</span>' in browser.get("/jobs/books").text


def executors(site: Site) -> list[str]:
    """Who is in the fleet as the console sees it now."""
    status = site.parts.fleet.sight(fresh=True).status
    return [one.name for one in status.executors] if status else []


def test_clock_change_is_noted(site: Site, crew: Crew) -> None:
    """Fires on the other side of it say so."""
    crew.admin.jobs.update("books", {"cron": "0 0 29 3 *"})
    crew.show()
    assert "the clocks change before this" in site.client("viewer").get("/jobs/books").text


@pytest.mark.usefixtures("crew")
def test_actions_are_done_and_written_down(site: Site) -> None:
    """By the audit, by revisions where settings changed, and by history; undo is offered where there is one."""
    browser = site.client("operator")
    for action, form in (
        ("pause", {}),
        ("resume", {}),
        ("failover", {"enabled": "0"}),
        ("items/1/disable", {}),
        ("items/1/enable", {}),
        ("trigger", {"items": "0, 2", "param": "x", "has_param": "1"}),
        ("stop", {}),
    ):
        answer = site.post(browser, f"/jobs/books/{action}", **form)
        assert (answer.status_code, answer.headers["Location"]) == (302, "/jobs/books"), action
    done = [(one.action, one.result) for one in site.people.audit.page(AuditFilter(object="books"))]
    actions = ["stop", "trigger", "enable", "disable", "failover", "resume", "pause"]
    assert done == [(f"job.{action}", Result.DONE) for action in actions]
    assert [one.actor for one in site.people.revisions.page("job", "books")] == ["operator-person"] * 5 + [""]
    told = site.history.events(EventFilter(job="books")).rows
    assert {(one.kind, one.by) for one in told} == {(f"command_{action}", "operator-person") for action in actions}


def test_trigger_runs_what_was_asked(site: Site, crew: Crew) -> None:
    """These items, with this parameter, in the name of who asked; a fault is told in the form."""
    browser = site.client("operator")
    site.post(browser, "/jobs/books/trigger", items="0-1", param="p", has_param="1", asked="1")
    site.post(browser, "/jobs/books/trigger", items="", param="ignored", asked="1")
    first, second = crew.commands("books").triggers
    assert (first.only, first.param, first.by) == ((0, 1), "p", "operator-person")
    assert (second.only, second.param) == (None, None)
    wrong = site.post(browser, "/jobs/books/trigger", items="9", asked="1")
    assert wrong.status_code == 422
    assert "no item 9" in wrong.text
    crew.leave("crawler-a")
    refused = site.post(browser, "/jobs/books/trigger", asked="1")
    assert refused.status_code == 409
    assert len(crew.commands("books").triggers) == 2


def test_action_that_is_refused_stands_in_the_audit(site: Site, crew: Crew) -> None:
    """And tells its reason."""
    crew.leave("crawler-a")
    browser = site.client("operator")
    site.post(browser, "/jobs/books/trigger")
    entry = site.people.audit.page(AuditFilter(object="books"))[0]
    assert (entry.action, entry.result) == ("job.trigger", Result.REFUSED)
    assert "nobody would run it" in entry.message
    assert "nobody would run it" in browser.get("/jobs").text


def test_deletion_wants_the_name_and_an_admin(site: Site, crew: Crew) -> None:
    """The wrong name does nothing; what is lost is said before."""
    crew.claim("books", 1, "crawler-a")
    crew.show()
    assert site.post(site.client("operator"), "/jobs/books/delete", confirm="books").status_code == 403
    browser = site.client("admin")
    assert "Items 1 run at this moment" in browser.get("/jobs/books/delete").text
    assert site.post(browser, "/jobs/books/delete", confirm="Books").status_code == 422
    assert "books" in crew.admin.jobs.names()
    crew.leave("crawler-a")
    assert site.post(browser, "/jobs/books/delete", confirm="books").status_code == 302
    assert "books" not in crew.admin.jobs.names()
    assert site.people.revisions.page("job", "books")[0].value is None
    assert "There is no such job any more" in browser.get("/jobs/books/revisions").text
    assert browser.get("/jobs/books").status_code == 404


@pytest.mark.usefixtures("crew")
def test_disabled_buttons_say_why(site: Site) -> None:
    """Nothing is hidden from those who may not, or when it makes no sense."""
    page = site.client("viewer").get("/jobs/books").text
    assert page.count('aria-disabled="true"') > 5
    assert "Needs the role Operator" in page
    assert "Nothing of it runs" in site.client("operator").get("/jobs/books").text


@pytest.mark.usefixtures("crew")
def test_runs_are_laid_out_by_fire(site: Site) -> None:
    """The last attempt at each fire; runs of other fires beside it."""
    now = site.clock.now()
    runs = [
        make_run(run_id="r1", job="books", item=0, fire=now, outcome="failed", queued_at=now),
        make_run(
            run_id="r2", job="books", item=0, fire=now, attempt=2, outcome="ok", queued_at=now + timedelta(seconds=5)
        ),
        make_run(run_id="r3", job="books", item=1, fire=now - timedelta(hours=1), outcome="timeout", queued_at=now),
    ]
    store(site.history.database, [run_record(run) for run in runs], "fleet")
    part = site.client("viewer").get("/jobs/books/runs").text
    grid, legend = part.split("</table>")
    for shown in (grid, legend):
        assert (shown.count("item-ok"), shown.count("item-timeout"), shown.count("item-failed")) == (1, 1, 0)
    assert "attempt 2" in part


def test_checkpoints_are_shown_and_cleared(site: Site, crew: Crew) -> None:
    """One or all, but not under a run; what they hold is text."""
    browser = site.client("operator")
    assert "No item has saved anything." in browser.get("/jobs/books/checkpoints").text
    crew.save("books", 0, '{"page": "<b>7</b>"}')
    crew.save("books", 1, '"x"')
    part = browser.get("/jobs/books/checkpoints").text
    assert "&lt;b&gt;7&lt;/b&gt;" in part
    site.post(browser, "/jobs/books/reset", items="0")
    assert "&lt;b&gt;" not in browser.get("/jobs/books/checkpoints").text
    crew.claim("books", 1, "crawler-a")
    assert "stop them first" in browser.get("/jobs/books/checkpoints").text
    site.post(browser, "/jobs/books/reset")
    entries = site.people.audit.page(AuditFilter(action="job.reset"))
    assert [(one.result, one.after) for one in entries] == [
        (Result.REFUSED, None),
        (Result.DONE, {"cleared": "0"}),
    ]
