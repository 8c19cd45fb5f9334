"""Reading records that are not mirrored, or whose mirror may be old."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.core.fire import decode_cursor
from shardsched.core.fleet import job_entry
from shardsched.core.item import is_item_name
from shardsched.errors import CorruptNodeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.core.fire import Cursor
    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Registry

logger = logging.getLogger(__name__)


def read_entries(registry: Registry, paths: Paths, names: Sequence[str]) -> dict[str, JobEntry]:
    """Return jobs as they stand now, by name, as far as they exist.

    Raises:
        RegistryUnavailableError: No answer.
    """
    kinds = (paths.job, paths.assignment, paths.commands)
    found = registry.read([path(name) for name in names for path in kinds], fresh=True) if names else ()
    entries = {}
    for index, name in enumerate(names):
        job, assignment, commands = found[3 * index : 3 * index + 3]
        entry = job_entry(
            name,
            job=None if job is None else (job.value, job.version, job.created_id),
            assignment=None if assignment is None else (assignment.value, assignment.version),
            commands=None if commands is None else (commands.value, commands.version),
            paths=paths,
        )
        if entry is not None:
            entries[name] = entry
    return entries


def read_cursors(registry: Registry, paths: Paths, job: str) -> tuple[dict[int, Cursor], dict[int, int]]:
    """Return all cursors of a job that can be read, and the versions of all, by item.

    Raises:
        RegistryUnavailableError: No answer.
    """
    names = registry.children(paths.cursors(job), fresh=True)
    items = [int(name) for name in names if is_item_name(name)]
    nodes = registry.read([paths.cursor(job, item) for item in items], fresh=True)
    cursors: dict[int, Cursor] = {}
    versions: dict[int, int] = {}
    for item, node in zip(items, nodes, strict=True):
        if node is None:
            continue
        versions[item] = node.version
        try:
            cursors[item] = decode_cursor(node.path, node.value)
        except CorruptNodeError as error:
            logger.warning("%s", error, extra={"event": Event.RECORD_CORRUPT, "job": job, "item": item})
    return cursors, versions
