"""Reading what runs and what ran, only where something happened."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shardsched.admin.reader import is_abandoned, item_view
from shardsched.core.item import MAX_ITEM_COUNT, is_item_name
from shardsched.core.view import ItemView

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from shardsched.admin.reader import Reader
    from shardsched.core.attention import Attention
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Node

Place = tuple[str, int]
"""A job and an item."""


@dataclass(slots=True, kw_only=True)
class SeenJob:
    """What has been read of one job."""

    entry: JobEntry
    """The job as it was last mirrored."""
    attention: Attention
    """When what was read."""
    views: dict[int, ItemView] = field(default_factory=dict)
    """Its items that have a cursor or a marker."""
    running: frozenset[int] = frozenset()
    """Items that had a marker when it was last listed."""
    next_fire: datetime | None = None
    """When it fires next, None if it does not."""
    last_fire: datetime | None = None
    """The last of those moments that came."""


class ItemReader:
    """Reads markers and cursors of many jobs. **Thread:** used by one.

    Attributes:
        request_count: Nodes and lists asked for so far.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._paths = reader.paths
        self.request_count = 0

    def list_running(self, jobs: Mapping[str, SeenJob], names: Sequence[str]) -> dict[Place, bool]:
        """Look which items of some jobs run; return those whose marker came (True) or went (False)."""
        if not names:
            return {}
        self.request_count += len(names)
        listed = self._reader.registry.read_children([self._paths.markers(name) for name in names])
        changed: dict[Place, bool] = {}
        for name, children in zip(names, listed, strict=True):
            job = jobs[name]
            running = frozenset(int(child) for child in children or () if is_item_name(child))
            changed |= {(name, item): True for item in running - job.running}
            changed |= {(name, item): False for item in job.running - running}
            job.running = running
        return changed

    def read_markers(self, jobs: Mapping[str, SeenJob], places: Sequence[Place]) -> None:
        """Read markers; one that has gone meanwhile is forgotten with the next listing."""
        nodes = self._read([self._paths.marker(name, item) for name, item in places])
        for (name, item), node in zip(places, nodes, strict=True):
            job = jobs[name]
            if node is None:
                # It ended between the two readings: its cursor is read with what the next listing finds.
                job.running -= {item}
                job.attention.due_at = 0.0
                continue
            fresh = item_view(job.entry, None, node)
            known = job.views.get(item, ItemView())
            job.views[item] = replace(known, marker=fresh.marker, fault=known.fault or fresh.fault)

    def read_cursors(self, jobs: Mapping[str, SeenJob], places: Sequence[Place]) -> None:
        """Read cursors; where one tells of a run whose marker was not seen, both are read again."""
        nodes = self._read([self._paths.cursor(name, item) for name, item in places])
        for (name, item), node in zip(places, nodes, strict=True):
            _take(jobs[name], item, node)
        doubtful = [(name, item) for name, item in places if _is_doubtful(jobs[name].views.get(item, ItemView()))]
        both = [path(name, item) for name, item in doubtful for path in (self._paths.marker, self._paths.cursor)]
        again = self._read(both)
        for index, (name, item) in enumerate(doubtful):
            job, (marker, cursor) = jobs[name], again[2 * index : 2 * index + 2]
            job.running = job.running - {item} if marker is None else job.running
            _take(job, item, cursor)
            if marker is not None and item in job.views:
                job.views[item] = replace(job.views[item], marker=item_view(job.entry, None, marker).marker)
                job.running |= {item}

    def all_places(self, jobs: Mapping[str, SeenJob], names: Iterable[str]) -> list[Place]:
        """Return all items of some jobs."""
        return [(name, item) for name in names for item in range(jobs[name].attention.items)]

    def _read(self, paths: Sequence[str]) -> Sequence[Node | None]:
        self.request_count += len(paths)
        return self._reader.registry.read(paths) if paths else ()


def _is_doubtful(view: ItemView) -> bool:
    """Whether an item was claimed by somebody who is gone, or anew since its marker was read."""
    is_another = view.marker is not None and view.cursor is not None and view.cursor.run != view.marker.run
    return is_abandoned(view) or is_another


def _take(job: SeenJob, item: int, node: Node | None) -> None:
    view = item_view(job.entry, node, None)
    known = job.views.get(item)
    marker = known.marker if known is not None and item in job.running else None
    if view.cursor is None and view.fault is None and marker is None:
        job.views.pop(item, None)
    else:
        job.views[item] = replace(view, marker=marker)


def item_count(entry: JobEntry) -> int:
    """Return how many items a job has at present, those that are being removed left out."""
    if entry.config is not None:
        return entry.config.items
    return min(entry.assignment.newest.items, MAX_ITEM_COUNT) if entry.assignment is not None else 0
