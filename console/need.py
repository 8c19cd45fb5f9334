"""What needs somebody's attention, and what can be done about it. This module decides; it does not act."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.map_view import is_online
from shardsched.core.eligibility import eligible_executors
from shardsched.core.item import format_items
from shardsched.core.name import name_fault
from shardsched.core.reason import JobState
from shardsched.core.sight import ItemSight
from shardsched.core.view import FleetView

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from shardsched.admin.live_value import LiveJob, Picture

DRIFT_S = 5.0
"""A clock that is further off than this is shown."""
DRAINED_LONG_S = 24 * 3600.0
"""A drained executor is not forgotten after this long."""
MOVING_JOBS = 3
"""Of this many jobs and more whose items are just being moved is told together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that needs attention."""

    code: str
    """What it is; `console.need_text` has its words."""
    is_urgent: bool
    """Whether something does not run that should."""
    kind: str
    """Of the object: ``job``, ``executor`` or ``fleet``."""
    name: str
    """The object's name."""
    items: str = ""
    """The items it is about, as short text."""
    count: int = 0
    """How many."""
    detail: str = ""
    """What the scheduler says of it."""
    at: datetime | None = None
    """Since when, where that is known."""
    number: float = 0.0
    """A figure: how far a clock is off, in seconds, or how many jobs."""


def needs(picture: Picture, now: datetime) -> list[Need]:
    """Return what needs attention, the urgent first, then those with most items."""
    fleet = _fleet(picture)
    moving = _moving(picture, fleet)
    found = [*_of_fleet(picture), *_of_executors(picture, now), *_alone(picture, fleet), *_of_moving(moving)]
    for name, job in picture.jobs.items():
        found += _of_job(job, is_told=name in moving)
    return sorted(found, key=lambda need: (not need.is_urgent, need.kind != "fleet", -need.count, need.name))


def _of_fleet(picture: Picture) -> Iterator[Need]:
    if not any(is_online(one) for one in picture.executors):
        yield Need(code="no-executor", is_urgent=True, kind="fleet", name="")
    elif picture.leader is None:
        yield Need(code="no-leader", is_urgent=True, kind="fleet", name="")


def _of_executors(picture: Picture, now: datetime) -> Iterator[Need]:
    for one in picture.executors:
        status, load = one.status, one.status.load
        name = status.name
        if one.left_at is not None:
            yield Need(code="executor-left", is_urgent=False, kind="executor", name=name, at=one.left_at)
            continue
        if status.state in {"unfit", "unreadable"}:
            code, detail = f"executor-{'handmade' if name_fault(name) else status.state}", status.reason or ""
            yield Need(code=code, is_urgent=True, kind="executor", name=name, detail=detail)
        elif load is not None and abs(load.drift_s) > DRIFT_S:
            yield Need(code="clock-drift", is_urgent=False, kind="executor", name=name, number=load.drift_s)
        if status.drain is not None and (now - status.drain.at).total_seconds() > DRAINED_LONG_S:
            at, detail = status.drain.at, status.drain.reason
            yield Need(code="drained-long", is_urgent=False, kind="executor", name=name, at=at, detail=detail)
        if load is not None and load.queued > 0:
            yield Need(code="slots-short", is_urgent=False, kind="executor", name=name, count=load.queued)


_ITEM_NEEDS = (
    ("failing", True, (ItemSight.FAILED, ItemSight.RETRY)),
    ("lost", True, (ItemSight.LOST,)),
    ("missed", False, (ItemSight.MISSED,)),
    ("unreadable", True, (ItemSight.UNREADABLE,)),
)


_NEEDY = frozenset({ItemSight.UNOWNED, *(sight for _, _, sights in _ITEM_NEEDS for sight in sights)})


def _moving(picture: Picture, fleet: FleetView) -> dict[str, int]:
    """Return how many items the leader is about to assign, by job; none where so few jobs are told one by one.

    It does so when executors come and go.
    """
    if picture.leader is None:
        return {}
    moving = {}
    for name, job in picture.jobs.items():
        count, config = job.counts[ItemSight.UNOWNED], job.status.entry.config
        if count and config is not None and job.status.state is not JobState.HELD and eligible_executors(config, fleet):
            moving[name] = count
    return moving if len(moving) >= MOVING_JOBS else {}


def _of_moving(moving: Mapping[str, int]) -> Iterator[Need]:
    if moving:
        count = sum(moving.values())
        yield Need(code="moving", is_urgent=True, kind="fleet", name="", count=count, number=len(moving))


def _of_job(job: LiveJob, *, is_told: bool) -> Iterator[Need]:
    name, status = job.status.entry.name, job.status
    if status.state is JobState.HELD:
        yield Need(code="held", is_urgent=True, kind="job", name=name, detail=status.reason or "")
        return
    if not _NEEDY & job.counts.keys():
        return
    if job.counts[ItemSight.UNOWNED] and not is_told:
        items, count = _which(job, (ItemSight.UNOWNED,))
        detail = status.reason or ""
        yield Need(code="unowned", is_urgent=True, kind="job", name=name, items=items, count=count, detail=detail)
    for code, is_urgent, sights in _ITEM_NEEDS:
        if any(job.counts[sight] for sight in sights):
            items, count = _which(job, sights)
            detail = _message(job, sights)
            yield Need(code=code, is_urgent=is_urgent, kind="job", name=name, items=items, count=count, detail=detail)


def _which(job: LiveJob, sights: tuple[ItemSight, ...]) -> tuple[str, int]:
    items = [item for item, sight in enumerate(job.sights) if sight in sights]
    return format_items(items), len(items)


def _message(job: LiveJob, sights: tuple[ItemSight, ...]) -> str:
    """Return what the first such item said of its last run."""
    for one in job.status.items:
        if one.item < len(job.sights) and job.sights[one.item] in sights and one.cursor is not None:
            return one.cursor.message
    return ""


def _fleet(picture: Picture) -> FleetView:
    living = {one.status.name: one.status.record for one in picture.executors if is_online(one)}
    drained = {one.status.name: one.status.drain for one in picture.executors if one.status.drain}
    return FleetView(executors={name: record for name, record in living.items() if record}, drained=drained)


def _alone(picture: Picture, fleet: FleetView) -> Iterator[Need]:
    """Yield the jobs that are to be failed over and have nobody to go to, though the fleet has more executors."""
    known = dict[object, int]()
    if len(fleet.executors) < 2:
        return
    for name, job in picture.jobs.items():
        config = job.status.entry.config
        if config is None or not config.failover or config.paused:
            continue
        key = (config.handler, tuple(sorted(config.labels.items())) if config.labels else ())
        if key not in known:
            known[key] = len(eligible_executors(config, fleet))
        if known[key] == 1:
            yield Need(code="no-failover-target", is_urgent=False, kind="job", name=name)
