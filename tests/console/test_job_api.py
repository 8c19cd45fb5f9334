"""Jobs by the API: the same rules as by page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.core.fire import ItemState
from shardsched.core.setting import merged_settings
from tests.console.crew import Crew

if TYPE_CHECKING:
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from tests.console.site import Site

JOBS = "/api/v1/jobs"
BOOKS = f"{JOBS}/books"


@pytest.fixture
def crew(site: Site) -> Crew:
    """A fleet with two jobs."""
    crew = Crew(site)
    crew.join("crawler-a")
    crew.lead("crawler-a")
    crew.job("books", {"crawler-a": (0, 1)}, items=2, item_params={0: "fiction"}, labels={})
    crew.job("news", {"crawler-a": (0,)}, cron="", paused=True)
    crew.show()
    return crew


class Program:
    """A program with a token."""

    def __init__(self, site: Site, role: str = "admin", scope: str = "") -> None:
        self._client: FlaskClient = site.app.test_client()
        self._headers = site.token(role, scope=scope)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        """Send a request."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {} if body is None else {"json": body}
        return self._client.open(path, method=method, headers={**self._headers, **named}, **sent)


def body(answer: TestResponse) -> Any:
    """What it says."""
    assert answer.json is not None, answer.text
    return answer.json


@pytest.mark.usefixtures("crew")
def test_jobs_come_by_pages_and_filters(site: Site) -> None:
    """With counts in a header and words in the caller's language."""
    ask = Program(site, "viewer")
    first = ask("GET", f"{JOBS}?page_size=1&sort=-name")
    assert [one["name"] for one in body(first)["items"]] == ["news"]
    assert '"total": 2' in first.headers["X-Pagination"]
    assert [one["name"] for one in body(ask("GET", f"{JOBS}?state=paused"))["items"]] == ["news"]
    books = body(ask("GET", f"{JOBS}?q=book", Accept_Language="zh"))["items"][0]
    assert (books["text"], books["items"], books["states"], books["kind"]) == ("每小时", 2, {"waiting": 2}, "code")
    assert ask("GET", f"{JOBS}?state=odd").status_code == 422


def test_job_is_made_changed_and_deleted(site: Site, crew: Crew) -> None:
    """Every change needs the version that it was decided on."""
    ask = Program(site)
    settings = {"handler": "crawl", "cron": "*/5 * * * *", "item_params": {"0": "a"}}
    made = ask("POST", JOBS, {"name": "shop", "settings": settings})
    assert made.status_code == 201
    path = made.headers["Location"]
    found = ask("GET", path)
    assert body(found)["settings"]["item_params"] == {"0": "a"}
    patch = {"settings": {"retries": 2, "labels": {"zone": "eu"}, "param": "x"}}
    assert ask("PATCH", path, patch).status_code == 428
    tag = found.headers["ETag"]
    changed = ask("PATCH", path, patch, If_Match=tag)
    assert body(changed)["settings"]["retries"] == 2
    assert body(ask("PATCH", path, patch, If_Match=tag))["code"] == "stale-write"
    assert ask("GET", path, If_None_Match=changed.headers["ETag"]).status_code == 304
    patch = {"settings": {"retries": None, "labels": {"zone": None, "disk": "ssd"}}}
    tag = changed.headers["ETag"]
    changed = ask("PATCH", path, patch, If_Match=tag)
    assert (body(changed)["settings"]["retries"], body(changed)["settings"]["labels"]) == (0, {"disk": "ssd"})
    put = ask("PUT", path, {"settings": {"handler": "crawl", "cron": "@daily"}}, If_Match=changed.headers["ETag"])
    assert (body(put)["settings"]["param"], body(put)["settings"]["labels"]) == ("", {})
    assert ask("DELETE", path).status_code == 428
    assert body(ask("DELETE", path, If_Match=put.headers["ETag"])) == {"is_done": True, "running": []}
    assert ask("GET", path).status_code == 404
    assert "shop" not in crew.admin.jobs.names()


