"""Painting the next picture of a fleet from the last one and what was read since."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.admin.live_item import item_count
from shardsched.admin.live_value import LiveJob, job_text
from shardsched.admin.status import job_status

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from shardsched.admin.live_crew import Crew
    from shardsched.admin.live_item import SeenJob
    from shardsched.admin.live_value import Picture
    from shardsched.admin.status import ItemStatus

MAX_REMOVED = 1_000
"""Jobs that are gone and still known to be; who has seen an older picture gets all of the present one."""


def next_picture(before: Picture, jobs: Mapping[str, SeenJob], touched: set[str], crew: Crew, now: datetime) -> Picture:
    """Return the picture after some jobs were touched; it has the number of the last one if nothing changed.

    Args:
        before: The last picture.
        jobs: All jobs as they were read.
        touched: Those that may look different now; all of them, if an executor came or went.
        crew: The executors.
        now: The time.
    """
    number = before.number + 1
    gone = [name for name in before.jobs if name not in jobs]
    fresh = {name: _job(name, before, jobs[name], crew, number, now) for name in touched if name in jobs}
    painted = before.jobs if not (fresh or gone) else _merged(before, fresh, jobs)
    held = before.held
    if fresh or gone:
        known = [before.jobs[name].status for name in (*fresh, *gone) if name in before.jobs]
        held = held.changed(known, [job.status for job in fresh.values()])
    executors = crew.executors(held, now)
    is_crew_changed = executors != before.executors
    is_changed = bool(gone) or is_crew_changed or any(job.changed == number for job in fresh.values())
    is_changed = is_changed or before.fault is not None or before.at is None
    removed, oldest = _removed(before, gone, jobs, number)
    return replace(
        before,
        number=number if is_changed else before.number,
        at=now,
        fault=None,
        leader=crew.fleet.leader,
        executors=executors,
        executors_changed=number if is_crew_changed else before.executors_changed,
        jobs=painted,
        held=held,
        removed=removed,
        oldest=oldest,
    )


def _job(name: str, before: Picture, seen: SeenJob, crew: Crew, number: int, now: datetime) -> LiveJob:
    is_read = seen.attention.read_at is not None
    known, status = before.jobs.get(name), job_status(seen.entry, crew.fleet, seen.views, now, is_read=is_read)
    if known is not None and known.status == status:
        status = known.status  # the same object, so that whoever shows it need not compare it
    items = [item for item in status.items if item.item < item_count(seen.entry)]
    sights = tuple(one.sight for one in items)
    owners = tuple(crew.numbers.get(_who(one) or "", 0) for one in items)
    text = job_text(status, sights, owners)
    changed = known.changed if known is not None and known.text == text else number
    return LiveJob(changed=changed, status=status, sights=sights, owners=owners, text=text, counts=Counter(sights))


def _who(item: ItemStatus) -> str | None:
    """Return who runs an item, or else owns it: while it moves, both are true of different executors."""
    return item.owner if item.marker is None else item.marker.executor


def _merged(before: Picture, fresh: Mapping[str, LiveJob], jobs: Mapping[str, SeenJob]) -> dict[str, LiveJob]:
    kept = {**before.jobs, **fresh}
    return {name: kept[name] for name in sorted(jobs) if name in kept}


def _removed(
    before: Picture, gone: list[str], jobs: Mapping[str, SeenJob], number: int
) -> tuple[Mapping[str, int], int]:
    if not gone and not any(name in jobs for name in before.removed):
        return before.removed, before.oldest
    removed = {name: when for name, when in before.removed.items() if name not in jobs}
    removed |= dict.fromkeys(gone, number)
    surplus = sorted(removed.items(), key=lambda one: one[1])[: max(len(removed) - MAX_REMOVED, 0)]
    oldest = max([before.oldest, *(when for _, when in surplus)])
    return {name: when for name, when in removed.items() if when > oldest}, oldest
