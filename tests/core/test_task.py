"""What built-in handlers are told is checked before it is stored."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.job import Isolation, JobConfig
from shardsched.core.setting import changed_job, new_job
from shardsched.core.task import BUILTIN_HANDLERS, check_task
from shardsched.core.task_value import is_expected
from shardsched.errors import JobConfigError
from tests.strategies import tasks

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def json_values() -> st.SearchStrategy[Any]:
    """Whatever JSON can hold."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner))


@given(tasks())
def test_task_that_is_right_is_taken(some: tuple[str, dict[str, Any]]) -> None:
    """Every task of the tests' own making may be written."""
    check_task(*some)


@pytest.mark.parametrize(
    ("handler", "task"),
    [
        ("@shell", {"shell": "tar cf - . | gzip", "env": {"LANG": "C"}, "cwd": "/", "ok_codes": [0, 3]}),
        ("@http", {"url": "http://127.0.0.1:80{item}/x?p={param}", "method": "POST", "headers": {"A": "{run_id}"}}),
        ("@http", {"url": "https://{param}/", "timeout": 1, "connect_timeout": 0.5, "redirects": 3, "expect": "204"}),
        ("@scrapy", {"spider": "shelf", "args": {"a": "b"}, "settings": {"A": [1, {"b": None}]}}),
        ("crawl", {}),
    ],
)
def test_task_with_every_key_is_taken(handler: str, task: dict[str, Any]) -> None:
    """Each key has values that are right."""
    check_task(handler, task)


@pytest.mark.parametrize(
    ("handler", "task", "words"),
    [
        ("crawl", {"argv": ["x"]}, "leave it out"),
        ("@sql", {"query": "x"}, "there are @shell, @http, @scrapy"),
        ("@shell", {}, "has no argv or shell; give it"),
        ("@shell", {"argv": ["x"], "shell": "x"}, "has both argv or shell; give one of them"),
        ("@shell", {"argv": ["x"], "shelf": "x"}, "'shelf' is not known; @shell takes argv, shell, env"),
        ("@shell", {"argv": "tar cf"}, "'argv' is not a list"),
        ("@shell", {"argv": []}, "'argv' is not a list"),
        ("@shell", {"argv": [""]}, "begins with a program"),
        ("@shell", {"argv": ["x", 3]}, "has a word that is not a text"),
        ("@shell", {"argv": ["x", "a\0b"]}, "holds a NUL"),
        ("@shell", {"argv": ["x", "\ud800"]}, "half a character"),
        ("@shell", {"argv": ["x" * 70_000]}, "65536 are allowed"),
        ("@shell", {"shell": ""}, "is empty"),
        ("@shell", {"argv": ["x"], "env": ["A=b"]}, "'env' is not a mapping"),
        ("@shell", {"argv": ["x"], "env": {"A": 1}}, "'A', which is not a text"),
        ("@shell", {"argv": ["x"], "env": {"A=B": "c"}}, "rename it"),
        ("@shell", {"argv": ["x"], "env": {"SHARDSCHED_ITEM": "c"}}, "rename it"),
        ("@shell", {"argv": ["x"], "env": {"SHARDSCHED_MARK": "c"}}, "rename it"),
        ("@shell", {"argv": ["x"], "ok_codes": []}, "exit codes from 0 to 255"),
        ("@shell", {"argv": ["x"], "ok_codes": [True]}, "exit codes from 0 to 255"),
        ("@shell", {"argv": ["x"], "ok_codes": [256]}, "exit codes from 0 to 255"),
        ("@http", {}, "has no url"),
        ("@http", {"url": "ftp://shop/"}, "http or https"),
        ("@http", {"url": "file:///etc/passwd"}, "http or https"),
        ("@http", {"url": "{param}://shop/"}, "http or https"),
        ("@http", {"url": "https:///x"}, "http or https"),
        ("@http", {"url": "https://shop:99999/"}, "http or https"),
        ("@http", {"url": "https://[::1/"}, "http or https"),
        ("@http", {"url": "https://shop/a b"}, "blank"),
        ("@http", {"url": "https://shop/\r\nX: y"}, "control character"),
        ("@http", {"url": "https://me:secret@shop/"}, "give them as a header"),
        ("@http", {"url": "https://{job_param}/"}, "a trigger could then choose"),
        ("@http", {"url": "https://shop.{job_param}?x"}, "a trigger could then choose"),
        ("@http", {"url": "https://shop/", "method": "get"}, "GET or POST"),
        ("@http", {"url": "https://shop/", "method": "GET /x"}, "GET or POST"),
        ("@http", {"url": "https://shop/", "headers": {"A B": "c"}}, "no header may have"),
        ("@http", {"url": "https://shop/", "headers": {"A": "c\r\nB: d"}}, "line break"),
        ("@http", {"url": "https://shop/", "headers": {"A": "\u20ac"}}, "Latin-1"),
        ("@http", {"url": "https://shop/", "body": {"a": 1}}, "'body' is not a text"),
        ("@http", {"url": "https://shop/", "expect": "299-200"}, "200-299,304"),
        ("@http", {"url": "https://shop/", "expect": 200}, "200-299,304"),
        ("@http", {"url": "https://shop/", "expect": ""}, "200-299,304"),
        ("@http", {"url": "https://shop/", "timeout": 0}, "0.1 to 3600"),
        ("@http", {"url": "https://shop/", "timeout": True}, "0.1 to 3600"),
        ("@http", {"url": "https://shop/", "redirects": 21}, "0 to 20"),
        ("@scrapy", {"spider": ""}, "is empty"),
        ("@scrapy", {"spider": "x", "args": {"item": "1"}}, "rename it"),
        ("@scrapy", {"spider": "x", "args": {"crawler": "1"}}, "rename it"),
        ("@scrapy", {"spider": "x", "settings": []}, "mapping"),
    ],
)
def test_task_that_is_wrong_is_refused_in_one_sentence(handler: str, task: dict[str, Any], words: str) -> None:
    """The message names the key and what to give."""
    with pytest.raises(JobConfigError) as caught:
        check_task(handler, task)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@given(
    st.sampled_from([*BUILTIN_HANDLERS, "crawl", "@other"]),
    st.dictionaries(
        st.sampled_from(["argv", "shell", "env", "ok_codes", "url", "headers", "expect", "args", "timeout", "x"]),
        json_values(),
        max_size=4,
    ),
)
def test_any_task_is_taken_or_refused(handler: str, task: dict[str, Any]) -> None:
    """Whatever is stored, the check ends in one of the two."""
    with contextlib.suppress(JobConfigError):
        check_task(handler, task)


