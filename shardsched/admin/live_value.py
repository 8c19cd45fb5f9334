"""What a spectator sees of a fleet, numbered so that who has seen an earlier picture gets only what changed since."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shardsched.admin.document import executor_document
from shardsched.admin.executor_status import ItemCounts
from shardsched.core.codec import time_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from shardsched.admin.executor_status import ExecutorStatus
    from shardsched.admin.status import JobStatus
    from shardsched.core.executor import LeaderRecord
    from shardsched.core.sight import ItemSight


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveExecutor:
    """One executor of the picture."""

    number: int
    """From 1; its own as long as it is in the picture, and short enough for the cell of an item."""
    status: ExecutorStatus
    """As it stands; ``gone`` for one that lived a while ago."""
    left_at: datetime | None = None
    """When it was seen to be gone, None while it lives."""

    def as_json(self) -> dict[str, Any]:
        """Return it with its number."""
        return {"number": self.number, "left_at": time_text(self.left_at), **executor_document(self.status)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveJob:
    """One job of the picture."""

    changed: int
    """The picture in which it last changed."""
    status: JobStatus
    """As it stands."""
    sights: tuple[ItemSight, ...]
    """What its items look like; those beyond its present count are left out."""
    owners: tuple[int, ...]
    """Numbers of the executors that run them, or else own them; 0 for nobody."""
    text: str
    """All that is sent of it, as JSON."""
    counts: Counter[ItemSight] = field(default_factory=Counter)
    """How many items look alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """All of a fleet at one moment. It never changes; the next one is another."""

    boot: str
    """Identity of the spectator: numbers of another mean nothing."""
    number: int
    """Grows with every change."""
    at: datetime | None = None
    """When the registry last answered, None if it never did."""
    fault: str | None = None
    """Why there is nothing newer, None while the registry answers."""
    leader: LeaderRecord | None = None
    """Who leads."""
    executors: tuple[LiveExecutor, ...] = ()
    """By number."""
    executors_changed: int = 0
    """The picture in which they last changed."""
    jobs: Mapping[str, LiveJob] = field(default_factory=dict)
    """By name, sorted."""
    held: ItemCounts = field(default_factory=ItemCounts)
    """Items of these jobs by executor."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """Jobs that are gone, and the picture in which they were no longer."""
    oldest: int = 0
    """What changed since this picture is still known."""
    is_filled: bool = False
    """Whether the items of all jobs have been read at least once."""

    @property
    def version(self) -> str:
        """The picture's identity."""
        return f"{self.boot}-{self.number}"

    def counts(self) -> Counter[ItemSight]:
        """Return how many items look alike."""
        total: Counter[ItemSight] = Counter()
        for job in self.jobs.values():
            total.update(job.counts)
        return total


def job_text(status: JobStatus, sights: tuple[ItemSight, ...], owners: tuple[int, ...]) -> str:
    """Return what is sent of a job, as JSON: a letter and a number for each item."""
    config, next_fire = status.entry.config, status.next_fire
    document = {
        "name": status.entry.name,
        "state": str(status.state),
        "reason": status.reason,
        "cron": config.cron if config else None,
        "timezone": config.timezone if config else None,
        "failover": config.failover if config else None,
        "items": "".join(sight.letter for sight in sights),
        "owners": list(owners),
        "next_fire": None if next_fire is None else int(next_fire.timestamp()),
        "version": status.entry.version,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def since_number(picture: Picture, version: str | None) -> int | None:
    """Return the number of a picture that somebody has seen, None if what changed since is not known."""
    boot, _, number = (version or "").rpartition("-")
    if boot != picture.boot or not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    seen = int(number)
    return seen if picture.oldest <= seen <= picture.number else None


def changed_jobs(picture: Picture, version: str | None) -> tuple[LiveJob, ...]:
    """Return the jobs that changed since a picture; all where that is not known."""
    since = since_number(picture, version)
    return tuple(job for job in picture.jobs.values() if since is None or job.changed > since)


def change_text(picture: Picture, version: str | None) -> str:
    """Return what changed since a picture as JSON; all of it where that is not known (``"full": true``).

    The times are ISO 8601, those of next fires seconds since 1970; ``executors`` is null where none changed.
    """
    since = since_number(picture, version)
    is_full, floor = since is None, -1 if since is None else since
    head = {
        "version": picture.version,
        "full": is_full,
        "at": time_text(picture.at),
        "fault": picture.fault,
        "filled": picture.is_filled,
        "executors": [one.as_json() for one in picture.executors] if picture.executors_changed > floor else None,
        "removed": [] if is_full else [name for name, number in picture.removed.items() if number > floor],
    }
    jobs = ",".join(job.text for job in changed_jobs(picture, version))
    return f'{json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1]},"jobs":[{jobs}]}}'
