"""What the shard map and the overview show of a picture. This module decides; it does not act."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.once import once
from shardsched.core.reason import JobState
from shardsched.core.sight import PROBLEMS, ItemSight
from shardsched.history.figure import NEUTRAL, OK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.admin.live_value import LiveExecutor, LiveJob, Picture
    from shardsched.admin.status import ItemStatus
    from shardsched.history.row import RunRow

SHORT_CARDS = 8
"""With more executors than this their cards have one line."""
MAX_NAMES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """The figures at the top."""

    running: int
    """Items that run."""
    failover: int
    """Those of them that were taken over."""
    items: int
    """All items."""
    enabled: int
    """Jobs that fire."""
    jobs: int
    """All jobs."""
    paused: int
    """Jobs that people paused."""
    problems: int
    """Items that somebody should look at."""
    troubled: tuple[str, ...]
    """The jobs they belong to, those with most first; a few."""
    online: int
    """Executors that live."""
    executors: int
    """And those that left lately."""
    leader: str
    """Who leads, empty if nobody does."""


@once
def tiles(picture: Picture) -> Tiles:
    """Return the figures of a picture."""
    counts, states = picture.counts(), Counter(job.status.state for job in picture.jobs.values())
    troubled = sorted(
        ((-problem_count(job.counts), name) for name, job in picture.jobs.items() if problem_count(job.counts))
    )
    return Tiles(
        running=counts[ItemSight.RUNNING] + counts[ItemSight.FAILOVER],
        failover=counts[ItemSight.FAILOVER],
        items=sum(counts.values()),
        enabled=states[JobState.ENABLED],
        jobs=len(picture.jobs),
        paused=states[JobState.PAUSED],
        problems=problem_count(counts),
        troubled=tuple(name for _, name in troubled[:MAX_NAMES]),
        online=sum(is_online(one) for one in picture.executors),
        executors=len(picture.executors),
        leader=picture.leader.name if picture.leader else "",
    )


def problem_count(counts: Counter[ItemSight]) -> int:
    """Return how many items somebody should look at."""
    return sum(counts[sight] for sight in PROBLEMS & counts.keys())


def is_online(one: LiveExecutor) -> bool:
    """Whether an executor lives."""
    return one.status.state != "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is shown of an executor."""

    live: LiveExecutor
    """The executor."""
    state: str
    """``online``, ``draining``, ``drained``, ``unfit``, ``unreadable`` or ``offline``."""
    share: float
    """How many items would be its own if all had the same."""
    most: int
    """The most items that any executor owns."""


@once
def cards(picture: Picture) -> list[Card]:
    """Return the executors of a picture by number."""
    takers = [one for one in picture.executors if one.status.state == "live"]
    owned = sum(one.status.items for one in picture.executors)
    share = owned / len(takers) if takers else 0.0
    most = max([1, *(one.status.items for one in picture.executors)])
    return [Card(live=one, state=_state(one), share=share, most=most) for one in picture.executors]


def _state(one: LiveExecutor) -> str:
    match one.status.state:
        case "live":
            return "online"
        case "gone":
            return "offline"
        case "drained":
            return "draining" if one.status.items or one.status.running else "drained"
        case state:
            return state


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One item."""

    job: LiveJob
    """Its job."""
    item: int
    """Which."""
    sight: ItemSight
    """What it looks like."""
    status: ItemStatus
    """As it stands."""
    owner: LiveExecutor | None
    """Who owns it."""
    runner: LiveExecutor | None
    """Who runs it."""

    @property
    def is_disabled(self) -> bool:
        """Whether a person switched it off."""
        config = self.job.status.entry.config
        return config is not None and self.item in config.disabled_items


def find_cell(picture: Picture, name: str, item: int) -> Cell | None:
    """Return one item of a picture, None if there is none."""
    job = picture.jobs.get(name)
    if job is None or item >= len(job.sights):
        return None
    status = next(one for one in job.status.items if one.item == item)
    executors = {one.status.name: one for one in picture.executors}
    return Cell(
        job=job,
        item=item,
        sight=job.sights[item],
        status=status,
        owner=executors.get(status.owner or ""),
        runner=None if status.marker is None else executors.get(status.marker.executor),
    )


def fold(sights: Sequence[ItemSight]) -> list[tuple[ItemSight, int]]:
    """Return how many items look alike, the most first: a row of the map for who has no script."""
    return Counter(sights).most_common()


def bars(runs: Sequence[RunRow]) -> list[tuple[str, int, int]]:
    """Return the last runs as bars, the oldest first: class, top and height of each, of 40."""
    longest = max((run.duration_s for run in runs), default=0.0) or 1.0
    shown = []
    for run in reversed(runs):
        height = 6 + round(34 * min(run.duration_s / longest, 1.0))
        shown.append((_bar_kind(run.outcome), 40 - height, height))
    return shown


def _bar_kind(outcome: str | None) -> str:
    if outcome is None:
        return "running"
    if outcome == OK:
        return "ok"
    return "quiet" if outcome in NEUTRAL else "bad"
