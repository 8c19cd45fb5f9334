"""What people did, as told by the console."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select

from shardsched.history.filter import EventFilter
from shardsched.history.journal import Journal
from shardsched.history.table import FORGOTTEN
from tests.history.stage import NAMESPACE, START, make_event

if TYPE_CHECKING:
    from shardsched.history.query import History


def test_what_was_done_is_an_event(history: History) -> None:
    """At once, with who did it; of its namespace only."""
    done = make_event(kind="command_pause", job="books", by="ann", detail={"version": 3})
    Journal(history.database, NAMESPACE).tell(done)
    Journal(history.database, "other").tell(make_event(kind="command_pause", job="books"))
    assert history.events(EventFilter(job="books")).rows == (done,)


def test_deletion_forgets_what_was_before(history: History) -> None:
    """The rows of the job go in time; told twice, the later moment counts."""
    journal = Journal(history.database, NAMESPACE)
    for number in (5, 9, 7):
        journal.tell_deleted(make_event(number, kind="command_delete", job="books"))
    with history.database.reading() as connection:
        (row,) = connection.execute(select(FORGOTTEN.c.job, FORGOTTEN.c.before_us)).all()
    moment = START + timedelta(seconds=9)
    assert tuple(row) == ("books", int(moment.timestamp() * 1_000_000))
