"""What the scheduler says, in Chinese: reasons, faults and refusals, with what they quote."""
# ruff: noqa: RUF001 - Chinese has its own punctuation

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from flask_babel import force_locale

from console.sentence_text import said, said_html
from shardsched.core.assignment import Layout
from shardsched.core.executor import DrainMark, encode_drain
from shardsched.core.job_record import encode_job
from shardsched.core.setting import new_job
from shardsched.core.unfit import adrift
from shardsched.errors import ConfigurationError, CorruptNodeError, HistoryUnavailableError
from shardsched.sentence import Foreign, Sentence
from tests.console.crew import Crew

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.console.site import Site

CHINESE = {"Accept-Language": "zh-CN"}
_QUOTED = re.compile(r"'[^']*'|“[^”]*”|\"[^\"]*\"")
_ENGLISH = re.compile(r"[A-Za-z]{2,}(?: [a-z]{2,}){2,}")
"""Three words and more; fewer may be names and commands."""


class Reader(HTMLParser):
    """Collects what people read of a page, but what is marked as English or belongs to scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what is read aloud or shown on hover."""
        given = dict(attrs)
        is_left_out = tag in {"script", "style", "textarea"} or (tag != "html" and given.get("lang") == "en")
        if tag == self._skipped[-1] if self._skipped else is_left_out:
            self._skipped.append(tag)
        self.texts += [given[name] or "" for name in ("title", "aria-label") if name in given and not self._skipped]

    def handle_endtag(self, tag: str) -> None:
        """End what is left out."""
        if self._skipped and tag == self._skipped[-1]:
            self._skipped.pop()

    def handle_data(self, data: str) -> None:
        """Collect text."""
        if not self._skipped:
            self.texts.append(data)


def english(text: str) -> list[str]:
    """Return what is left of English sentences in a text, that in quotes left out."""
    return _ENGLISH.findall(_QUOTED.sub(" ", text))


def english_of_page(html: str) -> list[str]:
    """Return what is left of English sentences on a page."""
    reader = Reader()
    reader.feed(html)
    return [found for text in reader.texts for found in english(text)]


@contextmanager
def chinese(site: Site) -> Iterator[None]:
    """Have somebody look in Chinese."""
    with site.app.test_request_context(), force_locale("zh_Hans"):
        yield


@pytest.fixture
def crew(site: Site) -> Crew:
    """A fleet in which something stands in the way of every job, each time something else."""
    crew = Crew(site)
    crew.join("crawler-a", ("crawl",))
    crew.join("crawler-b", ("scan",), unfit=str(adrift(75.0, 60.0)))
    crew.join("crawler-c", ("drained",))
    crew.put(crew.paths.drained("crawler-c"), encode_drain(DrainMark(at=crew.clock.now(), by="Ada")))
    crew.lead("crawler-a")
    mine = {"crawler-a": (0, 1)}
    crew.job("ok", mine, items=2)
    crew.job("waiting")
    crew.job("paused", mine, items=2, paused=True)
    crew.job("switched-off", mine, items=2, disabled_items=(1,))
    crew.job("partly", {"crawler-a": (0,), "crawler-z": (1,)}, items=3)
    crew.job("growing", mine, items=5)
    crew.assign("growing", mine, layouts=(Layout(items=2, config=0),))
    crew.job("labelled", labels={"gpu": "yes"})
    crew.job("homeless")
    crew.put(crew.paths.job("homeless"), encode_job(replace(crew.config("homeless"), handler="nobody")))
    crew.job("unfit", handler="scan")
    crew.job("drained", handler="drained")
    crew.job("after", mine, items=2, after=("ok", "no-such-job"))
    crew.job("odd-items", mine, items=2)
    crew.write_cursor("odd-items", 0)
    crew.put(crew.paths.cursor("odd-items", 0), b"{")
    crew.write_cursor("odd-items", 1, state="running")
    crew.job("odd-owners")
    crew.put(crew.paths.assignment("odd-owners"), b"[]")
    crew.job("odd-record")
    crew.put(crew.paths.job("odd-record"), b'{"format": 1}')
    crew.job("odd-cron")
    crew.put(crew.paths.job("odd-cron"), encode_job(replace(crew.config("odd-cron"), cron="61 * * * *")))
    crew.job("leaving")
    crew.put(crew.paths.job("leaving"), encode_job(replace(crew.config("leaving"), deleting=True)))
    crew.show()
    return crew