@pytest.mark.parametrize(
    ("status", "expected", "answer"),
    [
        (200, "200-299", True),
        (299, "200-299", True),
        (300, "200-299", False),
        (304, "200, 304", True),
        (201, "200", False),
    ],
)
def test_status_is_expected_within_the_spans(status: int, expected: str, answer: bool) -> None:
    """Both ends of a span belong to it."""
    assert is_expected(status, expected) is answer


def test_builtin_handler_in_a_thread_is_refused_and_never_done() -> None:
    """A program would take the executor's place: it cannot be written so, and a hand-written job runs in a process."""
    settings = {"handler": "@shell", "cron": "@daily", "task": {"argv": ["true"]}}
    with pytest.raises(JobConfigError, match="in a process only"):
        new_job("backup", "u", settings | {"isolation": "thread"}, NOW)
    by_hand = JobConfig(
        name="backup", uid="u", handler="@shell", cron="@daily", armed_at=NOW, isolation=Isolation.THREAD
    )
    assert by_hand.run_isolation is Isolation.PROCESS
    assert (
        JobConfig(
            name="books", uid="u", handler="crawl", cron="@daily", armed_at=NOW, isolation=Isolation.THREAD
        ).run_isolation
        is Isolation.THREAD
    )


def test_job_check_refuses_a_bad_task() -> None:
    """A job with a task that its handler cannot do is not created, nor is one changed to it."""
    settings = {"handler": "@shell", "cron": "@daily", "task": {"argv": ["true"]}}
    job = new_job("backup", "u", settings, NOW)
    with pytest.raises(JobConfigError, match="argv"):
        new_job("backup", "u", settings | {"task": {"argv": 3}}, NOW)
    from shardsched.core.job_record import encode_job

    with pytest.raises(JobConfigError, match="leave it out"):
        changed_job("/jobs/backup", "backup", encode_job(job), {"handler": "crawl"}, NOW)
    changed = changed_job("/jobs/backup", "backup", encode_job(job), {"handler": "crawl", "task": {}}, NOW)
    assert (changed.handler, changed.task) == ("crawl", {})
