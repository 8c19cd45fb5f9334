"""What may be wrong with the items of one job."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from shardsched.admin.finding import Case, Fault, Finding
from shardsched.admin.reader import is_abandoned
from shardsched.core.checkpoint import decode_checkpoint
from shardsched.core.fire import ItemState
from shardsched.core.reason import live_owners
from shardsched.errors import CorruptNodeError
from shardsched.settings import DRIFT_LIMIT_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from shardsched.admin.mend import Mend
    from shardsched.core.view import FleetView, ItemView, JobEntry
    from shardsched.registry.base import Node

_REPAIR = "run 'shardsched doctor --repair'"


def item_cases(mend: Mend, entry: JobEntry, views: Mapping[int, ItemView], fleet: FleetView) -> Iterator[Case]:
    """Return what is wrong with the items of a job; nothing can be said where its configuration cannot be read."""
    if entry.config is None:
        return
    owned = {item for items in live_owners(entry.assignment, fleet).values() for item in items}
    for item, view in views.items():
        case = _fault(mend, entry, item, view) or _stray_marker(mend, entry, item, view)
        case = case or _abandoned(mend, entry, item, view, is_owned=item in owned) or _future(mend, entry, item, view)
        if case is not None:
            yield case


def _fault(mend: Mend, entry: JobEntry, item: int, view: ItemView) -> Case | None:
    if view.fault is None:
        return None
    is_cursor = view.fault.startswith("unreadable cursor")
    path = mend.paths.cursor(entry.name, item) if is_cursor else mend.paths.marker(entry.name, item)
    is_mendable = is_cursor and view.marker is None
    finding = Finding(
        fault=Fault.UNREADABLE,
        path=path,
        job=entry.name,
        message=f"item {item} never runs: {view.fault}",
        cure=f"{_REPAIR}; its fires up to now then count as handled" if is_mendable else "restart its executor",
        is_mendable=is_mendable,
    )
    return Case(finding, partial(mend.reset_cursor, entry, item) if is_mendable else None)


def _stray_marker(mend: Mend, entry: JobEntry, item: int, view: ItemView) -> Case | None:
    marker, cursor, config = view.marker, view.cursor, entry.config
    if marker is None or config is None:
        return None
    if marker.uid == config.uid and cursor is not None and cursor.run == marker.run:
        return None
    whose = "of an earlier job of this name" if marker.uid != config.uid else "that its cursor does not know"
    finding = Finding(
        fault=Fault.STRAY_MARKER,
        path=mend.paths.marker(entry.name, item),
        job=entry.name,
        message=f"item {item} is marked as running on {marker.executor}, for a run {whose}",
        cure=f"{marker.executor} gives it back by itself; if it does not, restart {marker.executor}",
    )
    return Case(finding)


def _abandoned(mend: Mend, entry: JobEntry, item: int, view: ItemView, *, is_owned: bool) -> Case | None:
    if is_owned or not is_abandoned(view):
        return None
    finding = Finding(
        fault=Fault.ABANDONED,
        path=mend.paths.cursor(entry.name, item),
        job=entry.name,
        message=f"item {item} was left in the middle of a run, and has no owner to settle it",
        cure="start an executor that may own it; 'shardsched status' says why none does",
    )
    return Case(finding)


def _future(mend: Mend, entry: JobEntry, item: int, view: ItemView) -> Case | None:
    cursor = view.cursor
    if cursor is None or cursor.fire is None or cursor.fire <= mend.now + timedelta(seconds=DRIFT_LIMIT_S):
        return None
    is_mendable = view.marker is None and cursor.state is not ItemState.RUNNING
    finding = Finding(
        fault=Fault.FUTURE_CURSOR,
        path=mend.paths.cursor(entry.name, item),
        job=entry.name,
        message=f"item {item} has handled a fire that is far ahead: {cursor.fire.isoformat(timespec='seconds')}",
        cure=_REPAIR if is_mendable else "wait until it has ended",
        is_mendable=is_mendable,
    )
    return Case(finding, partial(mend.rewind_cursor, entry, item, view) if is_mendable else None)


def checkpoint_cases(job: str, checkpoints: Iterable[tuple[int, Node]]) -> Iterator[Case]:
    """Return what is wrong with what the items of a job have saved."""
    for item, node in checkpoints:
        try:
            decode_checkpoint(node.path, node.value)
        except CorruptNodeError as error:
            finding = Finding(
                fault=Fault.UNREADABLE,
                path=node.path,
                job=job,
                message=f"what item {item} has saved cannot be loaded: {error.reason}",
                cure=f"clear it with 'shardsched job reset {job} --items {item}'",
            )
            yield Case(finding)