def test_chinese_pages_have_no_english_sentence(site: Site, crew: Crew) -> None:
    """Of jobs with every reason there is, their items, the executors, and what needs attention."""
    browser = site.client("admin")
    pages = ["/overview", "/map", "/map/table", "/jobs", "/executors"]
    pages += [f"/jobs/{name}" for name in crew.admin.jobs.names()]
    pages += [f"/executors/{name}" for name in crew.actors]
    pages += [f"/map/item?job={name}&item=0" for name in crew.admin.jobs.names() if name != "odd-record"]
    left = {}
    for page in pages:
        answer = browser.get(page, headers=CHINESE)
        assert answer.status_code == 200, page
        left[page] = english_of_page(answer.text)
    assert {page: texts for page, texts in left.items() if texts} == {}
    page = browser.get("/jobs/labelled", headers=CHINESE).text
    assert "提供 &#39;crawl&#39; 的执行器都没有标签 gpu=yes" in page
    assert english_of_page(browser.get("/jobs/labelled", headers={"Accept-Language": "en"}).text) != []


CRONTAB = "MAILTO=me\n@reboot tidy\n61 * * * * sweep\n"
ELASTIC = "elasticjob:\n  jobs:\n    old: {cron: 0 0 * * * ?, maxTimeDiffSeconds: 5, elasticJobType: SCRIPT}\n"


def test_chinese_forms_and_refusals_have_no_english_sentence(site: Site, crew: Crew) -> None:
    """Faults of settings, files that cannot be taken, refused actions, and pages that tell an error."""
    browser = site.client("admin")
    site.people.users.update(site.user("admin").id, {"language": "zh_Hans"})
    shown = [
        site.post(browser, "/jobs:new", name="a b", kind="code", handler="crawl", cron="61 * * * *", items="0"),
        site.post(browser, "/jobs:new", name="x", kind="@http", task_http_url="shop", labels="zone=eu"),
        site.post(browser, "/jobs:new", name="y", kind="code", handler="nobody", cron="@hourly"),
        site.post(browser, "/jobs:import", text=CRONTAB, form="auto", on_conflict="fail"),
        site.post(browser, "/jobs:import", text=ELASTIC, form="auto", on_conflict="fail"),
        site.post(browser, "/jobs:import", text="{", form="auto", on_conflict="fail"),
        site.post(browser, "/jobs/ok/trigger", items="9", asked="1"),
        site.post(browser, "/jobs/homeless/trigger", asked="1"),
        site.post(browser, "/jobs/odd-record/stop"),
        browser.get("/jobs/no-such-job"),
        browser.get("/executions/no-such-run"),
    ]
    assert [answer.status_code for answer in shown] == [422, 422, 422, 200, 200, 422, 422, 409, 409, 404, 404]
    assert [texts for answer in shown if (texts := english_of_page(answer.text))] == []


def test_words_of_another_release_are_marked_as_english(site: Site, crew: Crew) -> None:
    """What an executor says that nobody here knows is quoted as it is."""
    crew.join("crawler-d", ("old",), unfit="it is on strike")
    crew.job("striking", handler="old")
    crew.show()
    browser = site.client("viewer")
    page = browser.get("/jobs/striking", headers=CHINESE).text
    assert '执行器 crawler-d 不接收分片：<span lang="en">it is on strike</span>' in page
    assert '<span lang="en">it is on strike</span>' in browser.get("/executors/crawler-d", headers=CHINESE).text


def test_live_map_has_the_readers_words(site: Site, crew: Crew) -> None:
    """The picture is one for all; who reads another language gets the sentences beside it."""
    browser = site.client("viewer")
    told = browser.get("/live", headers=CHINESE).get_json()
    reasons = {job["reason"] for job in told["jobs"] if job["reason"]}
    assert set(told["said"]) == reasons
    assert [text for text in told["said"].values() if english(text)] == []
    assert browser.get("/live").get_json()["said"] == {}


BAD_SETTINGS: list[dict[str, Any]] = [
    {"cron": "61 * * * *"},
    {"cron": "0 0 * foo *"},
    {"cron": "0 0 12 1 * 2"},
    {"cron": "* * *"},
    {"cron": "0 0 * * *", "timezone": "Mars/Olympus"},
    {"pause": ["25:00-26:00"]},
    {"pause": ["someday"]},
    {"items": 0},
    {"item_params": "x"},
    {"item_params": {7: "a"}},
    {"misfire": "never"},
    {"timeout": -1},
    {"labels": {"zone": "\ud800"}},
    {"retry_backoff": 50},
    {"failover": "perhaps"},
    {"handler": "@shell", "task": {"argv": []}},
    {"handler": "@shell", "task": {"argv": ["a"], "shell": "b"}},
    {"handler": "@http", "task": {"url": "shop", "headers": {"a b": "c"}}},
    {"handler": "@http", "task": {}},
]


