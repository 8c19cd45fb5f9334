"""The shard map and the overview without a browser: what they show, send and do."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from markupsafe import escape

from shardsched.core.fire import ItemState
from shardsched.people.audit import AuditFilter
from tests.console.troupe import HOSTILE_NAMES, Troupe
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flask.testing import FlaskClient

    from tests.console.site import Site

SCRIPT = {"HX-Request": "true"}


@pytest.fixture
def troupe(site: Site) -> Iterator[Troupe]:
    """Two executors, the first leads, and a job of three items."""
    made = Troupe(site)
    made.assemble()
    made.job("news", {"crawler-a": (0, 2), "crawler-b": (1,)}, items=3, item_params={1: "region=north"})
    yield made
    made.close()


def live(browser: FlaskClient, since: str = "") -> dict[str, Any]:
    """What the page's script is told."""
    answer = browser.get(f"/live?since={since}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = json.loads(answer.text)
    return found


def settled(browser: FlaskClient, job: str, items: str) -> dict[str, Any]:
    """Wait until the items of a job look so; return all that is told."""

    def look() -> dict[str, Any]:
        document = live(browser)
        return document if _job(document, job).get("items") == items else {}

    return eventually(look)


def _job(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next((job for job in document["jobs"] if job["name"] == name), {})


def test_map_shows_executors_and_items(site: Site, troupe: Troupe) -> None:
    """With the page come the figures, the executors, and the state of all items."""
    browser = site.client("viewer")
    settled(browser, "news", "www")
    text = browser.get("/map").text
    for expected in ("crawler-a", "crawler-b", "Leader", "Needs the role Operator", 'id="map-data"', "<noscript>"):
        assert expected in text
    part = browser.get("/map", headers=SCRIPT)
    assert "<html" not in part.text

    def is_known() -> bool:
        # The thread that looks may see something new between the two.
        tag = browser.get("/map", headers=SCRIPT).headers["HX-PTag"]
        return browser.get("/map", headers=SCRIPT | {"HX-PTag": tag}).status_code == 304

    eventually(is_known)


def test_script_is_told_what_changed(site: Site, troupe: Troupe) -> None:
    """All at first, nothing while nothing changes, then only the job that did; the API says the same."""
    browser = site.client("viewer")
    first = settled(browser, "news", "www")
    assert first["full"]
    assert _job(first, "news")["owners"] == [1, 2, 1]
    assert first["words"] == {"0 * * * *": "Every hour"}
    assert [one["name"] for one in first["executors"]] == ["crawler-a", "crawler-b"]
    same = site.app.test_client().get(f"/api/v1/shard-map?since={first['version']}", headers=site.token("viewer"))
    assert same.status_code == 304
    assert browser.get(f"/live?since={first['version']}").status_code == 304

    troupe.job("shop", {"crawler-b": (0,)}, cron="*/5 * * * *")
    troupe.claim("news", 1, "crawler-b")
    site.clock.advance(21)
    settled(browser, "shop", "w")
    settled(browser, "news", "wrw")
    change = live(browser, first["version"])
    assert not change["full"]
    assert {job["name"] for job in change["jobs"]} == {"news", "shop"}
    answer = site.app.test_client().get("/api/v1/shard-map", headers=site.token("viewer"))
    assert json.loads(answer.text)["jobs"] == live(browser)["jobs"]


def test_large_fleet_is_sent_after_the_page(site: Site, troupe: Troupe) -> None:
    """The page of more than 200 jobs has no state in it, so that it is there at once."""
    for number in range(201):
        troupe.job(f"job-{number}", {"crawler-a": (0,)})
    browser = site.client("viewer")
    eventually(lambda: len(live(browser)["jobs"]) == 202)
    assert 'id="map-data"' not in browser.get("/map").text
    table = browser.get("/map/table?page=5").text
    assert "202 of 202" in table
    assert "news" in table


def test_hostile_names_are_only_text(site: Site, troupe: Troupe) -> None:
    """Neither in the page nor in its data does a name mean anything."""
    for name in HOSTILE_NAMES:
        troupe.put(troupe.paths.job(name), b"{")
    browser = site.client("viewer")
    eventually(lambda: set(HOSTILE_NAMES) <= {job["name"] for job in live(browser)["jobs"]})
    told = live(browser)
    assert all(_job(told, name)["state"] == "held" for name in HOSTILE_NAMES)
    for page in ("/map", "/overview"):
        text = browser.get(page).text
        assert "<img src=x" not in text
        assert "onerror=alert(1)>" not in text
    assert browser.get("/map/item", query_string={"job": HOSTILE_NAMES[0], "item": 0}).status_code == 404


def test_item_tells_owner_reason_and_runs(site: Site, troupe: Troupe) -> None:
    """What is known of one item, and why what cannot be done cannot."""
    browser = site.client("operator")
    troupe.claim("news", 1, "crawler-b")
    settled(browser, "news", "wrw")
    text = browser.get("/map/item?job=news&item=1", headers=SCRIPT).text
    for expected in ("crawler-b", "region=north", "Every hour", "attempt 1", "None is recorded", "Disable item"):
        assert expected in text
    assert "Nothing of the job runs" not in text
    assert "<h1" in browser.get("/map/item?job=news&item=1").text
    for address in ("job=news&item=3", "job=none&item=0", "job=news&item=x", "job=news", "item=1"):
        assert browser.get(f"/map/item?{address}").status_code == 404
    troupe.leave("crawler-b")
    settled(browser, "news", "wuw")
    text = browser.get("/map/item?job=news&item=1", headers=SCRIPT).text
    assert "Nobody owns it" in text
    assert "have no owner" in text


def test_actions_do_what_they_say_and_are_kept(site: Site, troupe: Troupe) -> None:
    """Each acts in the registry, with who asked, and stands in the audit."""
    browser = site.client("operator")
    settled(browser, "news", "www")
    assert site.post(browser, "/map/run", job="news", item="1").status_code == 302
    assert troupe.commands("news").triggers[-1].only == (1,)
    assert troupe.commands("news").triggers[-1].by == "operator-person"
    site.post(browser, "/map/run", job="news")
    assert troupe.commands("news").triggers[-1].only is None
    site.post(browser, "/map/stop", job="news")
    assert troupe.commands("news").stop == 1
    site.post(browser, "/map/pause", job="news")
    assert troupe.config("news").paused
    site.post(browser, "/map/resume?job=news")
    assert not troupe.config("news").paused
    site.post(browser, "/map/disable", job="news", item="2")
    assert troupe.config("news").disabled_items == (2,)
    settled(browser, "news", "wwd")
    assert "Enable item" in browser.get("/map/item?job=news&item=2").text
    site.post(browser, "/map/enable", job="news", item="2")
    assert troupe.config("news").disabled_items == ()
    site.post(browser, "/map/drain", executor="crawler-b")
    assert troupe.registry.get(troupe.paths.drained("crawler-b")) is not None
    site.post(browser, "/map/undrain", executor="crawler-b")
    assert troupe.registry.get(troupe.paths.drained("crawler-b")) is None
    kept = site.people.audit.page(AuditFilter(actor="operator-person"), limit=50)
    assert [(one.action, one.result.value) for one in reversed(kept) if one.kind in {"job", "executor"}] == [
        ("job.trigger", "done"),
        ("job.trigger", "done"),
        ("job.stop", "done"),
        ("job.pause", "done"),
        ("job.resume", "done"),
        ("job.disable", "done"),
        ("job.enable", "done"),
        ("executor.drain", "done"),
        ("executor.undrain", "done"),
    ]
    assert "Drained an executor" in site.client("viewer").get("/overview").text


def test_script_is_told_by_toasts_and_refusals_by_problems(site: Site, troupe: Troupe) -> None:
    """The page stays where it is; what cannot be done says why and stands in the audit."""
    browser = site.client("operator")
    settled(browser, "news", "www")
    answer = browser.post("/map/pause", data={"csrf_token": site.csrf(browser), "job": "news"}, headers=SCRIPT)
    assert (answer.status_code, answer.text) == (204, "")
    [toast] = json.loads(answer.headers["HX-Trigger"])["toast"]["messages"]
    assert (toast["text"], toast["undo"]) == ("news is paused.", "/map/resume?job=news")
    assert site.post(browser, "/map/run", job="nothing").status_code == 404
    assert site.post(browser, "/map/drain", executor="nobody").status_code == 404
    assert site.people.audit.page(AuditFilter(action="executor.drain"), limit=1)[0].result.value == "refused"


def test_pages_stand_while_registry_or_history_are_away(site: Site, troupe: Troupe) -> None:
    """They show what there is, and say what is not."""
    site.is_registry_away = True
    browser = site.client("viewer")
    assert "Nothing was seen of the fleet yet" in browser.get("/map").text
    assert "Nothing was seen of the fleet yet" in browser.get("/overview").text
    assert browser.get("/live").status_code == 503
    answer = site.app.test_client().get("/api/v1/shard-map", headers=site.token("viewer"))
    assert answer.status_code == 503


def test_overview_says_what_needs_attention_and_the_cure(site: Site, troupe: Troupe) -> None:
    """Failed and unowned items, jobs that are held, executors that left; and what comes next."""
    browser = site.client("viewer")
    settled(browser, "news", "www")
    assert "All is well" in browser.get("/overview").text
    troupe.claim("news", 0, "crawler-a")
    site.clock.advance(21)
    settled(browser, "news", "rww")
    troupe.end("news", 0, "crawler-a", ItemState.FAILED, "HTTP 503 <b>")
    troupe.put(troupe.paths.job("odd"), b"{")
    troupe.leave("crawler-b")
    site.clock.advance(21)
    settled(browser, "news", "fuw")
    text = browser.get("/overview").text
    for expected in ("item 0 failed", "HTTP 503 &lt;b&gt;", "no owner for item 1", "held: it does not fire", "left "):
        assert expected in text
    assert browser.get("/overview?range=7d").status_code == 200
    for span, points in (("1h", 60), ("24h", 24), ("7d", 168), ("nonsense", 60)):
        moments, good, bad = browser.get(f"/overview/runs?range={span}").json or []
        assert len(moments) == len(good) == len(bad) == points
    assert browser.get("/map/success").json == {}


def names_on_the_map(browser: FlaskClient) -> set[str]:
    """Return the executors that the map shows."""
    return {one["name"] for one in (browser.get("/live").json or {})["executors"]}


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "two words"])
def test_executor_made_by_hand_is_shown_and_forgotten(site: Site, troupe: Troupe, name: str) -> None:
    """Nobody can have its name: it is listed as unreadable with the cure on all pages, and can be removed."""
    troupe.put(site.paths.executor(name), b"{")
    troupe.put(site.paths.drained(name), b"{")
    site.clock.advance(21)
    browser, program = site.client("operator"), site.token("operator")
    settled(browser, "news", "www")
    eventually(lambda: names_on_the_map(browser) == {"crawler-a", "crawler-b", name})
    listed = site.app.test_client().get("/api/v1/executors", headers=program).json or {}
    assert [one["state"] for one in listed["items"] if one["name"] == name] == ["unreadable"]
    place = f"/executors/{quote(name, safe='')}"
    for path in ("/executors", "/map", "/overview", place):
        text = browser.get(path).text
        assert "by hand" in text or path == "/map", path
        assert str(escape(name)) in text, path
        assert name not in text or name == str(escape(name)), path
    assert "No executor can have that name" in browser.get(place).text
    assert site.post(browser, f"{place}/forget", confirm=name).status_code == 302
    assert site.post(browser, f"{place}/forget", confirm=name).status_code == 404
    eventually(lambda: names_on_the_map(browser) == {"crawler-a", "crawler-b"})