@pytest.mark.usefixtures("crew")
@pytest.mark.parametrize(
    ("settings", "pointer"),
    [
        ({"cron": "99 * * * *"}, "/settings/cron"),
        ({"items": 0}, "/settings/items"),
        ({"items": "2"}, "/settings/items"),
        ({"misfire": "maybe"}, "/settings/misfire"),
        ({"item_params": {"7": "x"}}, "/settings/item_params"),
        ({"item_params": {"first": "x"}}, "/settings/item_params"),
        ({"odd": 1}, "/settings/odd"),
        ({"task": {"url": "x"}}, "/settings/task"),
        ({"timezone": "Mars"}, "/settings/timezone"),
    ],
)
def test_fault_of_a_setting_points_to_it(site: Site, settings: dict[str, Any], pointer: str) -> None:
    """Whether the shape or the scheduler refuses it; nothing is written."""
    ask = Program(site)
    tag = ask("GET", BOOKS).headers["ETag"]
    answer = ask("PATCH", BOOKS, {"settings": settings}, If_Match=tag)
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in body(answer)["errors"]] == [pointer]
    assert ask("GET", BOOKS).headers["ETag"] == tag


def test_two_writers_never_overwrite_each_other(site: Site, crew: Crew) -> None:
    """Also where the other one is at the command line."""
    ask = Program(site)
    tag = ask("GET", BOOKS).headers["ETag"]
    crew.admin.jobs.update("books", {"description": "by hand"})
    answer = ask("PATCH", BOOKS, {"settings": {"param": "x"}}, If_Match=tag)
    assert (answer.status_code, crew.config("books").param) == (412, "")
    revisions = body(ask("GET", f"{BOOKS}/revisions"))["items"]
    assert [(one["number"], one["actor"]) for one in revisions] == [(2, ""), (1, "")]


def test_secrets_are_hidden_and_stay(site: Site, crew: Crew) -> None:
    """What is read can be sent back without losing them."""
    ask = Program(site)
    task = {"url": "https://shop.example/", "headers": {"Authorization": "Bearer s3cret"}}
    crew.job("shop", handler="@http", task=task)
    found = ask("GET", f"{JOBS}/shop")
    assert "s3cret" not in found.text
    settings = body(found)["settings"] | {"description": "new"}
    put = ask("PUT", f"{JOBS}/shop", {"settings": settings}, If_Match=found.headers["ETag"])
    assert put.status_code == 200
    assert crew.config("shop").task == task
    copy = ask("POST", JOBS, {"name": "copy", "settings": settings})
    assert (copy.status_code, "hidden" in body(copy)["detail"]) == (422, True)
    assert "s3cret" not in ask("GET", "/api/v1/jobs:export").text
    assert all("s3cret" not in str(one.value) for one in site.people.revisions.page("job", "shop"))


def test_commands_are_carried_out(site: Site, crew: Crew) -> None:
    """In the token's name, once for each key."""
    ask = Program(site, "operator")
    key = {"Idempotency_Key": "k1"}
    first = ask("POST", f"{BOOKS}/trigger", {"items": [1], "param": "p"}, **key)
    again = ask("POST", f"{BOOKS}/trigger", {"items": [1], "param": "p"}, **key)
    assert (first.status_code, body(first)) == (202, {"number": 1, "owners": {"crawler-a": [1]}, "waiting": []})
    assert body(again) == body(first)
    (trigger,) = crew.commands("books").triggers
    assert (trigger.only, trigger.param, trigger.by) == ((1,), "p", "operator-person")
    assert body(ask("POST", f"{BOOKS}/items/0/trigger", {}))["owners"] == {"crawler-a": [0]}
    assert body(ask("POST", f"{BOOKS}/pause")) == {"changed": ["paused"]}
    assert body(ask("POST", f"{BOOKS}/pause")) == {"changed": []}
    assert body(ask("POST", f"{BOOKS}/resume")) == {"changed": ["paused"]}
    assert body(ask("PUT", f"{BOOKS}/failover", {"enabled": False})) == {"changed": ["failover"]}
    assert body(ask("PUT", f"{BOOKS}/items/1/disabled")) == {"changed": ["disabled_items"]}
    assert body(ask("GET", f"{BOOKS}/items/1"))["state"] == "disabled"
    assert ask("POST", f"{BOOKS}/items/1/trigger", {}).status_code == 409
    assert body(ask("DELETE", f"{BOOKS}/items/1/disabled")) == {"changed": ["disabled_items"]}
    assert body(ask("POST", f"{BOOKS}/stop")) == {"running": []}
    for method, path in (("GET", "items/7"), ("POST", "items/7/trigger"), ("PUT", "items/7/disabled")):
        assert ask(method, f"{BOOKS}/{path}", {} if method == "POST" else None).status_code == 404