@pytest.mark.parametrize("settings", BAD_SETTINGS, ids=str)
def test_refused_settings_are_told_in_chinese(site: Site, settings: dict[str, Any]) -> None:
    """The same fault as in English, with what is quoted of the setting as it was given."""
    with pytest.raises(ConfigurationError) as caught:
        new_job("books", "-", {"handler": "crawl"} | settings, site.clock.now())
    with chinese(site):
        told = said(caught.value)
    assert re.search(r"[\u4e00-\u9fff]", told)
    assert english(told) == []
    assert said_in_english(site, caught.value) == str(caught.value)


def said_in_english(site: Site, error: ConfigurationError) -> str:
    """What somebody reads who looks in English."""
    with site.app.test_request_context(), force_locale("en"):
        return said(error)


def test_api_tells_details_in_the_language_asked_for(site: Site, crew: Crew) -> None:
    """Codes and pointers stay; a program's own profile counts only where it asks for no language."""
    program, token = site.app.test_client(), site.token("admin")

    def ask(method: str, path: str, language: str, **body: Any) -> Any:
        headers = token | {"Accept-Language": language}
        return program.open(path, method=method, headers=headers, json=body or None).get_json()

    for method, path, body in (
        ("POST", "/api/v1/jobs", {"name": "x", "settings": {"handler": "crawl", "cron": "61 * * * *"}}),
        ("POST", "/api/v1/jobs", {"name": "ok", "settings": {"handler": "crawl"}}),
        ("POST", "/api/v1/jobs", {"settings": {"items": "many"}, "colour": "red"}),
        ("POST", "/api/v1/jobs/homeless/trigger", {}),
        ("POST", "/api/v1/jobs/odd-record/trigger", {}),
        ("POST", "/api/v1/jobs/switched-off/items/1/trigger", {}),
        ("GET", "/api/v1/jobs/ok/items/9", {}),
        ("GET", "/api/v1/jobs/nothing", {}),
        ("GET", "/api/v1/executors/nobody", {}),
    ):
        own, other = ask(method, path, "zh", **body), ask(method, path, "en", **body)
        assert own["code"] == other["code"]
        assert own["detail"] != other["detail"]
        assert english(own["detail"]) == []
        faults = list(zip(own.get("errors", []), other.get("errors", []), strict=True))
        assert all((one["pointer"], one["code"]) == (two["pointer"], two["code"]) for one, two in faults)
        assert [one["detail"] for one, _two in faults if english(one["detail"])] == []
        assert all(one["detail"] != two["detail"] for one, two in faults)
    assert ask("GET", "/api/v1/jobs/waiting", "zh")["reasons"] == ["等待主节点分配其分片"]
    user = site.user("admin")
    site.people.users.update(user.id, {"language": "zh_Hans"})
    token = site.token("admin")
    assert ask("GET", "/api/v1/jobs/waiting", "en")["reasons"] == ["waits for the leader to assign its items"]


def test_what_a_library_said_stays_as_it_is(site: Site) -> None:
    """It is no text of ours; on pages it is marked, so that it is read aloud as English, and never as HTML."""
    error = HistoryUnavailableError(
        Sentence("%(place)s was busy (%(reason)s); try again", place="<i>", reason=Foreign("database is <b>locked</b>"))
    )
    inner = CorruptNodeError(path="/a", reason=Sentence("%(key)r is missing", key="<uid>"))
    with chinese(site):
        assert said(error) == "<i> 正忙（database is <b>locked</b>）；请重试"
        assert said_html(error) == (
            '&lt;i&gt; 正忙（<span lang="en">database is &lt;b&gt;locked&lt;/b&gt;</span>）；请重试'
        )
        assert said_html(inner) == (
            "/a 处的记录无法使用：缺少 &#39;&lt;uid&gt;&#39;；&#39;shardsched doctor&#39; 会说明处理办法"
        )
        assert said("plain <text>") == "plain <text>"
        assert said_html("plain <text>") == "plain &lt;text&gt;"
