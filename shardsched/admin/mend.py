"""Mending single faults of a registry without loss. Each answers whether it did; a race that is lost is no mending."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from shardsched.admin.asking import read_cursors
from shardsched.coordination.namespace import ensure_namespace
from shardsched.coordination.removal import DELETE_CHUNK, remove_job_nodes
from shardsched.core.command import Commands, encode_commands, next_number
from shardsched.core.fire import Cursor, ItemState, encode_cursor
from shardsched.errors import ConfigurationError
from shardsched.registry.base import Check, Committed, Create, Delete, Put

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from shardsched.admin.reader import Reader
    from shardsched.core.view import ItemView, JobEntry
    from shardsched.registry.base import Operation

TOKEN_JUMP = 1_000_000
"""How far above all known fencing tokens a cursor begins whose own token is lost, so that it is surely above that. A
guess: no item is claimed as often while its siblings are not."""


class Mend:
    """Mends one namespace. **Thread:** used by one.

    Attributes:
        paths: The namespace's paths.
        now: When the faults were seen.
    """

    def __init__(self, reader: Reader, now: datetime) -> None:
        self._reader = reader
        self._registry = reader.registry
        self.paths = reader.paths
        self.now = now

    def _done(self, operations: Sequence[Operation]) -> bool:
        return isinstance(self._registry.transact(operations), Committed)

    def create_namespace(self) -> bool:
        """Create the nodes under which all records stand."""
        ensure_namespace(self._registry, self.paths)
        return True

    def create_parent(self, entry: JobEntry, path: str) -> bool:
        """Create the node above a job's cursors or markers."""
        return self._done([Check(self.paths.job(entry.name), entry.version), Create(path)])

    def delete_node(self, path: str, version: int) -> bool:
        """Delete a node, unless it changed; its writer writes it anew."""
        return self._done([Delete(path, version)])

    def delete_orphan(self, job: str, path: str) -> bool:
        """Delete a record of a job that does not exist, with all below it.

        The job's node is created and deleted within each transaction: so it is refused if the job was made meanwhile.
        """
        below = [f"{path}/{name}" for name in self._registry.children(path, fresh=True)]
        nodes = [*below, path]
        node_path = self.paths.job(job)
        return all(
            self._done(
                [
                    Create(node_path),
                    *(Delete(node) for node in nodes[start : start + DELETE_CHUNK]),
                    Delete(node_path),
                ]
            )
            for start in range(0, len(nodes), DELETE_CHUNK)
        )

    def finish_deletion(self, job: str) -> bool:
        """Remove what is left of a deleted job; not while items of it run."""
        return remove_job_nodes(self._registry, self.paths, job)

    def reset_commands(self, entry: JobEntry) -> bool:
        """Replace commands that cannot be read; waiting triggers are lost, and counters go on above the cursors'."""
        if entry.config is None or entry.commands_version is None:
            return False
        cursors = read_cursors(self._reader, entry)
        commands = Commands(uid=entry.config.uid, stop=max((cursor.stop for cursor in cursors.values()), default=0))
        put = Put(self.paths.commands(entry.name), encode_commands(commands), entry.commands_version)
        return self._done([Check(self.paths.job(entry.name), entry.version), put])

    def rewind_cursor(self, entry: JobEntry, item: int, view: ItemView) -> bool:
        """Have an item count as having handled the latest fire up to now, instead of one far ahead."""
        if view.cursor is None or view.cursor_version is None:
            return False
        cursor = replace(view.cursor, fire=self._latest_fire(entry), message="rewound: it lay far ahead")
        return self._done(self._item_write(entry, item, cursor, view.cursor_version))

    def reset_cursor(self, entry: JobEntry, item: int) -> bool:
        """Replace a cursor that cannot be read: its fires and triggers up to now count as handled."""
        node = self._registry.get(self.paths.cursor(entry.name, item), fresh=True)
        if node is None or entry.config is None:
            return False
        cursors = read_cursors(self._reader, entry)
        commands = entry.commands or Commands(uid=entry.config.uid)
        floor = entry.assignment.token_floor if entry.assignment else 0
        known = max([floor, *(cursor.token for cursor in cursors.values())])
        salvaged = _salvaged(node.value, "token")
        cursor = Cursor(
            uid=entry.config.uid,
            state=ItemState.LOST,
            fire=self._latest_fire(entry),
            trigger=next_number(commands, entry.assignment, cursors) - 1,
            token=max(known, salvaged) if salvaged else known + TOKEN_JUMP,
            stop=commands.stop,
            ended_at=self.now,
            message="its record could not be read and was replaced",
        )
        return self._done(self._item_write(entry, item, cursor, node.version))

    def _item_write(self, entry: JobEntry, item: int, cursor: Cursor, version: int) -> list[Operation]:
        """Return what writes a cursor, refused if the job changed or the item runs."""
        marker = self.paths.marker(entry.name, item)
        return [
            Check(self.paths.job(entry.name), entry.version),
            Create(marker, ephemeral=True),
            Put(self.paths.cursor(entry.name, item), encode_cursor(cursor), version),
            Delete(marker),
        ]

    def _latest_fire(self, entry: JobEntry) -> datetime:
        """Return the latest fire up to now, or now itself where the trigger has none: then nothing before is due."""
        try:
            fire = entry.config.schedule().latest_fire(self.now) if entry.config else None
        except ConfigurationError:
            fire = None
        return fire or self.now.replace(microsecond=0) - timedelta(seconds=1)


def _salvaged(value: bytes, key: str) -> int:
    """Return a whole number of a record that cannot be read as a whole, 0 where there is none."""
    try:
        record: Any = json.loads(value.decode())
    except (ValueError, RecursionError):
        return 0
    number = record.get(key) if isinstance(record, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 2**62 else 0
