"""What an import would do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shardsched.core.setting import new_job
from shardsched.core.view import JobEntry
from shardsched.jobfile import Action, Entry, ImportPlan, OnConflict, Parsed, Refusal, job_document, plan_import
from tests.jobfile.test_native import CRAWL, NOW

CONFIG = new_job("books", "u", CRAWL | {"items": 3, "timeout": 9}, NOW)


def stored(**fields: Any) -> JobEntry:
    """The job as it is stored."""
    return JobEntry(name="books", version=4, created_id=1, **({"config": CONFIG} | fields))


def plan(settings: dict[str, Any], entry: JobEntry | None, on_conflict: str = "fail") -> ImportPlan:
    """What is done about one job."""
    parsed = Parsed(form="shardsched", entries=(Entry(name="books", settings=settings, place="line 3"),))
    return plan_import(
        parsed, {} if entry is None else {"books": entry}, NOW + timedelta(days=1), OnConflict(on_conflict)
    )


def test_plan_new_job_is_created_with_what_differs_from_defaults() -> None:
    """A new job's diff is what it has beyond the defaults."""
    made = plan(CRAWL | {"items": 2}, None)
    (step,) = made.steps
    assert (step.action, step.place, made.is_blocked) == (Action.CREATE, "line 3", False)
    assert [(change.setting, change.old, change.new) for change in step.changes] == [
        ("handler", "", "crawl"),
        ("cron", "", "0 * * * *"),
        ("items", 1, 2),
    ]


@pytest.mark.parametrize(
    ("on_conflict", "action", "is_blocked"),
    [("fail", Action.CONFLICT, True), ("skip", Action.SKIP, False), ("overwrite", Action.CHANGE, False)],
)
def test_plan_differing_job_is_as_asked(on_conflict: str, action: Action, is_blocked: bool) -> None:
    """What exists and differs blocks all, stays, or becomes what the file says, defaults included."""
    made = plan(CRAWL | {"items": 5}, stored(), on_conflict)
    (step,) = made.steps
    assert (step.action, made.is_blocked, step.version) == (action, is_blocked, 4)
    assert [(change.setting, change.old, change.new) for change in step.changes] == [
        ("items", 3, 5),
        ("timeout", 9, None),
    ]
    assert dict(step.settings) == ({"items": 5, "timeout_s": None} if action is Action.CHANGE else {})
    assert bool(step.reason) is (action is not Action.CHANGE)


def test_plan_same_job_is_unchanged_and_no_conflict() -> None:
    """Importing a file twice is no conflict."""
    made = plan(CRAWL | {"items": 3, "timeout": 9.0}, stored())
    assert ([step.action for step in made.steps], made.is_blocked) == ([Action.UNCHANGED], False)


def test_plan_what_people_switched_off_stays_off() -> None:
    """A pause and disabled items stay unless the file names them."""
    paused = stored(config=replace(CONFIG, paused=True, disabled_items=(1,)))
    same = CRAWL | {"items": 3, "timeout": 9}
    assert plan(same, paused).steps[0].action is Action.UNCHANGED
    (step,) = plan(same | {"paused": False}, paused, "overwrite").steps
    assert dict(step.settings) == {"paused": False}


def test_plan_last_fire_that_has_passed_is_no_fault_of_the_same_job() -> None:
    """A job that has had its last fire is unchanged, but is not made anew, and not given such a schedule."""
    over = "0 0 12 1 1 ? 2026"
    config = replace(CONFIG, cron=over)
    same = CRAWL | {"items": 3, "timeout": 9, "cron": over}
    assert plan(same, stored(config=config)).steps[0].action is Action.UNCHANGED
    assert plan(same, None).steps[0].action is Action.REFUSED
    assert plan(same, stored(), "overwrite").steps[0].action is Action.REFUSED


