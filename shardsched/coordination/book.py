"""What this executor knows of its own items.

Cursors and markers are not mirrored: only an item's owner writes them, so what the owner wrote last is what stands. An
item is read when it is gained, when one of our writes was refused or its answer lost, and when a marker that it waited
for has gone. A run that begins or ends between the two readings may look abandoned; what follows from that is refused,
since every write checks the cursor's version and that no marker stands.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.core.fire import Marker, decode_cursor, decode_marker
from shardsched.core.view import ItemView
from shardsched.errors import CorruptNodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from shardsched.core.fire import Cursor
    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Changes, Node, Registry, Subscription

logger = logging.getLogger(__name__)

_NOTHING: Mapping[int, ItemView] = {}


class Book:
    """The items of one executor. **Thread:** used by one thread; `on_vanished` runs on the registry's."""

    def __init__(self, registry: Registry, paths: Paths, on_vanished: Callable[[str, int], None]) -> None:
        self._registry = registry
        self._paths = paths
        self._on_vanished = on_vanished
        self._items: dict[str, dict[int, ItemView]] = {}
        self._uids: dict[str, str] = {}
        self._awaited: dict[tuple[str, int], Subscription] = {}
        self._told_count = 0

    def items(self, job: str) -> Mapping[int, ItemView]:
        """Return the items of a job that have been read."""
        return self._items.get(job, _NOTHING)

    def retain(self, job: str, uid: str, owned: Iterable[int]) -> None:
        """Forget the items of a job that are owned no longer, and all if the job was made anew."""
        if self._uids.get(job) != uid:
            self.forget_job(job)
            self._uids[job] = uid
        kept = self._items.get(job)
        if kept:
            wanted = set(owned)
            for item in [item for item in kept if item not in wanted]:
                self.forget(job, item)

    def forget(self, job: str, item: int) -> None:
        """Have an item read again before anything is decided about it."""
        self._items.get(job, {}).pop(item, None)
        watch = self._awaited.pop((job, item), None)
        if watch is not None:
            watch.cancel()

    def forget_job(self, job: str) -> None:
        """Forget all items of a job."""
        for item in list(self._items.get(job, ())):
            self.forget(job, item)
        self._items.pop(job, None)
        self._uids.pop(job, None)

    def forget_all(self) -> None:
        """Forget everything, as after a session was lost."""
        for job in list(self._items):
            self.forget_job(job)

    def note_cursor(self, job: str, item: int, cursor: Cursor, version: int) -> None:
        """Take note of a cursor that we wrote; the item has no marker now."""
        if item in self._items.get(job, ()):
            self._items[job][item] = ItemView(cursor=cursor, cursor_version=version)

    def note_claim(self, job: str, item: int, cursor: Cursor, version: int, marker: Marker) -> None:
        """Take note of a claim that we won."""
        if item in self._items.get(job, ()):
            self._items[job][item] = ItemView(cursor=cursor, cursor_version=version, marker=marker, is_marker_ours=True)

    def note_released(self, job: str, item: int) -> None:
        """Take note that an item's marker went and its cursor stayed."""
        view = self._items.get(job, _NOTHING).get(item)
        if view is not None:
            self._items[job][item] = replace(view, marker=None, is_marker_ours=False)

    def read(self, wanted: Iterable[tuple[JobEntry, int]]) -> None:
        """Read cursors and markers of items.

        Raises:
            RegistryUnavailableError: No answer; nothing is taken note of.
        """
        pairs = list(wanted)
        cursors = self._registry.read([self._paths.cursor(entry.name, item) for entry, item in pairs], fresh=True)
        jobs = sorted({entry.name for entry, _ in pairs})
        listed = self._registry.read_children([self._paths.markers(job) for job in jobs])
        marked = {(job, name) for job, names in zip(jobs, listed, strict=True) for name in names or ()}
        with_marker = [(entry.name, item) for entry, item in pairs if (entry.name, str(item)) in marked]
        markers = self._registry.read([self._paths.marker(job, item) for job, item in with_marker])
        marker_nodes = dict(zip(with_marker, markers, strict=True))
        for (entry, item), node in zip(pairs, cursors, strict=True):
            view = self._view(entry, item, node, marker_nodes.get((entry.name, item)))
            self._items.setdefault(entry.name, {})[item] = view
        self._tell_count()

    def _tell_count(self) -> None:
        """Say how many items can fire here, if their number changed: reading one again is no news."""
        count = sum(map(len, self._items.values()))
        if count != self._told_count:
            self._told_count = count
            logger.info("has read %d items and can fire them", count, extra={"event": Event.ITEMS_READ, "count": count})

    def look_up(self, entry: JobEntry, item: int) -> ItemView:
        """Return one item as it stands now, without taking note of it.

        Raises:
            RegistryUnavailableError: No answer.
        """
        paths = [self._paths.cursor(entry.name, item), self._paths.marker(entry.name, item)]
        cursor, marker = self._registry.read(paths, fresh=True)
        return self._view(entry, item, cursor, marker)

    def _view(self, entry: JobEntry, item: int, node: Node | None, marker_node: Node | None) -> ItemView:
        uid = entry.config.uid if entry.config else ""
        cursor, fault = None, None
        if node is not None:
            try:
                cursor = decode_cursor(node.path, node.value)
            except CorruptNodeError as error:
                fault = f"unreadable cursor: {error.reason}"
        if cursor is not None and cursor.uid != uid:
            cursor = None
        return ItemView(
            cursor=cursor,
            cursor_version=None if node is None else node.version,
            marker=None if marker_node is None else _marker(marker_node),
            is_marker_ours=marker_node is not None and marker_node.owner == self._registry.session_id,
            fault=fault,
        )

    def wait_for_marker(self, job: str, item: int) -> None:
        """Have `on_vanished` called once the marker of an item has gone; waiting twice is waiting once."""
        if (job, item) not in self._awaited:
            path = self._paths.marker(job, item)
            self._awaited[job, item] = self._registry.watch(path, partial(self._seen, path, job, item))

    def _seen(self, path: str, job: str, item: int, report: Changes) -> None:
        if report.nodes.get(path) is None:
            self._on_vanished(job, item)


def _marker(node: Node) -> Marker:
    """Return the marker; one that cannot be read still says that somebody's session runs something."""
    try:
        return decode_marker(node.path, node.value)
    except CorruptNodeError:
        return Marker(
            uid="", run="", incarnation="", executor="", fire=node.created_at, attempt=0, started_at=node.created_at
        )
