"""Creating, registering, changing and pausing jobs."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.core.executor import encode_executor
from shardsched.core.fire import ItemState
from shardsched.core.job import Misfire
from shardsched.core.job_record import encode_job
from shardsched.errors import (
    ConfigurationError,
    ConflictError,
    CorruptNodeError,
    CronExpressionError,
    ItemParameterError,
    JobConfigError,
    JobExistsError,
    JobNotFoundError,
    StaleVersionError,
)
from shardsched.registry.base import Delete
from tests.admin.stage import HOURLY

if TYPE_CHECKING:
    from tests.admin.stage import Stage

CODE: dict[str, Any] = {
    "cron": "0 * * * *",
    "items": 2,
    "item_params": "0=a,1=b",
    "misfire_grace_s": 60,
    "timeout_s": None,
    "labels": {},
}


def test_create_job_new_name_writes_job_and_parents(stage: Stage) -> None:
    """A created job has its configuration and the nodes above its items, and is armed now."""
    stage.join("e1")
    stage.job("books", items=3, item_params={0: "fiction"})
    config = stage.config("books")
    assert (config.items, dict(config.item_params), config.armed_at) == (3, {0: "fiction"}, stage.clock.now())
    assert {stage.paths.cursors("books"), stage.paths.markers("books")} <= stage.tree()


def test_create_job_existing_name_is_refused(stage: Stage) -> None:
    """A second job of one name is refused and the first stays as it is."""
    stage.join("e1")
    first = stage.job("books")
    with pytest.raises(JobExistsError):
        stage.job("books", items=5)
    assert stage.config("books") == first


def test_create_job_concurrently_exactly_one_wins(stage: Stage) -> None:
    """Of several people who create one job at once, one does and the others are told that it exists."""
    stage.join("e1")
    results: list[str] = []

    def create(items: int) -> None:
        try:
            stage.job("books", items=items)
            results.append(f"made {items}")
        except JobExistsError:
            results.append("refused")

    threads = [threading.Thread(target=create, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(results)[1:] == ["refused"] * 5
    assert results.count(f"made {stage.config('books').items}") == 1


def test_create_job_unhosted_handler_names_the_hosted(stage: Stage) -> None:
    """A handler that nobody hosts is refused, with the names of those that are; nothing is written."""
    with pytest.raises(JobConfigError, match="nor any other"):
        stage.job("books")
    stage.join("e1", handlers=("alpha", "beta"))
    with pytest.raises(JobConfigError, match="alpha, beta") as caught:
        stage.job("books")
    assert caught.value.setting == "handler"
    assert stage.admin.jobs.names() == ()


def test_create_job_by_function_takes_the_handlers_name(stage: Stage) -> None:
    """A handler may be given as module:function where one handler is that function."""
    stage.join("e1", handlers=("crawl", "clean"))
    stage.admin.jobs.create("tidy", HOURLY | {"handler": "shop.jobs:clean"})
    assert stage.config("tidy").handler == "clean"


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"items": 0}, JobConfigError),
        ({"items": -1}, JobConfigError),
        ({"items": 1.5}, JobConfigError),
        ({"items": "3"}, JobConfigError),
        ({"items": 10**9}, JobConfigError),
        ({"items": True}, JobConfigError),
        ({"cron": "61 * * * *"}, CronExpressionError),
        ({"cron": "0 0 30 2 *"}, CronExpressionError),
        ({"cron": None}, JobConfigError),
        ({"timezone": "Mars/Olympus"}, ConfigurationError),
        ({"item_params": {7: "x"}}, ItemParameterError),
        ({"item_params": 3}, ItemParameterError),
        ({"misfire": "never"}, JobConfigError),
        ({"failover": "yes"}, JobConfigError),
        ({"labels": "zone=eu"}, JobConfigError),
        ({"labels": {"zone": 1}}, JobConfigError),
        ({"timeout": -1}, JobConfigError),
        ({"param": "x" * 70_000}, JobConfigError),
        ({"description": "\ud800"}, JobConfigError),
        ({"colour": "red"}, JobConfigError),
    ],
)
def test_create_job_bad_setting_is_refused_and_nothing_written(
    stage: Stage, settings: dict[str, Any], error: type[Exception]
) -> None:
    """Data that is wrong is refused before anything is written."""
    stage.join("e1")
    with pytest.raises(error):
        stage.job("books", **settings)
    assert stage.admin.jobs.names() == ()


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "\ud800", "x" * 129, "q\"'s", "a\nb"])
def test_create_job_bad_name_is_refused(stage: Stage, name: str) -> None:
    """One rule for names holds wherever a job is made."""
    stage.join("e1")
    with pytest.raises(JobConfigError):
        stage.job(name)
    assert stage.admin.jobs.names() == ()


@pytest.mark.parametrize("name", ["", "..", "a/b", "\ud800", "books"])
def test_job_unknown_name_is_not_found(stage: Stage, name: str) -> None:
    """A name that no job has is not found, whatever it is made of."""
    stage.join("e1")
    jobs, commands = stage.admin.jobs, stage.admin.commands
    for ask in (jobs.entry, jobs.pause, jobs.delete, commands.trigger, commands.stop, stage.admin.job_status):
        with pytest.raises(JobNotFoundError):
            ask(name)


def test_create_job_over_leftovers_of_an_earlier_one_succeeds(stage: Stage) -> None:
    """Nodes that stayed when a job was removed by hand do not keep a new one of the name from being made."""
    stage.join("e1")
    stage.job("books")
    stage.write_cursor("books", 0, state=ItemState.DONE)
    stage.registry.transact([_delete(stage.paths.job("books"))])
    stage.job("books")
    assert stage.admin.job_status("books").items[0].cursor is None


def _delete(path: str) -> Any:
    return Delete(path)


def test_register_job_absent_creates_it_with_its_own_handler(stage: Stage) -> None:
    """Code that is new to the fleet makes its job, also with no executor in the fleet yet."""
    registration = stage.admin.jobs.register("books", CODE)
    assert registration.is_created
    config = stage.config("books")
    assert (config.handler, config.items, dict(config.item_params)) == ("books", 2, {0: "a", 1: "b"})


def test_register_job_differing_registry_wins_and_differences_are_told(stage: Stage) -> None:
    """What people changed stays; the settings that differ are named as people name them."""
    stage.admin.jobs.register("books", CODE)
    stage.admin.jobs.update("books", {"items": 3, "timeout": 30})
    registration = stage.admin.jobs.register("books", CODE)
    assert registration.differences == ("items", "timeout")
    assert not registration.is_created
    assert not registration.is_updated
    assert stage.config("books").items == 3


def test_register_job_same_again_changes_nothing(stage: Stage) -> None:
    """A restart with the same code leaves the job alone, armed as it was."""
    stage.admin.jobs.register("books", CODE)
    before = stage.admin.jobs.entry("books")
    stage.clock.advance(3600)
    assert stage.admin.jobs.register("books", CODE | {"misfire_grace_s": 60.0}).differences == ()
    assert stage.admin.jobs.entry("books") == before


def test_register_job_overwrite_replaces_settings_but_never_resumes(stage: Stage) -> None:
    """With overwrite the code's settings win, but a job that people paused stays paused."""
    stage.admin.jobs.register("books", CODE)
    stage.admin.jobs.pause("books")
    registration = stage.admin.jobs.register("books", CODE | {"items": 4}, overwrite=True)
    assert (registration.is_updated, registration.differences) == (True, ("items",))
    config = stage.config("books")
    assert (config.items, config.paused) == (4, True)


