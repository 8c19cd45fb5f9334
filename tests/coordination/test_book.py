"""What an executor knows of its own items, and when it forgets it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from shardsched.core.fire import Cursor, ItemState, Marker, encode_cursor, encode_marker
from shardsched.registry.base import Create, Delete, Put
from tests.coordination.stage import NOON

if TYPE_CHECKING:
    from shardsched.core.job import JobConfig
    from tests.coordination.stage import Client, Stage


@pytest.fixture
def config(stage: Stage) -> JobConfig:
    """A job of three items, all of e1."""
    return stage.add_job(items=3, owners={"e1": (0, 1, 2)})


@pytest.fixture
def e1(stage: Stage, config: JobConfig) -> Client:
    """Their owner."""
    return stage.client("e1")


def cursor_of(config: JobConfig, **changes: object) -> Cursor:
    """Return a cursor of the job."""
    return replace(Cursor(uid=config.uid, state=ItemState.DONE, fire=NOON), **changes)  # type: ignore[arg-type]  # fields


def marker_of(config: JobConfig, incarnation: str = "other") -> Marker:
    """Return a marker of the job."""
    return Marker(uid=config.uid, run="r", incarnation=incarnation, executor="e", fire=NOON, attempt=1, started_at=NOON)


def read(client: Client, *items: int) -> None:
    """Read items."""
    client.book.read([(client.entry(), item) for item in items])


def test_book_reads_cursor_marker_and_absence(stage: Stage, e1: Client, config: JobConfig) -> None:
    """An item without nodes, one with a cursor, and one that runs are told apart, with the versions to write on."""
    stage.write(
        [
            Create(stage.paths.cursor("j", 1), encode_cursor(cursor_of(config))),
            Put(stage.paths.cursor("j", 1), encode_cursor(cursor_of(config))),
            Create(stage.paths.cursor("j", 2), encode_cursor(cursor_of(config, state=ItemState.RUNNING))),
            Create(stage.paths.marker("j", 2), encode_marker(marker_of(config)), ephemeral=True),
        ]
    )
    read(e1, 0, 1, 2)
    items = e1.book.items("j")
    assert (items[0].cursor, items[0].cursor_version, items[0].marker) == (None, None, None)
    assert (items[1].cursor, items[1].cursor_version) == (cursor_of(config), 1)
    assert (items[2].marker, items[2].is_marker_ours) == (marker_of(config), False)


def test_book_knows_a_marker_of_its_session_under_any_fence(stage: Stage, e1: Client, config: JobConfig) -> None:
    """A marker that our session holds is ours, whatever fence it names, or though it cannot be read."""
    e1.registry.transact(
        [
            Create(stage.paths.marker("j", 0), encode_marker(marker_of(config)), ephemeral=True),
            Create(stage.paths.marker("j", 1), b"rubbish", ephemeral=True),
        ]
    )
    read(e1, 0, 1)
    assert all(e1.book.items("j")[item].is_marker_ours for item in (0, 1))
    marker = e1.book.items("j")[1].marker
    assert marker is not None
    assert marker.run == ""


def test_book_counts_a_cursor_of_an_earlier_job_as_absent(stage: Stage, e1: Client, config: JobConfig) -> None:
    """A record of another uid counts as absent, but its version is kept: the node must be overwritten."""
    stage.write([Create(stage.paths.cursor("j", 0), encode_cursor(cursor_of(config, uid="earlier")))])
    read(e1, 0)
    assert (e1.book.items("j")[0].cursor, e1.book.items("j")[0].cursor_version) == (None, 0)


def test_book_names_the_fault_of_an_unreadable_cursor(stage: Stage, e1: Client) -> None:
    """A cursor that cannot be read holds its item, and no other."""
    stage.write([Create(stage.paths.cursor("j", 0), b"\xff")])
    read(e1, 0, 1)
    assert "unreadable cursor" in (e1.book.items("j")[0].fault or "")
    assert e1.book.items("j")[1].fault is None


def test_book_retains_what_is_owned(e1: Client, config: JobConfig) -> None:
    """Items that went are forgotten; a job made anew is forgotten altogether."""
    read(e1, 0, 1, 2)
    e1.book.retain("j", config.uid, (1,))
    assert e1.book.items("j") == {}  # the first word of a uid begins anew
    read(e1, 0, 1, 2)
    e1.book.retain("j", config.uid, (1,))
    assert set(e1.book.items("j")) == {1}
    e1.book.retain("j", "another", (1,))
    assert e1.book.items("j") == {}


def test_book_notes_only_what_it_knows(e1: Client, config: JobConfig) -> None:
    """What we wrote of an item that was forgotten meanwhile is read again rather than remembered."""
    e1.book.note_cursor("j", 0, cursor_of(config), 3)
    e1.book.note_claim("j", 0, cursor_of(config), 3, marker_of(config))
    assert e1.book.items("j") == {}
    read(e1, 0)
    e1.book.note_claim("j", 0, cursor_of(config), 3, marker_of(config))
    view = e1.book.items("j")[0]
    assert (view.cursor_version, view.marker, view.is_marker_ours) == (3, marker_of(config), True)
    e1.book.note_cursor("j", 0, cursor_of(config), 4)
    assert (e1.book.items("j")[0].cursor_version, e1.book.items("j")[0].marker) == (4, None)


def test_book_tells_when_an_awaited_marker_has_gone(stage: Stage, e1: Client, config: JobConfig) -> None:
    """Waiting for a marker ends when it goes, and at once where it has gone already."""
    path = stage.paths.marker("j", 0)
    stage.write([Create(path, encode_marker(marker_of(config)), ephemeral=True)])
    read(e1, 0, 1)
    e1.book.wait_for_marker("j", 0)
    e1.book.wait_for_marker("j", 0)
    e1.registry.pump()
    assert e1.vanished == []
    stage.write([Delete(path)])
    e1.registry.pump()
    assert e1.vanished == [("j", 0)]
    e1.book.wait_for_marker("j", 1)
    e1.registry.pump()
    assert e1.vanished == [("j", 0), ("j", 1)]


def test_book_that_forgets_waits_no_longer(stage: Stage, e1: Client, config: JobConfig) -> None:
    """Once an item is forgotten its marker is no concern of ours."""
    path = stage.paths.marker("j", 0)
    stage.write([Create(path, encode_marker(marker_of(config)), ephemeral=True)])
    read(e1, 0)
    e1.book.wait_for_marker("j", 0)
    e1.registry.pump()
    e1.book.forget_all()
    stage.write([Delete(path)])
    e1.registry.pump()
    assert (e1.vanished, dict(e1.book.items("j"))) == ([], {})
