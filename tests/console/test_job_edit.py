"""Making and changing jobs by page: faults beside their fields, and two people at once."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import pytest

from console.job_form import form_values
from console.job_revision import shown_settings
from shardsched.people.audit import AuditFilter
from tests.console.crew import Crew
from tests.console.test_job_form import sent

if TYPE_CHECKING:
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from tests.console.site import Site

_HIDDEN = re.compile(r'<input type="hidden" name="(tag|base)" value="([^"]*)">')
_PICK = re.compile(r'name="pick\.(\w+)" value="(\w+)" required( checked)?')


@pytest.fixture
def crew(site: Site) -> Crew:
    """A fleet with one job."""
    crew = Crew(site)
    crew.join("crawler-a")
    crew.job("books", {"crawler-a": (0,)}, description="one", param="old")
    crew.show()
    return crew


def opened(site: Site, browser: FlaskClient, crew: Crew, name: str = "books") -> dict[str, Any]:
    """The fields of a job's form, as a browser has them."""
    page = browser.get(f"/jobs/{name}/edit")
    assert page.status_code == 200
    values = form_values(shown_settings(crew.config(name)))
    hidden = {key: html.unescape(value) for key, value in _HIDDEN.findall(page.text)}
    assert set(hidden) == {"tag", "base"}
    return values | hidden


def submit(site: Site, browser: FlaskClient, fields: dict[str, Any], path: str = "/jobs/books/edit") -> TestResponse:
    """Send a form."""
    form = sent(fields)
    form["csrf_token"] = site.csrf(browser)
    return browser.post(path, data=form)


def test_job_is_changed_in_what_was_edited(site: Site, crew: Crew) -> None:
    """Nothing else; and the page that follows says what."""
    browser = site.client("operator")
    before = crew.config("books")
    fields = opened(site, browser, crew) | {"description": "two", "pause": "sat,sun\n22:00-06:00", "retries": "3"}
    assert submit(site, browser, fields).status_code == 302
    after = crew.config("books")
    assert (after.description, after.pause, after.retries) == ("two", ("sat,sun", "22:00-06:00"), 3)
    assert (after.param, after.uid, after.items) == (before.param, before.uid, before.items)
    assert "description, pause, retries" in browser.get("/jobs/books").text
    entry = site.people.audit.page(AuditFilter(object="books"))[0]
    assert (entry.before["description"], entry.after["description"]) == ("one", "two")


def test_form_that_changes_nothing_writes_nothing(site: Site, crew: Crew) -> None:
    """No version, no revision, no entry."""
    browser = site.client("operator")
    version = crew.admin.jobs.entry("books").version
    assert submit(site, browser, opened(site, browser, crew)).status_code == 302
    assert crew.admin.jobs.entry("books").version == version
    assert len(site.people.revisions.page("job", "books")) == 1
    assert site.people.audit.page(AuditFilter(object="books")) == []


def test_faults_are_told_beside_their_fields(site: Site, crew: Crew) -> None:
    """All at once, with links, and with what was typed still there."""
    browser = site.client("operator")
    fields = opened(site, browser, crew) | {"cron": "99 * * * *", "retries": "<many>", "items": "0"}
    answer = submit(site, browser, fields)
    assert answer.status_code == 422
    for field in ("cron", "retries", "items"):
        assert f'href="#f-{field}"' in answer.text
        assert re.search(rf'id="f-{field}"[^>]*aria-invalid="true"', answer.text)
    assert "&lt;many&gt;" in answer.text
    assert crew.config("books").cron == "0 * * * *"


def test_job_is_made_and_copied(site: Site, crew: Crew) -> None:
    """A copy has all settings, secrets of its task among them, and a name of its own."""
    browser = site.client("operator")
    values = form_values(shown_settings(crew.config("books"))) | {
        "name": "shop",
        "kind": "@http",
        "handler": "",
        "task_http_url": "https://shop.example/{item}",
        "task_http_headers": "Authorization: Bearer s3cret",
        "item_params": [("0", "fiction")],
    }
    assert submit(site, browser, values, "/jobs:new").status_code == 302
    assert crew.config("shop").task["headers"] == {"Authorization": "Bearer s3cret"}
    copy = browser.get("/jobs:new?from=shop")
    assert 'value="shop-copy"' in copy.text
    assert "s3cret" not in copy.text
    copied = form_values(shown_settings(crew.config("shop"))) | {"name": "shop-copy", "from": "shop"}
    assert submit(site, browser, copied, "/jobs:new").status_code == 302
    assert crew.config("shop-copy").task == crew.config("shop").task
    assert crew.config("shop-copy").item_params == {0: "fiction"}
    again = submit(site, browser, copied, "/jobs:new")
    assert (again.status_code, "There is a job of that name." in again.text) == (422, True)


def test_handler_that_nobody_hosts_is_refused_unless_it_may_wait(site: Site, crew: Crew) -> None:
    """A typing error is found at once."""
    browser = site.client("operator")
    values = form_values(shown_settings(crew.config("books"))) | {"name": "late", "handler": "carwl"}
    answer = submit(site, browser, values, "/jobs:new")
    assert answer.status_code == 422
    assert 'href="#f-handler"' in answer.text
    assert submit(site, browser, values | {"unhosted": True}, "/jobs:new").status_code == 302


