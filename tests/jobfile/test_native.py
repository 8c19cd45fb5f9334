"""Our own job files."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.job import SETTINGS
from shardsched.core.setting import PUBLIC_NAMES, new_job, public_settings
from shardsched.core.view import JobEntry
from shardsched.errors import JobFileError
from shardsched.jobfile import (
    Action,
    Form,
    OnConflict,
    Wish,
    job_document,
    parse_jobs,
    plan_import,
    write_json,
    write_yaml,
)
from tests.strategies import ANY_SPEED, job_configs, texts

if TYPE_CHECKING:
    from shardsched.core.job import JobConfig

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CRAWL = {"handler": "crawl", "cron": "0 * * * *"}


def values() -> st.SearchStrategy[Any]:
    """Anything that JSON knows."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts()
    return st.recursive(
        leaves, lambda below: st.lists(below, max_size=3) | st.dictionaries(texts(), below, max_size=3), max_leaves=8
    )


def written(*configs: JobConfig, form: str) -> str:
    """Jobs as a file."""
    document = job_document(configs, with_secrets=True)
    return write_yaml(document) if form == "yaml" else write_json(document)


@pytest.mark.parametrize("form", ["yaml", "json"])
@given(configs=st.lists(job_configs(), max_size=3, unique_by=lambda config: config.name))
@ANY_SPEED
def test_export_is_read_back_unchanged(form: str, configs: list[JobConfig]) -> None:
    """Whatever jobs there are, their file makes the same jobs again, and their import changes nothing."""
    configs = [replace(config, deleting=False) for config in configs]
    parsed = parse_jobs(written(*configs, form=form), Wish(form=Form(form)))
    assert parsed.refusals == ()
    assert [entry.name for entry in parsed.entries] == sorted(config.name for config in configs)
    by_name = {config.name: config for config in configs}
    for entry in parsed.entries:
        config = by_name[entry.name]
        # When it was paused is no setting; a job that is made anew was never paused by anybody.
        assert new_job(entry.name, config.uid, entry.settings, config.armed_at) == replace(config, paused_at=None)
    stored = {name: JobEntry(name=name, version=4, created_id=1, config=config) for name, config in by_name.items()}
    assert {step.action for step in plan_import(parsed, stored, NOW).steps} <= {Action.UNCHANGED}


@pytest.mark.parametrize("form", ["yaml", "json"])
@given(task=st.dictionaries(texts(), values(), max_size=4))
@ANY_SPEED
def test_export_keeps_any_task(form: str, task: dict[str, Any]) -> None:
    """Texts that look like numbers, lines, blanks and other scripts stay what they are."""
    document = {"format": 1, "jobs": {"books": CRAWL | {"task": task}}}
    text = write_yaml(document) if form == "yaml" else write_json(document)
    (entry,) = parse_jobs(text, Wish(form=Form(form))).entries
    assert entry.settings["task"] == task


def test_export_has_every_setting_in_one_order() -> None:
    """Two exports of the same jobs are the same text, whatever order they came in."""
    first, second = (new_job(name, "u", CRAWL | {"param": "ж"}, NOW) for name in ("books", "apples"))
    text = written(first, second, form="yaml")
    assert text == written(second, first, form="yaml")
    assert text.startswith("format: 1\njobs:\n  apples:\n    handler: crawl\n    cron: 0 * * * *\n")
    assert "param: ж" in text
    (_, job) = json.loads(written(first, second, form="json"))["jobs"].items()
    assert list(job[1]) == [PUBLIC_NAMES[setting] for setting in SETTINGS]


def test_written_by_hand_is_taken() -> None:
    """A person writes the settings that matter, numbers of items as numbers, and no more."""
    text = """
format: 1
jobs:
  books:   # the shop
    handler: crawl
    cron: 0 */5 * * * ?
    items: 2
    item_params: {0: fiction, 1: "12"}
    pause: [22:00-06:00, sat]
    paused: true
"""
    (entry,) = parse_jobs(text, Wish()).entries
    assert entry.place == "line 4"
    config = new_job(entry.name, "u", entry.settings, NOW)
    assert (dict(config.item_params), config.pause, config.paused) == (
        {0: "fiction", 1: "12"},
        ("22:00-06:00", "sat"),
        True,
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("jobs: {}", "format: 1"),
        ("format: one\njobs: {}", "format: 1"),
        ("format: true\njobs: {}", "format: 1"),
        ("format: 2\njobs: {}", "newer release"),
        ("format: 1\njob: {}", "'job'"),
        ("format: 1\njobs: [books]", "mapping of jobs"),
        ("- books", "mapping"),
        ("books", "mapping"),
        ("format: 1\n---\nformat: 1", "2 YAML documents"),
        ("", "empty"),
        (" \n", "empty"),
        ("# nothing", "0 YAML documents"),
    ],
)
def test_native_not_a_job_file_is_refused(text: str, words: str) -> None:
    """What is no job file is refused as a whole, with what to write."""
    with pytest.raises(JobFileError, match=words):
        parse_jobs(text, Wish())


def test_native_entry_that_is_no_mapping_is_refused_alone() -> None:
    """One bad entry does not spoil the others, and is told with its line."""
    parsed = parse_jobs("format: 1\njobs:\n  bad: 3\n  books: {handler: crawl}\n", Wish())
    assert [entry.name for entry in parsed.entries] == ["books"]
    assert [(refusal.name, refusal.place) for refusal in parsed.refusals] == [("bad", "line 3")]


@given(settings=st.dictionaries(st.sampled_from([*PUBLIC_NAMES.values(), "odd"]), values()), name=st.text(max_size=5))
@ANY_SPEED
def test_import_of_any_settings_is_taken_or_refused(settings: dict[str, Any], name: str) -> None:
    """Whatever stands in a file, each entry ends in one step, and never in a traceback."""
    text = json.dumps({"format": 1, "jobs": {name: CRAWL | settings}})
    try:
        parsed = parse_jobs(text, Wish(form=Form.JSON))
    except JobFileError:
        return
    stored = JobEntry(name=name, version=0, created_id=1, config=new_job("books", "u", CRAWL, NOW))
    for jobs in ({}, {name: stored}):
        (step,) = plan_import(parsed, jobs, NOW, OnConflict.OVERWRITE).steps
        assert step.action is not Action.REFUSED or step.reason
        assert public_settings(new_job("books", "u", CRAWL, NOW))