def test_items_say_what_they_last_did(site: Site, crew: Crew) -> None:
    """And what they do now."""
    crew.write_cursor("books", 0, state=ItemState.FAILED, message="boom", attempt=2, executor="crawler-a")
    crew.claim("books", 1, "crawler-a")
    first, second = body(Program(site, "viewer")("GET", f"{BOOKS}/items"))["items"]
    assert (first["state"], first["message"], first["attempt"], first["param"]) == ("failed", "boom", 2, "fiction")
    assert (second["state"], second["executor"]) == ("running", "crawler-a")
    assert body(Program(site)("GET", BOOKS))["running"] == [1]


def test_running_job_is_not_deleted_by_the_way(site: Site, crew: Crew) -> None:
    """Unless that is asked for."""
    ask = Program(site)
    crew.claim("books", 1, "crawler-a")
    tag = ask("GET", BOOKS).headers["ETag"]
    assert ask("DELETE", BOOKS, If_Match=tag).status_code == 409
    crew.leave("crawler-a")
    assert ask("DELETE", f"{BOOKS}?stop=true", If_Match=tag).status_code == 200


@pytest.mark.usefixtures("crew")
def test_fires_come_in_the_zone_of_the_job(site: Site) -> None:
    """None for one that only fires when it is triggered."""
    ask = Program(site, "viewer")
    fires = body(ask("GET", f"{BOOKS}/next-fires?n=2"))
    assert fires == {"fires": ["2026-01-01T01:00:00+00:00", "2026-01-01T02:00:00+00:00"], "paused": False}
    assert body(ask("GET", f"{JOBS}/news/next-fires")) == {"fires": [], "paused": True}


def test_revision_is_restored(site: Site, crew: Crew) -> None:
    """As a new one; revisions come by cursor."""
    ask = Program(site)
    for text in ("one", "two", "three"):
        tag = ask("GET", BOOKS).headers["ETag"]
        ask("PATCH", BOOKS, {"settings": {"description": text}}, If_Match=tag)
    assert body(ask("POST", f"{BOOKS}/revisions/2/restore")) == {"changed": ["description"]}
    assert crew.config("books").description == "one"
    assert ask("POST", f"{BOOKS}/revisions/99/restore").status_code == 404
    first = body(ask("GET", f"{BOOKS}/revisions?limit=3"))
    second = body(ask("GET", f"{BOOKS}/revisions?limit=3&cursor={first['next']}"))
    assert [one["number"] for one in first["items"] + second["items"]] == [5, 4, 3, 2, 1]
    assert second["next"] is None


def test_many_at_once(site: Site, crew: Crew) -> None:
    """Each has its result; a dry run and another count do nothing."""
    ask = Program(site, "operator")
    bulk = "/api/v1/jobs:bulk"
    dry = body(ask("POST", bulk, {"action": "pause", "filter": {}, "expect_count": 2, "dry_run": True}))
    assert [one["name"] for one in dry["items"]] == ["books", "news"]
    assert not crew.config("books").paused
    assert ask("POST", bulk, {"action": "pause", "filter": {}, "expect_count": 3}).status_code == 409
    done = body(ask("POST", bulk, {"action": "pause", "names": ["books", "news", "gone"]}))["items"]
    assert [(one["is_done"], one["is_changed"]) for one in done] == [(True, True), (True, False), (False, False)]
    assert ask("POST", bulk, {"action": "delete", "names": ["books"]}).status_code == 403
    for wrong in ({"action": "pause"}, {"action": "pause", "filter": {}}, {"action": "odd", "names": ["x"]}):
        assert ask("POST", bulk, wrong).status_code == 422


