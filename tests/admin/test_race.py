"""What others do in between, and answers that are lost."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from shardsched.admin import Admin
from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import (
    ConflictError,
    JobConfigError,
    JobExistsError,
    RegistryUnavailableError,
    StaleVersionError,
)
from shardsched.registry.base import Create
from shardsched.testing import MemoryRegistry, MemoryStore
from tests.admin.stage import HOURLY, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shardsched.registry.base import Operation


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A namespace in memory, with one executor."""
    store = MemoryStore(SYSTEM_CLOCK)
    made: list[MemoryRegistry] = []

    def make() -> MemoryRegistry:
        registry = MemoryRegistry(store)
        registry.open()
        made.append(registry)
        return registry

    stage = Stage(make)
    stage.join("e1")
    yield stage
    for registry in made:
        registry.close()


class Meddler:
    """Does something just before the next transaction of an admin of its own is applied, some number of times."""

    def __init__(self, stage: Stage, deed: Callable[[], object], times: int = 1) -> None:
        self.left, self._deed = times, deed
        self.registry = MemoryRegistry(_store_of(stage))
        self.registry.open()
        self.registry.fault = self._meet
        self.admin = Admin(self.registry, stage.paths, stage.clock)

    def _meet(self, moment: str, operations: Sequence[Operation]) -> None:
        if moment == "request" and operations and self.left:
            self.left -= 1
            self._deed()


def _store_of(stage: Stage) -> MemoryStore:
    registry = stage.registry
    assert isinstance(registry, MemoryRegistry)
    return registry._store


def test_update_job_beaten_by_another_change_keeps_both(stage: Stage) -> None:
    """A change that lost the race is decided anew on what is there now."""
    stage.job("books", items=2)
    meddler = Meddler(stage, lambda: stage.admin.jobs.update("books", {"priority": 5}))
    change = meddler.admin.jobs.update("books", {"items": 3})
    meddler.registry.close()
    assert (change.version, change.changed) == (2, ("items",))
    config = stage.config("books")
    assert (config.items, config.priority) == (3, 5)


def test_update_job_with_version_beaten_is_refused(stage: Stage) -> None:
    """A change bound to a version loses to whoever is faster, and does not try again."""
    stage.job("books", items=2)
    meddler = Meddler(stage, lambda: stage.admin.jobs.update("books", {"priority": 5}))
    with pytest.raises(StaleVersionError):
        meddler.admin.jobs.update("books", {"items": 3}, expected_version=0)
    meddler.registry.close()
    assert stage.config("books").items == 2


def test_update_job_beaten_all_the_time_gives_up(stage: Stage) -> None:
    """A change does not try for ever."""
    stage.job("books", items=2)
    numbers = iter(range(1, 1000))
    meddler = Meddler(stage, lambda: stage.admin.jobs.update("books", {"priority": next(numbers)}), times=1000)
    with pytest.raises(StaleVersionError, match="all the time"):
        meddler.admin.jobs.update("books", {"items": 3})
    meddler.registry.close()


def test_trigger_job_count_edited_in_between_is_not_stamped_with_the_old_one(stage: Stage) -> None:
    """A trigger never carries an item count that the job had before, nor one that is not laid out."""
    stage.job("books", {"e1": (0, 1)}, items=2)
    meddler = Meddler(stage, lambda: stage.admin.jobs.update("books", {"items": 3}))
    with pytest.raises(ConflictError, match="its 3 items are not laid out yet"):
        meddler.admin.commands.trigger("books")
    meddler.registry.close()
    assert not any(path.endswith("/commands/books") for path in stage.tree())


def test_trigger_right_after_an_edit_of_the_count_waits_for_the_layout(stage: Stage) -> None:
    """A trigger that follows an edit at once runs with the new count, as soon as the leader has laid it out."""
    stage.job("books", {"e1": (0, 1)}, items=2)
    stage.admin.jobs.update("books", {"items": 3})
    leader = threading.Timer(0.2, lambda: stage.assign("books", {"e1": (0, 1, 2)}))
    leader.start()
    stage.admin.commands.trigger("books")
    leader.join()
    assert [trigger.items for trigger in stage.commands("books").triggers] == [3]


