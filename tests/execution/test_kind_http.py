"""Runs that are HTTP requests."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.execution.pool import Outcome
from tests.execution.web_server import WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shardsched.execution.pool import RunEnded
    from tests.execution.pool_harness import PoolUnderTest


@pytest.fixture
def web() -> Iterator[WebServer]:
    """A server."""
    with WebServer() as server:
        yield server


@pytest.fixture
def deaf_url() -> Iterator[str]:
    """An address that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


def ask(pool: PoolUnderTest, url: str, param: str = "", **task: Any) -> RunEnded:
    """Make a request and wait for the end of the run."""
    return pool.run("@http", param, task={"url": url, **task})


def test_request_is_made_with_the_values_of_its_run(pool: PoolUnderTest, web: WebServer) -> None:
    """Each value is written as it must be where it goes, and the answer is counted and logged."""
    end = ask(
        pool,
        web.url + "/shelf/{param}?n={items}&p={param}",
        param='a/b&c="d"',
        method="POST",
        headers={"Content-Type": "application/json", "X-Run": "{run_id}/{attempt}"},
        body='{"shelf": "{param}", "item": {item}}',
    )
    assert (end.outcome, end.stats) == (Outcome.OK, {"status": 200, "bytes": 7})
    (asked,) = web.asked
    assert (asked.method, asked.path) == ("POST", "/shelf/a%2Fb%26c%3D%22d%22?n=1&p=a%2Fb%26c%3D%22d%22")
    assert json.loads(asked.body) == {"shelf": 'a/b&c="d"', "item": 0}
    assert (asked.headers["x-run"], asked.headers["content-type"]) == ("run1/1", "application/json")
    assert asked.headers["user-agent"].startswith("shardsched")
    log = pool.log(end)
    assert "answered 200 OK" in log
    assert "welcome" in log


@pytest.mark.parametrize(
    ("kind", "body"),
    [("application/x-www-form-urlencoded", "q=a%26b%20c"), (None, "q=a&b c"), ("text/html", "q=a&b c")],
)
def test_body_is_encoded_for_its_type(pool: PoolUnderTest, web: WebServer, kind: str | None, body: str) -> None:
    """A form keeps its fields; plain text, which is the default, has the value as it is."""
    headers = {"content-type": kind} if kind else {}
    end = ask(pool, web.url, "a&b c", method="PUT", body="q={param}", headers=headers)
    assert end.outcome is Outcome.OK
    (asked,) = web.asked
    assert (asked.method, asked.body) == ("PUT", body)
    assert asked.headers["content-type"] == (kind or "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    ("path", "expect", "outcome"),
    [
        ("/status/204", None, Outcome.OK),
        ("/status/404", None, Outcome.FAILED),
        ("/status/404", "404", Outcome.OK),
        ("/status/500", "200-299,304", Outcome.FAILED),
        ("/status/200", "404", Outcome.FAILED),
        ("/to/status/200", None, Outcome.FAILED),
        ("/to/status/200", "302", Outcome.OK),
    ],
)
def test_status_decides(pool: PoolUnderTest, web: WebServer, path: str, expect: str | None, outcome: Outcome) -> None:
    """Success is what the task says it is, 2xx unless it says; a redirect is an answer like another."""
    end = ask(pool, web.url + path, **({"expect": expect} if expect else {}))
    assert end.outcome is outcome
    assert len(web.asked) == 1
    assert end.traceback == ""
    if outcome is Outcome.FAILED:
        assert f"expected {expect or '200-299'}" in end.message


def test_redirects_are_followed_as_many_as_told(pool: PoolUnderTest, web: WebServer) -> None:
    """Beyond the number the redirect itself is the answer."""
    end = ask(pool, web.url + "/to/to/status/200", redirects=2)
    assert (end.outcome, end.stats["status"]) == (Outcome.OK, 200)
    end = ask(pool, web.url + "/to/to/status/200", redirects=1)
    assert (end.outcome, end.stats["status"]) == (Outcome.FAILED, 302)


def test_secrets_stay_out_of_the_log_and_with_their_host(pool: PoolUnderTest, web: WebServer) -> None:
    """They reach the server that was named, neither the log nor the server that it names."""
    headers = {"Authorization": "Bearer very-secret", "X-Shelf": "fiction"}
    end = ask(pool, web.url + "/other/x?token=very-secret", headers=headers, redirects=1)
    assert end.outcome is Outcome.OK
    first, second = web.asked
    assert first.headers["authorization"] == "Bearer very-secret"
    assert "authorization" not in second.headers
    assert second.headers["x-shelf"] == "fiction"
    assert "very-secret" not in pool.log(end)
    assert "fiction" in pool.log(end)
    end = ask(pool, web.url + "/to/x?token=very-secret", headers=headers, expect="302")
    assert "very-secret" not in pool.log(end)
    end = ask(pool, web.url + "/status/500?token=very-secret", headers=headers)
    assert "very-secret" not in end.message + pool.log(end)


def test_header_cannot_be_split_by_a_parameter(pool: PoolUnderTest, web: WebServer) -> None:
    """A parameter with a line break fails the run, and nothing is sent."""
    end = ask(pool, web.url, "a\r\nX-Evil: 1", headers={"X-Shelf": "{param}"})
    assert end.outcome is Outcome.FAILED
    assert "Invalid header value" in end.message
    assert web.asked == []


def test_silent_server_is_given_up(pool: PoolUnderTest, web: WebServer, deaf_url: str) -> None:
    """A server that does not answer within the time is a failure in one sentence, whether it ever spoke or not."""
    for url in (web.url + "/silent", deaf_url):
        end = ask(pool, url, timeout=0.3)
        assert end.outcome is Outcome.FAILED
        assert "timed out" in end.message
        assert end.duration_s < 10


def test_server_that_is_not_there_is_a_failure(pool: PoolUnderTest) -> None:
    """A refused connection is told as such."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    end = ask(pool, f"http://127.0.0.1:{port}/", connect_timeout=1)
    assert end.outcome is Outcome.FAILED
    assert "refused" in end.message


def test_endless_answer_is_cut(pool: PoolUnderTest, web: WebServer) -> None:
    """Of an answer without an end one MiB is read and little is logged."""
    end = ask(pool, web.url + "/endless")
    assert (end.outcome, end.stats["bytes"]) == (Outcome.OK, 1 << 20)
    assert len(pool.log(end)) < 8_192


@pytest.mark.parametrize(
    ("task", "word"),
    [
        ({"url": "file:///etc/passwd"}, "http or https"),
        ({}, "no url"),
        ({"url": "http://x/", "verb": "GET"}, "not known"),
    ],
)
def test_request_written_by_hand_is_refused(pool: PoolUnderTest, task: dict[str, str], word: str) -> None:
    """What the check would not let in is not done either."""
    end = pool.run("@http", task=task)
    assert end.outcome is Outcome.START_FAILED
    assert word in end.message