def test_scope_of_a_token_holds(site: Site, crew: Crew) -> None:
    """For one job, for many at once, and for files."""
    ask = Program(site, "operator", scope="news*")
    assert body(ask("POST", f"{BOOKS}/pause"))["code"] == "out-of-scope"
    assert ask("POST", f"{JOBS}/news/resume").status_code == 200
    done = body(ask("POST", "/api/v1/jobs:bulk", {"action": "pause", "names": ["books", "news"]}))["items"]
    assert [one["is_done"] for one in done] == [False, True]
    text = "format: 1\njobs:\n  other: {handler: crawl, cron: '@daily'}\n"
    assert ask("POST", "/api/v1/jobs:import", {"text": text, "dry_run": False}).status_code == 403
    assert ask("POST", JOBS, {"name": "x", "settings": {"handler": "crawl"}}).status_code == 403
    assert not crew.config("books").paused


def test_scope_of_a_token_ends_at_its_jobs(site: Site, crew: Crew) -> None:
    """Executors run other jobs too, and whoever makes users makes one without a scope."""
    ask = Program(site, "admin", scope="news*")
    user = site.user("viewer")
    for command in ("drain", "failover", "undrain", "forget"):
        assert body(ask("POST", f"/api/v1/executors/crawler-a/{command}", {}))["code"] == "out-of-scope"
    person = {"name": "eve", "role": "admin", "password": "four green ducks type slowly"}
    tag = ask("GET", f"/api/v1/users/{user.id}").headers["ETag"]
    assert body(ask("POST", "/api/v1/users", person))["code"] == "out-of-scope"
    assert ask("PATCH", f"/api/v1/users/{user.id}", {"role": "admin"}, If_Match=tag).status_code == 403
    assert ask("DELETE", f"/api/v1/users/{user.id}", If_Match=tag).status_code == 403
    assert ask("POST", "/map/drain?executor=crawler-a").status_code == 403
    assert crew.registry.children(crew.paths.under("drained")) == ()
    assert site.people.users.named("eve") is None


def test_token_of_a_token_ends_with_it(site: Site) -> None:
    """Whoever found one cannot keep themselves in with it for ever."""
    ask = Program(site, "operator")
    wanted = {"name": "next", "role": "operator"}
    assert body(ask("POST", "/api/v1/me/tokens", wanted | {"days": 91}))["errors"][0]["pointer"] == "/days"
    assert ask("POST", "/api/v1/me/tokens", wanted | {"days": 90}).status_code == 201


def test_file_goes_out_and_in(site: Site, crew: Crew) -> None:
    """A dry run unless told otherwise; what conflicts is refused as a whole."""
    ask = Program(site, "operator")
    exported = body(ask("GET", "/api/v1/jobs:export?names=books"))
    exported["jobs"]["novels"] = exported["jobs"].pop("books")
    import_ = {"text": json.dumps(exported)}
    planned = body(ask("POST", "/api/v1/jobs:import", import_))
    assert [(one["name"], one["action"]) for one in planned["items"]] == [("novels", "create")]
    assert (planned["is_written"], "novels" in crew.admin.jobs.names()) == (False, False)
    assert body(ask("POST", "/api/v1/jobs:import", import_ | {"dry_run": False}))["is_written"]
    assert crew.config("novels").item_params == {0: "fiction"}
    crew.admin.jobs.update("novels", {"param": "other"})
    assert ask("POST", "/api/v1/jobs:import", import_ | {"dry_run": False}).status_code == 409
    assert ask("POST", "/api/v1/jobs:import", {"text": "{", "format": "json"}).status_code == 422


def test_registry_away_is_told_as_such(site: Site, crew: Crew) -> None:
    """503 with when to ask again; lists are still given."""
    ask = Program(site)
    assert site.parts.fleet._link is not None
    site.parts.fleet._link.close()
    crew.show()
    answer = ask("POST", f"{BOOKS}/pause")
    assert (answer.status_code, body(answer)["code"]) == (503, "registry-away")
    assert answer.headers["Retry-After"]
    assert len(body(ask("GET", JOBS))["items"]) == 2


def test_merge_patch_is_that_of_the_standard() -> None:
    """The examples of RFC 7396 that concern mappings."""
    assert merged_settings({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}) == {"a": {"b": "d"}}
    assert merged_settings({"a": [1]}, {"a": {"b": "c"}}) == {"a": {"b": "c"}}
    assert merged_settings({"a": "b"}, {"b": "c", "a": None}) == {"b": "c"}