def test_register_job_unreadable_copy_is_a_fault_and_harms_nobody(stage: Stage) -> None:
    """A stored job that cannot be read is reported, not raised; with overwrite it is mended."""
    stage.admin.jobs.register("books", CODE)
    stage.put(stage.paths.job("books"), encode_job(stage.config("books")).replace(b'"items":2', b'"items":0'))
    registration = stage.admin.jobs.register("books", CODE)
    assert registration.fault is not None
    assert "items" in registration.fault
    assert stage.admin.jobs.register("books", CODE, overwrite=True).is_updated
    assert stage.config("books").items == 2


def test_register_job_half_deleted_is_removed_and_made_anew(stage: Stage) -> None:
    """A job whose deletion was interrupted is made anew under another uid once nothing of it runs."""
    stage.admin.jobs.register("books", CODE)
    stage.join("e1")
    stage.claim("books", 0, "e1")
    first = stage.config("books")
    assert not stage.admin.jobs.delete("books", wait_s=0).is_done
    assert stage.admin.jobs.register("books", CODE).fault == "it is being deleted"
    stage.leave("e1")
    assert stage.admin.jobs.register("books", CODE).is_created
    assert stage.config("books").uid != first.uid


def test_register_job_by_many_executors_at_once_creates_it_once(stage: Stage) -> None:
    """Of executors that start together with the same code, exactly one makes the job."""
    made: list[bool] = []
    threads = [
        threading.Thread(target=lambda: made.append(stage.admin.jobs.register("books", CODE).is_created))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(made) == [False] * 5 + [True]


def test_update_job_changes_only_what_is_given(stage: Stage) -> None:
    """Settings that are not given stay, and what changed is named."""
    stage.join("e1")
    stage.job("books", items=3, misfire="skip")
    change = stage.admin.jobs.update("books", {"items": 5, "misfire": "skip", "param": "x"})
    assert (change.version, set(change.changed)) == (1, {"items", "param"})
    config = stage.config("books")
    assert (config.items, config.misfire, config.param) == (5, Misfire.SKIP, "x")


def test_update_job_to_what_it_is_writes_nothing(stage: Stage) -> None:
    """A change that changes nothing leaves the version alone."""
    stage.join("e1")
    stage.job("books", items=3)
    assert stage.admin.jobs.update("books", {"items": 3}).changed == ()
    assert stage.admin.jobs.entry("books").version == 0


def test_update_job_expected_version_old_is_refused(stage: Stage) -> None:
    """A change decided on an old version is refused and nothing is written."""
    stage.join("e1")
    stage.job("books")
    stage.admin.jobs.update("books", {"items": 2}, expected_version=0)
    with pytest.raises(StaleVersionError) as caught:
        stage.admin.jobs.update("books", {"items": 3}, expected_version=0)
    assert caught.value.expected_version == 0
    assert stage.config("books").items == 2


def test_update_job_concurrent_changes_of_other_settings_all_stand(stage: Stage) -> None:
    """People who change different settings at once do not undo each other."""
    stage.join("e1")
    stage.job("books", items=2)
    changes = [{"param": "x"}, {"priority": 5}, {"description": "shelves"}, {"items": 4}, {"timeout": 9}]
    threads = [threading.Thread(target=stage.admin.jobs.update, args=("books", change)) for change in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    config = stage.config("books")
    assert (config.param, config.priority, config.description, config.items, config.timeout_s) == (
        ("x", 5, "shelves", 4, 9)
    )


def test_update_job_refused_setting_writes_nothing(stage: Stage) -> None:
    """If one of several settings is wrong, none is written."""
    stage.join("e1")
    stage.job("books")
    with pytest.raises(CronExpressionError):
        stage.admin.jobs.update("books", {"items": 7, "cron": "nonsense"})
    assert stage.admin.jobs.entry("books").version == 0


@pytest.mark.parametrize(
    "change", [{"cron": "30 * * * *"}, {"items": 3}, {"description": "new"}, {"item_params": {0: "x"}}]
)
def test_update_job_paused_stays_paused(stage: Stage, change: dict[str, Any]) -> None:
    """Editing a paused job does not resume it."""
    stage.join("e1")
    stage.job("books", paused=True)
    stage.admin.jobs.update("books", change)
    assert stage.config("books").paused


def test_update_job_stored_count_of_zero_is_mended_by_a_good_one(stage: Stage) -> None:
    """A bad value written by hand is mended by giving that setting anew; the others stay."""
    stage.join("e1")
    stage.job("books", param="keep", items=2)
    record = json.loads(encode_job(stage.config("books")))
    stage.put(stage.paths.job("books"), json.dumps(record | {"items": 0}).encode())
    assert stage.admin.job_status("books").state == "held"
    stage.admin.jobs.update("books", {"items": 3})
    config = stage.config("books")
    assert (config.items, config.param, config.uid) == (3, "keep", record["uid"])


def test_update_job_not_json_cannot_be_mended(stage: Stage) -> None:
    """A record that is no JSON at all is refused with what to do."""
    stage.join("e1")
    stage.job("books")
    stage.put(stage.paths.job("books"), b"\xff\x00nonsense")
    with pytest.raises(CorruptNodeError, match="delete the job"):
        stage.admin.jobs.update("books", {"items": 3})


def test_update_job_of_a_newer_release_is_left_alone(stage: Stage) -> None:
    """A record of a newer format is never rewritten by guessing."""
    stage.join("e1")
    stage.job("books")
    value = encode_job(stage.config("books")).replace(b'"format":1', b'"format":99')
    stage.put(stage.paths.job("books"), value)
    with pytest.raises(CorruptNodeError, match="newer release"):
        stage.admin.jobs.update("books", {"items": 3})
    node = stage.registry.get(stage.paths.job("books"), fresh=True)
    assert node is not None
    assert node.value == value


def test_update_job_being_deleted_is_refused(stage: Stage) -> None:
    """A job that is being deleted cannot be changed back to life."""
    stage.join("e1")
    stage.job("books")
    stage.claim("books", 0, "e1")
    stage.admin.jobs.delete("books", wait_s=0)
    with pytest.raises(ConflictError, match="being deleted"):
        stage.admin.jobs.resume("books")


def test_pause_and_resume_twice_say_that_nothing_changed(stage: Stage) -> None:
    """Pausing a paused job and resuming one that is not paused change nothing, and say so."""
    stage.join("e1")
    stage.job("books")
    assert stage.admin.jobs.pause("books").changed == ("paused",)
    assert stage.admin.jobs.pause("books").changed == ()
    stage.clock.advance(7200)
    assert stage.admin.jobs.resume("books").changed == ("paused",)
    assert stage.admin.jobs.resume("books").changed == ()
    assert stage.config("books").armed_at == stage.clock.now()


def test_job_entry_made_by_hand_under_a_bad_name_is_seen_and_deletable(stage: Stage) -> None:
    """A job with quotes in its name, made by hand, is listed, shown and deleted."""
    stage.join("e1")
    stage.job("good")
    name = '"q"\'s <b>'
    stage.create(f"{stage.paths.under('jobs')}/{name}", encode_job(stage.config("good")))
    status = stage.admin.job_status(name)
    assert status.state == "held"
    assert "name is not valid" in str(status.reason)
    assert stage.admin.jobs.delete(name).is_done
    assert stage.admin.jobs.names() == ("good",)


def test_register_job_overwrite_of_what_is_no_record_is_a_fault(stage: Stage) -> None:
    """Bytes that are no record at all are not replaced behind people's backs; the executor starts all the same."""
    stage.admin.jobs.register("books", CODE)
    stage.put(stage.paths.job("books"), b"nonsense")
    registration = stage.admin.jobs.register("books", CODE, overwrite=True)
    assert "delete the job" in str(registration.fault)
    node = stage.registry.get(stage.paths.job("books"), fresh=True)
    assert node is not None
    assert node.value == b"nonsense"


def test_create_job_function_of_several_handlers_asks_for_a_name(stage: Stage) -> None:
    """Where several handlers are one function, their names are told."""
    stage.join("e1")
    record = replace(stage.actors["e1"].record, handlers={"one": "shop:f", "two": "shop:f"})
    stage.put(stage.paths.executor("e1"), encode_executor(record))
    with pytest.raises(JobConfigError, match="one, two"):
        stage.admin.jobs.create("books", HOURLY | {"handler": "shop:f"})


def test_update_job_handler_must_be_hosted(stage: Stage) -> None:
    """A job cannot be moved to code that nobody has."""
    stage.join("e1", handlers=("crawl", "clean"))
    stage.job("books")
    with pytest.raises(JobConfigError, match="clean"):
        stage.admin.jobs.update("books", {"handler": "missing"})
    stage.admin.jobs.update("books", {"handler": "shop.jobs:clean"})
    assert stage.config("books").handler == "clean"


def test_register_job_past_its_last_fire_is_no_mistake(stage: Stage) -> None:
    """An executor starts also when a one-off job of its code has had its fire; a new one could never run."""
    code = CODE | {"cron": "0 0 12 1 1 ? 2026"}
    assert stage.admin.jobs.register("once", code).is_created
    stage.clock.advance(2 * 86_400)
    assert stage.admin.jobs.register("once", code).differences == ()
    assert stage.admin.jobs.register("once", code | {"items": 3}).differences == ("items",)
    assert "cron" in str(stage.admin.jobs.register("once", code | {"items": 3}, overwrite=True).fault)
    with pytest.raises(CronExpressionError):
        stage.admin.jobs.register("another", code)