@pytest.mark.parametrize(
    ("on_conflict", "action"), [("fail", Action.CONFLICT), ("skip", Action.SKIP), ("overwrite", Action.CHANGE)]
)
def test_plan_unreadable_job_is_mended_only_when_asked(on_conflict: str, action: Action) -> None:
    """A stored job that cannot be read is one that differs."""
    (step,) = plan(CRAWL, stored(config=None, held="it is not JSON"), on_conflict).steps
    assert step.action is action
    assert "it is not JSON" in step.reason or action is Action.CHANGE


@pytest.mark.parametrize("on_conflict", ["fail", "skip", "overwrite"])
def test_plan_job_being_deleted_is_refused(on_conflict: str) -> None:
    """Nothing can be said of a job that goes away at this moment."""
    (step,) = plan(CRAWL, stored(config=replace(CONFIG, deleting=True)), on_conflict).steps
    assert (step.action, "deleted" in step.reason) == (Action.REFUSED, True)


def test_plan_refusals_block_and_come_last() -> None:
    """What the parser refused is part of the plan, and of what 'fail' looks at."""
    parsed = Parsed(
        form="crontab",
        entries=(Entry(name="books", settings=CRAWL | {"odd": 1}), Entry(name="a/b", settings=CRAWL)),
        refusals=(Refusal(name="boot", reason="there is no @reboot", place="line 9"),),
    )
    made = plan_import(parsed, {}, NOW)
    assert [step.action for step in made.steps] == [Action.REFUSED] * 3
    assert [word in step.reason for step, word in zip(made.steps, ("odd", "a/b", "@reboot"), strict=True)] == [True] * 3
    assert made.is_blocked
    assert not replace(made, on_conflict=OnConflict.SKIP).is_blocked


TASK = {
    "url": "https://shop.example/a?token=t0p&page=1",
    "headers": {"Authorization": "Bearer s3cret", "Accept": "text/html"},
    "method": "GET",
}


def test_export_hides_secrets_and_import_takes_them_from_the_stored_job() -> None:
    """No secret is in a file unless asked for; the same registry still takes the file as it is."""
    config = replace(CONFIG, handler="@http", task=TASK)
    document = job_document([config])
    assert "s3cret" not in str(document)
    assert "t0p" not in str(document)
    assert "s3cret" in str(job_document([config], with_secrets=True))
    settings = document["jobs"]["books"]
    assert plan(settings, stored(config=config)).steps[0].action is Action.UNCHANGED
    changed = settings | {"task": settings["task"] | {"method": "POST"}}
    (step,) = plan(changed, stored(config=config), "overwrite").steps
    assert step.settings["task"] == TASK | {"method": "POST"}
    assert "s3cret" not in str(step.changes)
    assert "t0p" not in str(step.changes)


def test_export_hides_the_password_within_a_variable_and_import_restores_it() -> None:
    """A secret that is only a part of a value is hidden and taken back like a whole one."""
    task = {"argv": ["x"], "env": {"DB": "postgresql://me:s3cret@db/shop", "LANG": "C"}}
    config = replace(CONFIG, handler="@shell", task=task)
    settings = job_document([config])["jobs"]["books"]
    assert settings["task"]["env"] == {"DB": "postgresql://me:***@db/shop", "LANG": "C"}
    assert plan(settings, stored(config=config)).steps[0].action is Action.UNCHANGED


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ({"url": "https://a", "headers": {"Authorization": "***"}}, "headers.Authorization"),
        ({"url": "https://a?token=***"}, "url"),
        ({"url": "https://a", "headers": {"X-Proxy": "http://me:***@b/"}}, "headers.X-Proxy"),
    ],
)
def test_import_without_the_hidden_secrets_is_refused(task: dict[str, Any], name: str) -> None:
    """Elsewhere a hidden value is asked for, and never stored as if it were one."""
    (step,) = plan(CRAWL | {"handler": "@http", "task": task}, None).steps
    assert (step.action, name in step.reason) == (Action.REFUSED, True)
