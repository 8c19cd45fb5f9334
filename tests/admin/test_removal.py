"""Deleting jobs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from shardsched.coordination.namespace import ensure_namespace
from shardsched.coordination.removal import remove_job_nodes
from shardsched.core.paths import PERSISTENT_ROOTS, Paths
from shardsched.errors import JobNotFoundError, RegistryError
from shardsched.registry.base import Create, Delete
from tests.waiting import eventually

if TYPE_CHECKING:
    from tests.admin.stage import Stage


def job_nodes(stage: Stage, job: str) -> set[str]:
    """Return all nodes of a job."""
    return {path for path in stage.tree() if job in path.split("/")}


def test_ensure_namespace_empty_registry_makes_all_roots(stage: Stage) -> None:
    """A fresh namespace gets every node under which records stand; asking again changes nothing."""
    ensure_namespace(stage.registry, stage.paths)
    wanted = {stage.paths.under(kind) for kind in PERSISTENT_ROOTS} | {stage.paths.epoch}
    assert stage.tree() == wanted
    ensure_namespace(stage.registry, stage.paths)
    assert stage.tree() == wanted


def test_ensure_namespace_by_many_at_once_succeeds_for_all(stage: Stage) -> None:
    """Executors that start together in a fresh namespace do not disturb each other."""
    paths = Paths("a/b/c")
    failures: list[RegistryError] = []

    def ensure() -> None:
        try:
            ensure_namespace(stage.registry, paths)
        except RegistryError as error:
            failures.append(error)

    threads = [threading.Thread(target=ensure) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert stage.registry.children("/a/b/c", fresh=True) == tuple(sorted([*PERSISTENT_ROOTS, "epoch"]))


def test_delete_job_idle_leaves_nothing(stage: Stage) -> None:
    """All nodes of a deleted job go: cursors, markers' parent, assignment, commands, configuration."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)}, items=1)
    stage.job("other", {"e1": (0,)})
    stage.write_cursor("books", 0)
    stage.admin.commands.trigger("books")
    removal = stage.admin.jobs.delete("books")
    assert removal.is_done
    assert job_nodes(stage, "books") == set()
    assert stage.paths.job("other") in stage.tree()
    with pytest.raises(JobNotFoundError):
        stage.admin.jobs.delete("books")


def test_delete_job_with_many_cursors_removes_them_in_chunks(stage: Stage) -> None:
    """A job of more items than one transaction takes is removed whole."""
    stage.join("e1")
    stage.job("wide", items=450)
    for start in range(0, 450, 150):
        creates = [Create(stage.paths.cursor("wide", item)) for item in range(start, start + 150)]
        stage.registry.transact(creates)
    assert stage.admin.jobs.delete("wide").is_done
    assert job_nodes(stage, "wide") == set()


def test_delete_job_running_is_marked_and_asked_to_stop(stage: Stage) -> None:
    """While an item runs the job is marked, its stop counter is above the run's, and nothing is removed."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.claim("books", 0, "e1", stop=4)
    removal = stage.admin.jobs.delete("books", wait_s=0, by="ann")
    assert (removal.is_done, removal.running) == (False, (0,))
    assert stage.config("books").deleting
    commands = stage.commands("books")
    assert (commands.stop, commands.stop_by) == (5, "ann")
    assert stage.registry.get(stage.paths.cursor("books", 0), fresh=True) is not None


def test_delete_job_running_waits_until_its_items_have_ended(stage: Stage) -> None:
    """Deletion goes on by itself when the last marker vanishes."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.claim("books", 0, "e1")
    done: list[bool] = []
    thread = threading.Thread(target=lambda: done.append(stage.admin.jobs.delete("books", wait_s=30).is_done))
    thread.start()
    eventually(lambda: stage.config("books").deleting)
    assert done == []
    stage.leave("e1")
    thread.join(30)
    assert done == [True]
    assert job_nodes(stage, "books") == set()


def test_delete_job_interrupted_is_taken_up_by_calling_again(stage: Stage) -> None:
    """A deletion that left the job's node and some cursors is finished by the next, or by the leader's function."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)}, items=2)
    stage.write_cursor("books", 0)
    stage.write_cursor("books", 1)
    stage.claim("books", 1, "e1")
    stage.admin.jobs.delete("books", wait_s=0)
    assert not remove_job_nodes(stage.registry, stage.paths, "books")
    stage.leave("e1")
    stage.registry.transact([Delete(stage.paths.cursor("books", 0))])
    assert remove_job_nodes(stage.registry, stage.paths, "books")
    assert job_nodes(stage, "books") == set()


def test_remove_job_nodes_job_made_anew_is_left_alone(stage: Stage) -> None:
    """A leader with an old view never removes a job that is not being deleted."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    before = job_nodes(stage, "books")
    assert remove_job_nodes(stage.registry, stage.paths, "books")
    stage.put(stage.paths.job("books"), b"written by a newer release")
    assert remove_job_nodes(stage.registry, stage.paths, "books")
    assert job_nodes(stage, "books") == before


def test_remove_job_nodes_by_several_at_once_removes_all(stage: Stage) -> None:
    """The leader and people may remove the same job at once."""
    stage.join("e1")
    stage.job("wide", items=300)
    for start in (0, 150):
        stage.registry.transact([Create(stage.paths.cursor("wide", item)) for item in range(start, start + 150)])
    results: list[bool] = []
    threads = [threading.Thread(target=lambda: results.append(_delete(stage))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [True] * 4
    assert job_nodes(stage, "wide") == set()


def _delete(stage: Stage) -> bool:
    try:
        return stage.admin.jobs.delete("wide").is_done
    except JobNotFoundError:
        return True


@pytest.mark.parametrize("value", [b"", b"not json", b"[]", b'{"format":1}', b'{"format":99}', b"\xff"])
def test_delete_job_unreadable_is_possible(stage: Stage, value: bytes) -> None:
    """A job whose record is broken can be deleted like any other."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.write_cursor("books", 0)
    stage.put(stage.paths.job("books"), value)
    stage.put(stage.paths.commands("books"), b"broken too")
    assert stage.admin.jobs.delete("books").is_done
    assert job_nodes(stage, "books") == set()


def test_delete_job_unreadable_and_running_stops_its_items(stage: Stage) -> None:
    """Executors can read that a broken job is to be stopped: it is replaced by one that says so."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.claim("books", 0, "e1", stop=7)
    stage.put(stage.paths.job("books"), b"broken")
    assert not stage.admin.jobs.delete("books", wait_s=0).is_done
    entry = stage.admin.jobs.entry("books")
    assert entry.config is not None
    assert entry.config.deleting
    assert entry.commands is not None
    assert entry.commands.stop == 8


def test_delete_job_hosted_by_code_names_who_makes_it_again(stage: Stage) -> None:
    """Who deletes a job that code describes is told that it comes back, and from where."""
    stage.join("e1", handlers=("books",))
    stage.join("e2", handlers=("other",))
    stage.admin.jobs.register("books", {"cron": "0 * * * *"})
    assert stage.admin.jobs.delete("books").hosts == ("e1",)
