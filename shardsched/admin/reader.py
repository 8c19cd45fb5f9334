"""Reading the registry for people: whole kinds of records at once, each fault kept as a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.coordination.record import read_entries
from shardsched.core.executor import decode_load
from shardsched.core.fire import decode_cursor, decode_marker
from shardsched.core.fleet import drain_or_none, executor_or_none, leader_or_none
from shardsched.core.item import is_item_name
from shardsched.core.name import name_fault
from shardsched.core.tally_record import decode_tally
from shardsched.core.view import FleetView, ItemView
from shardsched.errors import CorruptNodeError, JobNotFoundError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from shardsched.core.executor import LoadReport
    from shardsched.core.fire import Cursor, Marker
    from shardsched.core.paths import Paths
    from shardsched.core.tally import Tally
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Node, Registry

Names = tuple[str, ...]
_CHECKPOINT_CHUNK = 100
"""Checkpoints read at once: 6 MiB where they are as large as they may be."""


class Reader:
    """Reads one namespace. **Thread:** any; nothing is kept."""

    def __init__(self, registry: Registry, paths: Paths) -> None:
        self.registry = registry
        self.paths = paths

    def names(self, *kinds: str) -> tuple[Names, ...]:
        """Return the names of all records of each kind, such as ``jobs``."""
        prefixes = [self.paths.under(kind) for kind in kinds]
        return tuple(names or () for names in self.registry.read_children(prefixes, fresh=True))

    def nodes(self, kind: str, names: Iterable[str]) -> dict[str, Node]:
        """Return records of a kind, by name, as far as they exist."""
        listed = list(names)
        prefix = self.paths.under(kind)
        found = self.registry.read([f"{prefix}/{name}" for name in listed])
        return {name: node for name, node in zip(listed, found, strict=True) if node is not None}

    def members(self) -> FleetView:
        """Return the executors, drain marks and leader, without jobs."""
        executors, drained = self.names("executors", "drained")
        found = {
            name: executor_or_none(self.paths, name, node.value) for name, node in self._both("executors", executors)
        }
        marks = {name: drain_or_none(self.paths, name, node.value) for name, node in self._both("drained", drained)}
        leader = self.registry.get(self.paths.leader)
        return FleetView(
            executors={name: record for name, record in found.items() if record is not None},
            drained={name: mark for name, mark in marks.items() if mark is not None},
            leader=None if leader is None else leader_or_none(self.paths, leader.value),
        )

    def _both(self, kind: str, names: Names) -> Iterable[tuple[str, Node]]:
        return self.nodes(kind, names).items() if names else ()

    def job_names(self) -> Names:
        """Return the names of all jobs, those made by hand and not valid among them."""
        return self.names("jobs")[0]

    def entries(self, names: Sequence[str]) -> dict[str, JobEntry]:
        """Return jobs by name, as far as they exist."""
        return read_entries(self.registry, self.paths, names)

    def entry(self, name: str) -> JobEntry:
        """Return one job.

        Raises:
            JobNotFoundError: There is no such job.
        """
        entry = self.entries((self.known_job(name),)).get(name)
        if entry is None:
            raise JobNotFoundError(job=name)
        return entry

    def known_job(self, name: str) -> str:
        """Return the name if a path may be built of it: it is valid, or a node of that name exists.

        Raises:
            JobNotFoundError: Neither.
        """
        if name_fault(name) and name not in self.job_names():
            raise JobNotFoundError(job=name)
        return name

    def loads(self, names: Names) -> dict[str, LoadReport]:
        """Return what executors last reported of themselves, as far as it can be read."""
        reports = {}
        for name, node in self._both("load", names):
            try:
                reports[name] = decode_load(node.path, node.value)
            except CorruptNodeError:
                continue
        return reports

    def tallies(self, entries: Mapping[str, JobEntry]) -> dict[str, Tally]:
        """Return the tallies of jobs that have one of their uid that can be read, by job."""
        tallies = {}
        for name, node in self._both("fires", tuple(entries)):
            config = entries[name].config
            try:
                tally = decode_tally(node.path, node.value)
            except CorruptNodeError:
                continue
            if config is not None and tally.uid == config.uid:
                tallies[name] = tally
        return tallies

    def items(self, entries: Mapping[str, JobEntry]) -> dict[str, dict[int, ItemView]]:
        """Return the items of jobs that have a cursor or a marker, by job.

        Markers are read before cursors. Between the two a run may begin, and so look abandoned: those are read again.
        """
        views = self._items(entries)
        doubtful = {job: [item for item, view in items.items() if is_abandoned(view)] for job, items in views.items()}
        again = [(job, item) for job, items in doubtful.items() for item in items]
        paths = [path(job, item) for job, item in again for path in (self.paths.marker, self.paths.cursor)]
        nodes = self.registry.read(paths, fresh=True) if paths else ()
        for index, (job, item) in enumerate(again):
            marker, cursor = nodes[2 * index : 2 * index + 2]
            views[job][item] = item_view(entries[job], cursor, marker)
        return views

    def checkpoints(self, job: str) -> Iterator[tuple[int, Node]]:
        """Give the checkpoints of a job as they are stored, a chunk in memory at a time."""
        names = self.registry.children(self.paths.checkpoints(job), fresh=True)
        items = sorted(int(name) for name in names if is_item_name(name))
        for start in range(0, len(items), _CHECKPOINT_CHUNK):
            chunk = items[start : start + _CHECKPOINT_CHUNK]
            nodes = self.registry.read([self.paths.checkpoint(job, item) for item in chunk])
            yield from ((item, node) for item, node in zip(chunk, nodes, strict=True) if node is not None)

    def _items(self, entries: Mapping[str, JobEntry]) -> dict[str, dict[int, ItemView]]:
        markers = self._below([(job, self.paths.markers(job)) for job in entries])
        cursors = self._below([(job, self.paths.cursors(job)) for job in entries])
        views: dict[str, dict[int, ItemView]] = {}
        for job, entry in entries.items():
            items = sorted(set(markers[job]) | set(cursors[job]))
            views[job] = {item: item_view(entry, cursors[job].get(item), markers[job].get(item)) for item in items}
        return views

    def _below(self, parents: Sequence[tuple[str, str]]) -> dict[str, dict[int, Node]]:
        """Return, by job, the nodes below a node of each job whose names are items."""
        listed = self.registry.read_children([path for _, path in parents]) if parents else ()
        wanted = [
            (job, int(name), f"{path}/{name}")
            for (job, path), names in zip(parents, listed, strict=True)
            for name in names or ()
            if is_item_name(name)
        ]
        found = self.registry.read([path for _, _, path in wanted]) if wanted else ()
        below: dict[str, dict[int, Node]] = {job: {} for job, _ in parents}
        for (job, item, _), node in zip(wanted, found, strict=True):
            if node is not None:
                below[job][item] = node
        return below


def is_abandoned(view: ItemView) -> bool:
    """Whether an item was claimed by somebody who is gone, and nobody has settled it yet."""
    return view.marker is None and view.cursor is not None and view.cursor.state == "running"


def item_view(entry: JobEntry, cursor_node: Node | None, marker_node: Node | None) -> ItemView:
    """Return one item made of what is stored; a cursor of another uid counts as absent, if the job's uid is known."""
    cursor, fault = _cursor(cursor_node)
    if cursor is not None and entry.config is not None and cursor.uid != entry.config.uid:
        cursor = None
    marker, marker_fault = _marker(marker_node)
    return ItemView(
        cursor=cursor,
        cursor_version=None if cursor_node is None else cursor_node.version,
        marker=marker,
        fault=fault or marker_fault,
    )


def _cursor(node: Node | None) -> tuple[Cursor | None, str | None]:
    try:
        return (None if node is None else decode_cursor(node.path, node.value)), None
    except CorruptNodeError as error:
        return None, Sentence("unreadable cursor: %(reason)s", reason=error.reason)


def _marker(node: Node | None) -> tuple[Marker | None, str | None]:
    try:
        return (None if node is None else decode_marker(node.path, node.value)), None
    except CorruptNodeError as error:
        return None, Sentence("unreadable marker: %(reason)s", reason=error.reason)
