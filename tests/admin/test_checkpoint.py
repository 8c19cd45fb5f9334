"""What people see of checkpoints, and clearing them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from shardsched.admin.document import MAX_STATE_SHOWN, job_details
from shardsched.admin.finding import Fault
from shardsched.coordination.namespace import ensure_namespace
from shardsched.errors import ConflictError, ItemParameterError, JobNotFoundError
from shardsched.registry.base import Create

if TYPE_CHECKING:
    from tests.admin.stage import Stage


def saved(stage: Stage, job: str) -> tuple[str, ...]:
    """Return the items of a job that have a checkpoint."""
    return stage.registry.children(stage.paths.checkpoints(job), fresh=True)


@pytest.fixture
def books(stage: Stage) -> Stage:
    """A job of four items, three of which have saved."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1, 2, 3)}, items=4)
    for item in range(3):
        stage.save("books", item, f'{{"page":{item}}}')
    return stage


def test_job_status_shows_what_items_saved(books: Stage) -> None:
    """State, size, time and token are there for each item that saved; long states are cut."""
    books.save("books", 2, '"' + "x" * 1000 + '"')
    books.save("books", 3, None)
    books.save("books", 1, "1", uid="earlier")
    cursors = job_details(books.admin.job_status("books"))["cursors"]
    first, second, third, fourth = (cursor["checkpoint"] for cursor in cursors)
    assert first == {
        "saved_at": books.clock.now().isoformat(),
        "bytes": 10,
        "state": '{"page":0}',
        "token": 7,
        "run_id": "r",
        "fault": None,
    }
    assert (third["bytes"], len(third["state"])) == (1002, MAX_STATE_SHOWN)
    assert (second, fourth) == (None, None)


def test_unreadable_checkpoint_is_shown_and_found(books: Stage) -> None:
    """The status says that it cannot be loaded, and the check-up what to do; it mends nothing that is lost with it."""
    books.put(books.paths.checkpoint("books", 1), b"scribble")
    checkpoint = job_details(books.admin.job_status("books"))["cursors"][1]["checkpoint"]
    assert (checkpoint["fault"], checkpoint["bytes"], checkpoint["state"]) == ("it is not JSON", 8, None)
    (finding,) = [one for one in books.admin.doctor.examine(patience_s=0) if one.fault is Fault.UNREADABLE]
    assert "shardsched job reset books --items 1" in finding.cure
    assert not finding.is_mendable
    books.admin.checkpoints.reset("books", only=[1])
    assert not [one for one in books.admin.doctor.examine(patience_s=0) if one.fault is Fault.UNREADABLE]


def test_checkpoints_of_no_job_are_found_and_removed(stage: Stage) -> None:
    """What an interrupted hand left behind is mended."""
    ensure_namespace(stage.registry, stage.paths)
    stage.registry.transact([Create(stage.paths.checkpoints("gone")), Create(stage.paths.checkpoint("gone", 0))])
    (finding,) = stage.admin.doctor.repair(patience_s=0)
    assert (finding.fault, finding.path, finding.is_mended) == (Fault.ORPHAN, stage.paths.checkpoints("gone"), True)
    assert stage.admin.doctor.examine(patience_s=0) == ()


def test_reset_clears_all_or_some(books: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """The items that had a checkpoint are told, and the log says who asked."""
    with caplog.at_level(logging.INFO):
        receipt = books.admin.checkpoints.reset("books", only=[0, 3], by="ann")
    assert (receipt.items, saved(books, "books")) == ((0,), ("1", "2"))
    (record,) = [record for record in caplog.records if getattr(record, "event", "") == "checkpoints_reset"]
    assert record.getMessage() == "ann cleared the checkpoints of items 0"
    assert books.admin.checkpoints.reset("books").items == (1, 2)
    assert books.admin.checkpoints.reset("books").items == ()
    assert job_details(books.admin.job_status("books"))["cursors"][0]["checkpoint"] is None


def test_reset_of_items_that_run_is_refused_unless_insisted(books: Stage) -> None:
    """A run would save again; nothing is cleared then, but of other items it is."""
    books.claim("books", 1, "e1")
    with pytest.raises(ConflictError, match="items 1 of job 'books' run"):
        books.admin.checkpoints.reset("books")
    assert saved(books, "books") == ("0", "1", "2")
    assert books.admin.checkpoints.reset("books", only=[0]).items == (0,)
    assert books.admin.checkpoints.reset("books", even_running=True).items == (1, 2)
    assert books.registry.get(books.paths.marker("books", 1), fresh=True) is not None


def test_reset_of_what_does_not_exist_is_refused(books: Stage) -> None:
    """An item beyond the count can only be named while it has a checkpoint."""
    with pytest.raises(JobNotFoundError):
        books.admin.checkpoints.reset("papers")
    with pytest.raises(ItemParameterError, match="no item 4; its items are 0 to 3"):
        books.admin.checkpoints.reset("books", only=[4])
    books.save("books", 4, "1")
    assert books.admin.checkpoints.reset("books", only=[4]).items == (4,)


def test_reset_of_many_items_goes_in_chunks(stage: Stage) -> None:
    """More than one transaction takes are cleared all the same."""
    stage.join("e1")
    stage.job("wide", items=200)
    for item in range(200):
        stage.save("wide", item, "1")
    assert len(stage.admin.checkpoints.reset("wide").items) == 200
    assert saved(stage, "wide") == ()
    assert stage.registry.children(stage.paths.markers("wide"), fresh=True) == ()


def test_deleted_job_leaves_no_checkpoint(books: Stage) -> None:
    """They go with the job."""
    assert books.admin.jobs.delete("books").is_done
    assert {path for path in books.tree() if "books" in path.split("/")} == set()
