"""Telling the history what people did, by whoever has the database open anyway, such as the console."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from shardsched.history.column import event_values, forget_values
from shardsched.history.record import Kind, Record
from shardsched.history.store import write

if TYPE_CHECKING:
    from shardsched.history.engine import Database
    from shardsched.history.row import EventRow


class Journal:
    """Writes events of one namespace, at once. **Thread:** any.

    Args:
        database: Where history is kept.
        namespace: The fleet's.
    """

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = namespace

    def tell(self, event: EventRow) -> None:
        """Keep that something was done.

        Raises:
            HistoryError: It was not kept, or that is not known; what was done is done.
        """
        with self._database.writing() as connection:
            write(connection, self._namespace, [Record(Kind.EVENT, event_values(uuid4().hex, event))])

    def tell_deleted(self, event: EventRow) -> None:
        """Keep that a job was deleted, and have everything of it from before go in time.

        Raises:
            HistoryError: As `tell`.
        """
        records = [
            Record(Kind.EVENT, event_values(uuid4().hex, event)),
            Record(Kind.FORGET, forget_values(event.job, event.at)),
        ]
        with self._database.writing() as connection:
            write(connection, self._namespace, records)
