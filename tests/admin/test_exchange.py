"""Exporting and importing jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shardsched.errors import ConflictError, JobNotFoundError
from shardsched.jobfile import Action, Entry, OnConflict, Parsed, Wish, job_document, parse_jobs, write_yaml
from tests.admin.stage import HOURLY

if TYPE_CHECKING:
    from shardsched.jobfile import ImportPlan
    from tests.admin.stage import Stage


def planned(stage: Stage, on_conflict: OnConflict = OnConflict.FAIL, **jobs: dict[str, Any]) -> ImportPlan:
    """What the import of a file would do."""
    entries = tuple(Entry(name=name, settings=HOURLY | settings) for name, settings in jobs.items())
    return stage.admin.exchange.plan(Parsed(form="shardsched", entries=entries), on_conflict)


def actions(stage: Stage, plan: ImportPlan) -> list[tuple[str, Action]]:
    """What became of each job."""
    return [(step.name, step.action) for step in stage.admin.exchange.carry_out(plan)]


def test_import_of_an_export_makes_the_same_jobs(stage: Stage) -> None:
    """A fleet's jobs go into a file, and come out of it in another fleet or after a loss."""
    stage.join("e1")
    before = [
        stage.job("books", items=3, item_params={1: "b"}),
        stage.job("apples", paused=True, labels={"zone": "eu"}),
    ]
    text = write_yaml(job_document(stage.admin.exchange.export().configs))
    for config in before:
        stage.admin.jobs.delete(config.name)
    stage.leave("e1")
    plan = stage.admin.exchange.plan(parse_jobs(text, Wish()))
    assert actions(stage, plan) == [("apples", Action.CREATE), ("books", Action.CREATE)]
    assert write_yaml(job_document(stage.admin.exchange.export().configs)) == text
    assert stage.admin.exchange.unhosted(plan) == ("crawl",)


def test_export_of_chosen_jobs(stage: Stage) -> None:
    """Only what is named is exported, and what does not exist is an error."""
    stage.join("e1")
    stage.job("books")
    stage.job("apples")
    assert [config.name for config in stage.admin.exchange.export(("books",)).configs] == ["books"]
    with pytest.raises(JobNotFoundError):
        stage.admin.exchange.export(("books", "pears"))


def test_export_leaves_out_what_cannot_be_read(stage: Stage) -> None:
    """A record that cannot be read is named with the reason, and the others are exported."""
    stage.join("e1")
    stage.job("books")
    stage.put(stage.paths.job("broken"), b"{")
    export = stage.admin.exchange.export()
    assert [config.name for config in export.configs] == ["books"]
    assert list(export.left_out) == ["broken"]


def test_import_blocked_writes_nothing(stage: Stage) -> None:
    """One conflict keeps the whole file out by default."""
    stage.join("e1")
    stage.job("books")
    plan = planned(stage, apples={}, books={"items": 5})
    with pytest.raises(ConflictError, match="nothing was written"):
        actions(stage, plan)
    assert stage.admin.jobs.names() == ("books",)


def test_import_skips_or_overwrites_as_asked(stage: Stage) -> None:
    """The rest of the file is written, and a job that is changed keeps its identity."""
    stage.join("e1")
    uid = stage.job("books").uid
    assert actions(stage, planned(stage, OnConflict.SKIP, apples={}, books={"items": 5})) == [
        ("apples", Action.CREATE),
        ("books", Action.SKIP),
    ]
    assert stage.config("books").items == 1
    assert actions(stage, planned(stage, OnConflict.OVERWRITE, books={"items": 5}, apples={})) == [
        ("books", Action.CHANGE),
        ("apples", Action.UNCHANGED),
    ]
    assert (stage.config("books").items, stage.config("books").uid) == (5, uid)


def test_import_mends_an_unreadable_job_when_asked(stage: Stage) -> None:
    """Overwriting gives each setting anew."""
    stage.join("e1")
    stage.job("books")
    stage.put(stage.paths.job("books"), b'{"format":1,"uid":"u","handler":"crawl","cron":"x","armed_at":"y","items":0}')
    assert actions(stage, planned(stage, OnConflict.OVERWRITE, books={"items": 2})) == [("books", Action.CHANGE)]
    assert stage.config("books").items == 2


@pytest.mark.parametrize(
    ("on_conflict", "after"), [(OnConflict.FAIL, Action.SKIP), (OnConflict.OVERWRITE, Action.CREATE)]
)
def test_import_race_is_a_conflict_of_that_job(stage: Stage, on_conflict: OnConflict, after: Action) -> None:
    """A job that somebody makes in between stays theirs; with 'fail' nothing is written after it."""
    stage.join("e1")
    plan = planned(stage, on_conflict, apples={}, books={"items": 5}, pears={})
    stage.job("books", items=9)
    assert actions(stage, plan) == [("apples", Action.CREATE), ("books", Action.CONFLICT), ("pears", after)]
    assert stage.config("books").items == 9


def test_import_race_of_a_change_is_a_conflict(stage: Stage) -> None:
    """A change is bound to the version that it was decided on."""
    stage.join("e1")
    stage.job("books")
    plan = planned(stage, OnConflict.OVERWRITE, books={"items": 5})
    stage.admin.jobs.update("books", {"items": 9})
    assert actions(stage, plan) == [("books", Action.CONFLICT)]
    assert stage.config("books").items == 9