def test_create_job_beaten_by_another_is_refused(stage: Stage) -> None:
    """Who is second is told so and overwrites nothing."""
    meddler = Meddler(stage, lambda: stage.job("books", items=7))
    with pytest.raises(JobExistsError):
        meddler.admin.jobs.create("books", HOURLY)
    meddler.registry.close()
    assert stage.config("books").items == 7


def test_drain_beaten_by_another_keeps_one_mark(stage: Stage) -> None:
    """Two people who drain one executor agree."""
    meddler = Meddler(stage, lambda: stage.admin.executors.drain("e1", by="ann"))
    assert not meddler.admin.executors.drain("e1", by="bob")
    meddler.registry.close()
    assert stage.admin.executors.undrain("e1")


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_delete_job_with_an_answer_lost_anywhere_is_finished_by_calling_again(stage: Stage, moment: str) -> None:
    """Whichever transaction of a deletion is cut off, before or after it was applied, the next call finishes it."""
    for cut in range(20):
        name = f"job{cut}"
        stage.job(name, {"e1": (0,)}, items=250)
        for start in (0, 125):
            creates = [Create(stage.paths.cursor(name, item)) for item in range(start, start + 125)]
            stage.registry.transact(creates)
        was_cut = _cut_deletion(stage, name, moment, cut)
        stage.admin.jobs.delete(name) if stage.paths.job(name) in stage.tree() else None
        assert not {path for path in stage.tree() if name in path.split("/")}
        if not was_cut:
            assert cut >= 4
            return
    pytest.fail("a deletion takes more than 20 transactions")


def _cut_deletion(stage: Stage, job: str, moment: str, cut: int) -> bool:
    """Delete a job with one answer lost; return whether there were so many transactions."""
    registry = MemoryRegistry(_store_of(stage))
    registry.open()
    counted = 0

    def fault(at: str, operations: Sequence[Operation]) -> None:
        nonlocal counted
        if at == moment and operations:
            counted += 1
            if counted == cut + 1:
                raise RegistryUnavailableError("no answer")

    registry.fault = fault
    try:
        Admin(registry, stage.paths, stage.clock).jobs.delete(job)
    except RegistryUnavailableError:
        return True
    finally:
        registry.close()
    return False


def test_trigger_job_reply_lost_is_unknown_and_stands_once(stage: Stage) -> None:
    """A lost reply is told as such: the trigger may stand, and does exactly once."""
    stage.job("books", {"e1": (0,)})
    registry = MemoryRegistry(_store_of(stage))
    registry.open()

    def fault(at: str, operations: Sequence[Operation]) -> None:
        if at == "reply" and operations:
            raise RegistryUnavailableError("no answer")

    registry.fault = fault
    with pytest.raises(RegistryUnavailableError):
        Admin(registry, stage.paths, stage.clock).commands.trigger("books")
    registry.close()
    assert len(stage.commands("books").triggers) == 1


def test_circle_closed_by_two_edits_at_once_is_refused_to_the_later(stage: Stage) -> None:
    """Each edit is right by itself; the one that is committed last sees the other and is refused."""
    for name in ("a", "b", "c"):
        stage.job(name)
    stage.admin.jobs.update("b", {"after": ["a"]})
    meddler = Meddler(stage, lambda: stage.admin.jobs.update("c", {"after": ["b"]}))
    with pytest.raises(JobConfigError, match="would wait for itself"):
        meddler.admin.jobs.update("a", {"after": ["c"]})
    assert stage.config("a").after == ()
    meddler.registry.close()


def test_circle_closed_by_a_job_made_at_once_is_refused(stage: Stage) -> None:
    """A job that is waited for and does not exist yet may be made meanwhile, waiting for the one that waits."""
    stage.job("a")
    meddler = Meddler(stage, lambda: stage.job("later", after=["a"]))
    with pytest.raises(JobConfigError, match="would wait for itself"):
        meddler.admin.jobs.update("a", {"after": ["later"]})
    assert stage.config("a").after == ()
    meddler.registry.close()
