"""Writing down what people ask of a job besides its configuration, so that the counters never go back.

A trigger or stop counts only above what the job's cursors say, so a commands' record that is missing, unreadable or of
an earlier job of the name begins above them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.core.command import Commands, encode_commands
from shardsched.registry.base import Create, Put

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from shardsched.admin.reader import Reader
    from shardsched.core.fire import Cursor
    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Operation


def read_cursors(reader: Reader, entry: JobEntry) -> dict[int, Cursor]:
    """Return the job's cursors that can be read, by item."""
    views = reader.items({entry.name: entry})[entry.name]
    return {item: view.cursor for item, view in views.items() if view.cursor is not None}


def next_number(entry: JobEntry, commands: Commands, cursors: Mapping[int, Cursor]) -> int:
    """Return the number of a new trigger: above all that were handled, or may be."""
    floor = entry.assignment.trigger_floor if entry.assignment else 0
    return 1 + max([commands.trigger_count, floor, *(cursor.trigger for cursor in cursors.values())])


def stopped_commands(reader: Reader, entry: JobEntry, uid: str, now: datetime, by: str) -> Commands:
    """Return the job's commands with one stop more."""
    commands = entry.commands or Commands(uid=uid)
    cursors = read_cursors(reader, entry)
    stop = 1 + max([commands.stop, *(cursor.stop for cursor in cursors.values())])
    return replace(commands, stop=stop, stop_at=now, stop_by=by)


def write_commands(paths: Paths, entry: JobEntry, commands: Commands) -> Operation:
    """Return the operation that stores commands in place of those that were read."""
    path, value = paths.commands(entry.name), encode_commands(commands)
    if entry.commands_version is None:
        return Create(path, value)
    return Put(path, value, entry.commands_version)
