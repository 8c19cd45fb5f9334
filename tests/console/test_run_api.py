"""Executions, executors and statistics by the API."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.console.run_stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.console.site import Site

EXECUTIONS = "/api/v1/executions"


@pytest.fixture
def site(make_site: Callable[..., Site], tmp_path: Path) -> Site:
    """A console whose machine has a folder of outputs."""
    return make_site(state_dir=tmp_path / "state")


@pytest.fixture
def stage(site: Site) -> Iterator[Stage]:
    """Its fleet and its past."""
    made = Stage(site)
    made.executor("crawler-a", is_leader=True, labels={"region": "eu"})
    yield made
    made.close()


@pytest.fixture
def ask(site: Site) -> Callable[..., Any]:
    """A program with a token of an operator."""
    headers, browser = site.token("operator"), site.app.test_client()

    def send(path: str, method: str = "GET", **options: Any) -> Any:
        return browser.open(path, method=method, headers=headers | options.pop("headers", {}), **options)

    return send


def test_runs_are_paged_by_cursor(stage: Stage, ask: Callable[..., Any]) -> None:
    """Every run once; a cursor that is none of ours is refused."""
    stage.keep(*(stage.run(run_id=f"r{n}", queued_at=stage.now - timedelta(seconds=n + 1)) for n in range(25)))
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ask(f"{EXECUTIONS}?limit=10&outcome=ok,running&cursor={cursor}").json
        seen += [run["run_id"] for run in page["items"]]
        cursor = page["next"]
    assert seen == [f"r{n}" for n in range(25)]
    assert ask(f"{EXECUTIONS}?cursor=nonsense").status_code == 422
    assert ask(f"{EXECUTIONS}?outcome=wonderful").status_code == 422


def test_one_run_has_its_attempts_and_a_version(stage: Stage, ask: Callable[..., Any]) -> None:
    """Asked again with its ETag, it is not sent again."""
    run = stage.run(run_id="r", outcome="failed", traceback="Traceback")
    stage.keep(run, stage.run(run_id="s", fire=run.fire, attempt=2))
    answer = ask(f"{EXECUTIONS}/r")
    assert answer.json["traceback"] == "Traceback"
    assert [each["run_id"] for each in answer.json["attempts"]] == ["r", "s"]
    assert ask(f"{EXECUTIONS}/r", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert ask(f"{EXECUTIONS}/nobody").json["code"] == "not-found"


def test_log_is_read_by_offset_and_by_range(stage: Stage, ask: Callable[..., Any], tmp_path: Path) -> None:
    """The end unless told otherwise; ranges as HTTP has them; what is not there is 416."""
    data = b"".join(b"line %d\n" % number for number in range(40_000))
    stage.keep(stage.with_log(stage.run(run_id="r"), tmp_path / "state", data), stage.run(run_id="s", log_tail="end\n"))
    log = f"{EXECUTIONS}/r/log"
    assert ask(log).data == data[-65_536:]
    assert ask(f"{log}?offset=7&limit=5").data == data[7:12]
    assert ask(f"{log}?offset=-7&limit=5").data == data[-7:-2]
    assert ask(f"{log}?offset=99999999").data == b""
    part = ask(log, headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.data) == (206, data[10:20])
    assert part.headers["Content-Range"] == f"bytes 10-19/{len(data)}"
    assert part.headers["X-Log-Source"] == "disk"
    assert len(ask(log, headers={"Range": "bytes=0-"}).data) == 262_144
    assert ask(log, headers={"Range": f"bytes={len(data)}-"}).status_code == 416
    assert ask(f"{log}?limit=262145").status_code == 422
    kept = ask(f"{EXECUTIONS}/s/log")
    assert (kept.data, kept.headers["X-Log-Source"]) == (b"end\n", "history")


def test_commands_to_runs_are_refused_with_a_reason(stage: Stage, ask: Callable[..., Any], site: Site) -> None:
    """A job that is no more, a run that is over, a token of another scope, a viewer."""
    stage.keep(stage.run(run_id="r"))
    assert ask(f"{EXECUTIONS}/r/stop", "POST").json["code"] == "conflict"
    assert ask(f"{EXECUTIONS}/r/rerun", "POST", json={}).json["code"] == "not-found"
    assert ask(f"{EXECUTIONS}/r/rerun", "POST", json={"items": []}).status_code == 422
    browser = site.app.test_client()
    narrow = site.token("operator", scope="prices-*")
    refused = browser.post(f"{EXECUTIONS}/r/rerun", json={}, headers=narrow).json
    assert refused is not None
    assert refused["code"] == "out-of-scope"
    assert browser.post(f"{EXECUTIONS}/r/stop", headers=site.token("viewer")).status_code == 403


def test_executor_is_drained_and_undrained(stage: Stage, ask: Callable[..., Any]) -> None:
    """As by the page; with one idempotency key it is done once."""
    [one] = ask("/api/v1/executors?q=region%3Deu").json["items"]
    assert (one["state"], one["is_leader"], one["labels"]) == ("live", True, {"region": "eu"})
    key = {"Idempotency-Key": "k1"}
    for _ in range(2):
        answer = ask("/api/v1/executors/crawler-a/drain", "POST", json={"reason": "kernel"}, headers=key)
        assert (answer.status_code, answer.json) == (202, {"changed": True})
    assert ask("/api/v1/executors/crawler-a/drain", "POST", json={"reason": "kernel"}).json == {"changed": False}
    assert ask("/api/v1/executors/crawler-a/failover", "POST", json={}).json == {"changed": True}
    whole = ask("/api/v1/executors/crawler-a").json
    assert whole["state"] == "drained"
    assert ask("/api/v1/executors/crawler-a/forget", "POST").json["code"] == "conflict"
    assert ask("/api/v1/executors/crawler-a/undrain", "POST").json == {"changed": True}
    assert ask("/api/v1/executors/nobody/drain", "POST", json={}).status_code == 404


def test_statistics_come_as_series_and_rankings(stage: Stage, ask: Callable[..., Any]) -> None:
    """Points of a metric, and who leads."""
    stage.keep(*(stage.run(job="prices" if n % 2 else "news", outcome="failed", duration_s=1.0 + n) for n in range(7)))
    points = ask("/api/v1/stats/series?metric=failed&step=60").json["points"]
    assert sum(point["value"] for point in points) == 7
    top = ask("/api/v1/stats/top?by=failing&of=jobs&n=1").json["items"]
    assert [(one["name"], one["value"], one["runs"], one["success_rate"]) for one in top] == [("news", 4.0, 4, 0.0)]
    assert ask("/api/v1/stats/series?metric=failed&step=1&from=2020-01-01T00:00:00Z").status_code == 422