def test_stale_form_shows_both_versions_and_overwrites_nothing(site: Site, crew: Crew) -> None:
    """What only one changed is chosen already; what both changed, a person must say."""
    ann, bob = site.client("operator", "ann"), site.client("operator", "bob")
    hers, his = (opened(site, browser, crew) for browser in (ann, bob))
    assert submit(site, ann, hers | {"description": "hers", "retries": "2"}).status_code == 302
    merge = submit(site, bob, his | {"description": "his", "param": "new"})
    assert merge.status_code == 412
    assert (crew.config("books").description, crew.config("books").param) == ("hers", "old")
    assert "Changed by ann" in merge.text
    picks = {(setting, side): bool(checked) for setting, side, checked in _PICK.findall(merge.text)}
    assert picks == {
        ("description", "mine"): False,
        ("description", "theirs"): False,
        ("param", "mine"): True,
        ("param", "theirs"): False,
        ("retries", "mine"): False,
        ("retries", "theirs"): True,
    }
    hidden = {key: html.unescape(value) for key, value in _HIDDEN.findall(merge.text)}
    chosen = {"pick.description": "mine", "pick.param": "mine", "pick.retries": "theirs"}
    done = submit(site, bob, his | {"description": "his", "param": "new"} | hidden | chosen)
    assert done.status_code == 302
    config = crew.config("books")
    assert (config.description, config.param, config.retries) == ("his", "new", 2)
    assert [one.actor for one in site.people.revisions.page("job", "books")] == ["bob", "ann", ""]


def test_change_at_the_command_line_is_a_revision_of_nobody(site: Site, crew: Crew) -> None:
    """And a form that was open meanwhile is stale."""
    browser = site.client("operator")
    fields = opened(site, browser, crew)
    crew.admin.jobs.update("books", {"description": "by hand"})
    merge = submit(site, browser, fields | {"param": "new"})
    assert merge.status_code == 412
    assert "Changed outside the console" in merge.text
    assert [one.actor for one in site.people.revisions.page("job", "books")] == ["", ""]
    assert "outside the console" in browser.get("/jobs/books/revisions").text


def test_form_of_a_deleted_and_made_again_job_is_stale(site: Site, crew: Crew) -> None:
    """Its version may be the same number; the job is another one."""
    browser = site.client("operator")
    fields = opened(site, browser, crew)
    crew.admin.jobs.delete("books", wait_s=0)
    crew.job("books", description="another one")
    assert submit(site, browser, fields | {"param": "new"}).status_code == 412
    assert crew.config("books").param == ""


def test_unreadable_job_is_mended_by_its_form(site: Site, crew: Crew) -> None:
    """It says what is wrong; saving writes it anew."""
    crew.put(crew.paths.job("books"), b'{"format": 1, "uid": "u", "handler": "crawl", "cron": 7, "armed_at": "x"}')
    browser = site.client("operator")
    page = browser.get("/jobs/books/edit")
    assert "cannot be read" in page.text
    hidden = {key: html.unescape(value) for key, value in _HIDDEN.findall(page.text)}
    crew.job("other")
    fields = form_values(shown_settings(crew.config("other"))) | hidden | {"description": "mended"}
    assert submit(site, browser, fields).status_code == 302
    assert crew.config("books").description == "mended"


def test_revision_is_restored_as_a_new_one(site: Site, crew: Crew) -> None:
    """Whether it is paused stays; a stale page restores nothing."""
    browser = site.client("operator")
    submit(site, browser, opened(site, browser, crew) | {"description": "two", "timeout": "60"})
    site.post(browser, "/jobs/books/pause")
    page = browser.get("/jobs/books/revisions/1?against=now").text
    tag = re.search(r'name="tag" value="([^"]+)"', page)
    assert tag is not None
    assert 'class="diff-in"' in page
    stale = site.post(browser, "/jobs/books/revisions/1/restore", tag="0-0")
    assert "changed meanwhile" in browser.get(stale.headers["Location"]).text
    assert crew.config("books").description == "two"
    assert site.post(browser, "/jobs/books/revisions/1/restore", tag=tag[1]).headers["Location"] == "/jobs/books"
    config = crew.config("books")
    assert (config.description, config.timeout_s, config.paused) == ("one", None, True)
    assert [one.number for one in site.people.revisions.page("job", "books")] == [4, 3, 2, 1]
    assert "It is so at present" in browser.get("/jobs/books/revisions/4").text


def test_preview_says_what_is_typed(site: Site) -> None:
    """Words, fires in both zones, pauses left out, and what is wrong."""
    browser = site.client("viewer")
    part = browser.get("/cron/preview?cron=0+2+*+*+*&timezone=Europe/Paris&pause=sat,sun").text
    for text in ("At 02:00", "2026-01-01 02:00:00", "2026-01-05 02:00:00", "2026-01-01 01:00:00"):
        assert text in part
    assert "2026-01-03 02:00" not in part
    assert "minute" in browser.get("/cron/preview?cron=99+*+*+*+*").text
    assert "there is no such zone" in browser.get("/cron/preview?cron=0+2+*+*+*&timezone=Mars").text
    assert "no fire" in browser.get("/cron/preview?cron=0+2+*+*+*&pause=mon-sun").text
    assert "only when it is triggered" in browser.get("/cron/preview?cron=").text


def test_viewer_sees_the_form_and_changes_nothing(site: Site, crew: Crew) -> None:
    """All fields are off, and it says why."""
    browser = site.client("viewer")
    page = browser.get("/jobs/books/edit").text
    assert page.count('<fieldset class="card" disabled>') == 4
    assert "Needs the role Operator" in page
    assert submit(site, browser, opened(site, browser, crew) | {"param": "x"}).status_code == 403
