"""Writing down what people ask of a job besides its configuration, so that the counters never go back.

A trigger or stop counts only above what the job's cursors say, so a commands' record that is missing, unreadable or of
an earlier job of the name begins above them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.core.command import Commands

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.admin.reader import Reader
    from shardsched.core.fire import Cursor
    from shardsched.core.view import JobEntry


def read_cursors(reader: Reader, entry: JobEntry) -> dict[int, Cursor]:
    """Return the job's cursors that can be read, by item."""
    views = reader.items({entry.name: entry})[entry.name]
    return {item: view.cursor for item, view in views.items() if view.cursor is not None}


def stopped_commands(reader: Reader, entry: JobEntry, uid: str, now: datetime, by: str) -> Commands:
    """Return the job's commands with one stop more."""
    commands = entry.commands or Commands(uid=uid)
    cursors = read_cursors(reader, entry)
    stop = 1 + max([commands.stop, *(cursor.stop for cursor in cursors.values())])
    return replace(commands, stop=stop, stop_at=now, stop_by=by)
