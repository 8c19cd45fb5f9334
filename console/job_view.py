"""What pages say of a job beyond what is stored: why something cannot be done, when it fires, in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from console.away import away
from console.context import actor_or_none, context
from console.job_list import CODE, item_words
from console.label import state_look
from console.sentence_text import said
from console.text import gettext as _
from console.view import why_not
from shardsched.core.item import format_items
from shardsched.core.reason import JobState
from shardsched.core.sight import ItemSight
from shardsched.core.task import is_builtin
from shardsched.core.zone import load_zone
from shardsched.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from console.fleet import Sight
    from console.job_list import Row
    from shardsched.admin.status import ItemStatus, JobStatus
    from shardsched.core.job import JobConfig

_BY_WEIGHT = sorted(ItemSight, key=lambda sight: (not sight.is_problem, not sight.is_running))
STRIP_ITEMS = 24
"""Items shown one by one in a list; of more, how many are in which state."""
FIRE_COUNT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Whys:
    """Why each thing cannot be done at present; empty where it can."""

    run: str = ""
    """Having it run now."""
    stop: str = ""
    """Stopping what runs."""
    change: str = ""
    """Pausing, resuming, editing."""
    delete: str = ""
    """Deleting it."""


class Fire(NamedTuple):
    """A fire to come."""

    at: datetime
    """When."""
    is_shifted: bool
    """Whether the clocks of the job's zone are put forward or back before it."""


def away_reason() -> str:
    """Return why nothing can be changed at all, empty where it can."""
    context().fleet.sight()  # nobody may have looked for some time
    return away().registry


def whys_of(job: JobStatus, gone: str) -> Whys:
    """Return why things cannot be done to a job by whoever looks."""
    base = why_not("operator") or gone
    admin = why_not("admin") or gone
    config = job.entry.config
    is_deleting = config is not None and config.deleting
    change = base or (_("It is being deleted") if is_deleting else "")
    is_running = any(item.marker is not None for item in job.items)
    return Whys(
        run=change or _run_fault(job),
        stop=base or ("" if is_running else _("Nothing of it runs")),
        change=change,
        delete=admin,
    )


def _run_fault(job: JobStatus) -> str:
    if job.state is JobState.HELD:
        return _("It is held: %(reason)s", reason=said(job.reason or ""))
    if not job.owners:
        return _("Nobody would run it: %(reason)s", reason=said(job.reasons[-1] if job.reasons else ""))
    return ""


def next_fires(config: JobConfig, count: int = FIRE_COUNT) -> list[Fire]:
    """Return the next fires, pauses left out, in the job's zone; none where its schedule cannot be read."""
    now = context().clock.now()
    try:
        zone = load_zone(config.timezone)
        times = config.schedule().fires(max(now, config.armed_at), count)
    except ConfigurationError:
        return []
    fires, offset = [], now.astimezone(zone).utcoffset()
    for time in times:
        at = time.astimezone(zone)
        fires.append(Fire(at, at.utcoffset() != offset))
        offset = at.utcoffset()
    return fires


def strip_cells(row: Row) -> list[tuple[int, str, str]]:
    """Return the items of a job as a strip shows them, if they are few; else nothing."""
    items = row.status.items
    if len(items) > STRIP_ITEMS:
        return []
    return [
        (item.item, code, item_words(str(state_look(code).text), item))
        for item, code in zip(items, row.codes, strict=True)
    ]


def state_counts(codes: Sequence[str]) -> list[tuple[str, int]]:
    """Return how many items are in which state, the weightiest first."""
    counts = Counter(codes)
    return [(sight.value, counts[sight]) for sight in _BY_WEIGHT if counts[sight]]


KIND_ICONS = {CODE: "code", "@shell": "file-text", "@http": "world", "@scrapy": "wand"}


def kind_icon(kind: str) -> str:
    """Return the icon of a kind of jobs."""
    return KIND_ICONS.get(kind, "info-circle")


def hosted_handlers(sight: Sight) -> dict[str, str]:
    """Return the handlers that living executors host, with the code behind each."""
    executors = sight.status.executors if sight.status else ()
    return {
        name: code
        for one in executors
        if one.record is not None
        for name, code in sorted(one.record.handlers.items())
        if not is_builtin(name)
    }


def dependents(sight: Sight, name: str) -> list[str]:
    """Return the jobs that fire after a job."""
    jobs = sight.status.jobs if sight.status else ()
    return [job.entry.name for job in jobs if job.entry.config is not None and name in job.entry.config.after]


def items_text(items: Sequence[ItemStatus]) -> str:
    """Return the numbers of items as short text."""
    return format_items(item.item for item in items)


def may_see_audit() -> bool:
    """Whether whoever looks may read the audit."""
    who = actor_or_none()
    return who is not None and who.role.value == "admin"