def test_item_looks_the_same_everywhere(site: Site, troupe: Troupe) -> None:
    """On the map, in the list, on the page of its job and in the API: also one that waits for a retry, or is held."""
    troupe.write_cursor("news", 1, state=ItemState.FAILED, failures=1, retry_at=site.clock.now() + timedelta(hours=1))
    troupe.job("odd", {"crawler-a": (0,)})
    node = troupe.registry.get(troupe.paths.job("odd"), fresh=True)
    assert node is not None
    troupe.put(node.path, node.value.replace(b'"0 * * * *"', b'"never"'))
    site.clock.advance(21)
    browser, program = site.client("viewer"), site.token("viewer")
    settled(browser, "news", "wyw")
    settled(browser, "odd", "h")
    for name, states, words in (
        ("news", ["waiting", "retry", "waiting"], "Waits for a retry"),
        ("odd", ["held"], "Held"),
    ):
        answer = site.app.test_client().get(f"/api/v1/jobs/{name}/items", headers=program).json or {}
        assert [one["state"] for one in answer["items"]] == states
        assert f"item-{states[-1]}" in browser.get(f"/jobs?q={name}").text
        assert words in browser.get(f"/jobs/{name}").text
        assert f"item-{states[-1]}" in browser.get(f"/jobs?q={name}&problem=any").text
