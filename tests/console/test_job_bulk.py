"""Acting on many jobs: each by itself, on those that were seen, with a way back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from werkzeug.datastructures import MultiDict

from shardsched.people.audit import AuditFilter
from tests.console.crew import Crew

if TYPE_CHECKING:
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from tests.console.site import Site


@pytest.fixture
def crew(site: Site) -> Crew:
    """A fleet with three jobs that fire and one that nobody owns."""
    crew = Crew(site)
    crew.join("crawler-a")
    for name in ("books", "news", "shop"):
        crew.job(name, {"crawler-a": (0,)})
    crew.job("alone", {}, handler="@shell", task={"argv": ["true"]})
    crew.show()
    return crew


def act(site: Site, browser: FlaskClient, action: str, names: tuple[str, ...] = (), **fields: Any) -> TestResponse:
    """Press a button of the bar over the list."""
    form: MultiDict[str, str] = MultiDict({"csrf_token": site.csrf(browser), "action": action, **fields})
    form.setlist("names", list(names))
    return browser.post("/jobs:bulk", data=form)


def test_chosen_jobs_are_paused_and_undone(site: Site, crew: Crew) -> None:
    """Only those; undo resumes what it paused and leaves what was paused before."""
    browser = site.client("operator")
    crew.admin.jobs.pause("news")
    assert act(site, browser, "pause", ("books", "news")).status_code == 302
    assert [crew.config(name).paused for name in ("books", "news", "shop")] == [True, True, False]
    toast = re.search(r'"undo":"(/jobs:bulk/\d+/undo)"', browser.get("/jobs").text)
    assert toast is not None
    assert site.post(site.client("operator", "somebody-else"), toast[1]).status_code == 302
    assert crew.config("books").paused
    site.post(browser, toast[1])
    assert [crew.config(name).paused for name in ("books", "news", "shop")] == [False, True, False]


def test_all_that_match_are_counted_again(site: Site, crew: Crew) -> None:
    """If others match by now, nothing is done."""
    browser = site.client("operator")
    act(site, browser, "pause", all="1", kind="code", expect_count="2")
    assert "3 jobs match by now" in browser.get("/jobs").text
    assert not any(crew.config(name).paused for name in ("books", "news", "shop"))
    act(site, browser, "pause", all="1", kind="code", expect_count="3")
    assert all(crew.config(name).paused for name in ("books", "news", "shop"))
    assert not crew.config("alone").paused


def test_running_many_asks_first(site: Site, crew: Crew) -> None:
    """The names are shown; what is refused for one does not stop the others."""
    browser = site.client("operator")
    asked = act(site, browser, "trigger", ("alone", "books", "gone"))
    assert asked.status_code == 200
    assert "Run 3 jobs now?" in asked.text
    assert crew.registry.get(crew.paths.commands("books"), fresh=True) is None
    done = act(site, browser, "trigger", ("alone", "books", "gone"), agreed="1")
    assert len(crew.commands("books").triggers) == 1
    assert "1 job is triggered. 2 were refused." in done.text
    assert "nobody would run it" in done.text
    assert "there is no job" in done.text


def test_deleting_many_wants_their_number_and_an_admin(site: Site, crew: Crew) -> None:
    """An operator is refused; the wrong number does nothing."""
    operator, admin = site.client("operator"), site.client("admin")
    act(site, operator, "delete", ("books",), agreed="1")
    form: MultiDict[str, str] = MultiDict({"csrf_token": site.csrf(operator), "confirm": "1"})
    form.setlist("names", ["books"])
    assert operator.post("/jobs:bulk-delete", data=form).status_code == 403
    assert "Delete 2 jobs?" in act(site, admin, "delete", ("books", "news"), agreed="1").text
    form.setlist("names", ["books", "news"])
    form["csrf_token"] = site.csrf(admin)
    assert admin.post("/jobs:bulk-delete", data=form).status_code == 422
    form["confirm"] = "2"
    assert admin.post("/jobs:bulk-delete", data=form).status_code == 302
    assert set(crew.admin.jobs.names()) == {"shop", "alone"}


@pytest.mark.usefixtures("crew")
def test_each_job_and_the_whole_stand_in_the_audit(site: Site) -> None:
    """So that one job's entries are complete, and it is seen that they belong together."""
    act(site, site.client("operator"), "pause", ("books", "news"))
    entries = site.people.audit.page(AuditFilter(action="job"))
    assert [(one.action, one.object) for one in entries] == [
        ("job.pause", "news"),
        ("job.pause", "books"),
        ("job.bulk", "pause 2"),
    ]
    assert entries[2].after == {"action": "pause", "changed": ["books", "news"], "failed": {}}


@pytest.mark.usefixtures("crew")
def test_nothing_chosen_does_nothing(site: Site) -> None:
    """It says what to do."""
    browser = site.client("operator")
    act(site, browser, "pause")
    assert "Select jobs first" in browser.get("/jobs").text
    assert act(site, browser, "explode", ("books",)).status_code == 400
    site.post(browser, "/jobs:bulk/1/undo")
    assert "There is nothing to undo." in browser.get("/jobs").text


def test_file_is_looked_at_before_it_is_written(site: Site, crew: Crew) -> None:
    """What would be created, what differs; then it is done once."""
    browser = site.client("operator")
    text = site.client("viewer").get("/jobs:export?names=books").text
    assert text.startswith("format: 1")
    changed = text.replace("books:", "novels:")
    plan = site.post(browser, "/jobs:import", text=changed, form="auto", on_conflict="fail")
    assert "What the import would do" in plan.text
    assert "novels" not in crew.admin.jobs.names()
    done = site.post(browser, "/jobs:import", text=changed, form="auto", on_conflict="fail", agreed="1")
    assert done.status_code == 200
    assert "novels" in crew.admin.jobs.names()
    assert site.people.revisions.page("job", "novels")[0].actor == "operator-person"
    blocked = site.post(browser, "/jobs:import", text=text.replace("0 * * * *", "5 * * * *"), on_conflict="fail")
    assert "nothing would be written" in blocked.text
    for unreadable in ("{", "{" + " " * 700_000):
        assert site.post(browser, "/jobs:import", text=unreadable, form="json").status_code == 422
    crontab = site.post(browser, "/jobs:import", text="*/5 * * * * /usr/bin/backup", form="crontab")
    assert "@shell" in crontab.text
