"""What people ask of a job besides its configuration: to run now, and to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.core.codec import Fields, encode, time_text
from shardsched.core.fire import Cause
from shardsched.core.item import MAX_ITEM_COUNT
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from shardsched.core.assignment import Assignment
    from shardsched.core.fire import Cursor

MAX_WAITING_TRIGGERS = 16
"""Triggers kept of a job; each press is run once, so a further one is refused while the oldest still waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamFire:
    """A completed fire of a job that another one waits for."""

    job: str
    """The upstream job."""
    at: datetime
    """The fire: a scheduled time, or when it was triggered."""
    trigger: int = 0
    """Number of the trigger, 0 for a scheduled fire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """One press of the button, or what takes its place: the jobs that it waits for have completed a fire."""

    number: int
    """Counts the job's triggers, from 1."""
    at: datetime
    """When it was pressed; the run's fire time."""
    items: int
    """How many items the fire has: the job's count at that moment."""
    only: tuple[int, ...] | None = None
    """The items to run, None for all."""
    param: str | None = None
    """A parameter that stands in for the job's, None for the job's own."""
    by: str = ""
    """Who pressed."""
    cause: Cause = Cause.MANUAL
    """Whether people pressed or jobs did."""
    upstream: tuple[UpstreamFire, ...] = ()
    """The completed fires that it follows, where jobs did."""

    def concerns(self, item: int) -> bool:
        """Whether the item is to run for it."""
        return item < self.items and (self.only is None or item in self.only)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """What was asked of one job, at ``/commands/{job}``."""

    uid: str
    """The job's."""
    triggers: tuple[Trigger, ...] = ()
    """The latest triggers, in order."""
    upstream: tuple[UpstreamFire, ...] = ()
    """Completed fires of some of the jobs that it waits for, while it waits for the others."""
    stop: int = 0
    """Counts the stops: a run claimed under a lower count is to be stopped."""
    stop_at: datetime | None = None
    """When the last stop was asked."""
    stop_by: str = ""
    """Who asked for it."""

    @property
    def trigger_count(self) -> int:
        """Number of the newest trigger, 0 if there is none."""
        return self.triggers[-1].number if self.triggers else 0

    def next_trigger(self, item: int, handled: int) -> Trigger | None:
        """Return the oldest trigger that an item which has handled some has not, or None."""
        for trigger in self.triggers:
            if trigger.number > handled and trigger.concerns(item):
                return trigger
        return None


def encode_commands(commands: Commands) -> bytes:
    """Return the stored form."""
    return encode(
        {
            "uid": commands.uid,
            "triggers": [
                {
                    "number": trigger.number,
                    "at": time_text(trigger.at),
                    "items": trigger.items,
                    "only": None if trigger.only is None else list(trigger.only),
                    "param": trigger.param,
                    "by": trigger.by,
                    "cause": trigger.cause,
                    "upstream": _upstream(trigger.upstream),
                }
                for trigger in commands.triggers
            ],
            "upstream": _upstream(commands.upstream) or None,
            "stop": commands.stop,
            "stop_at": time_text(commands.stop_at),
            "stop_by": commands.stop_by,
        }
    )


def decode_commands(path: str, value: bytes) -> Commands:
    """Return the record stored at ``/commands/{job}``.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    triggers = tuple(
        Trigger(
            number=trigger.integer("number", low=1),
            at=trigger.time("at"),
            items=trigger.integer("items", low=1, high=MAX_ITEM_COUNT),
            only=trigger.integers("only"),
            param=trigger.text("param") if trigger.has("param") else None,
            by=trigger.text("by", ""),
            cause=trigger.choice("cause", Cause, "manual"),
            upstream=_read_upstream(trigger),
        )
        for trigger in fields.objects("triggers")
    )
    numbers = [trigger.number for trigger in triggers]
    if numbers != sorted(set(numbers)):
        raise fields.corrupt(Sentence("its triggers are not in order"))
    return Commands(
        uid=fields.text("uid"),
        triggers=triggers,
        upstream=_read_upstream(fields),
        stop=fields.integer("stop", 0),
        stop_at=fields.time_or_none("stop_at"),
        stop_by=fields.text("stop_by", ""),
    )


def _upstream(fires: Sequence[UpstreamFire]) -> list[dict[str, Any]]:
    return [{"job": fire.job, "fire": time_text(fire.at), "trigger": fire.trigger} for fire in fires]


def _read_upstream(fields: Fields) -> tuple[UpstreamFire, ...]:
    return tuple(
        UpstreamFire(job=fire.text("job"), at=fire.time("fire"), trigger=fire.integer("trigger", 0))
        for fire in fields.objects("upstream")
    )


def next_number(commands: Commands, assignment: Assignment | None, cursors: Mapping[int, Cursor]) -> int:
    """Return the number of a new trigger: above all that were handled, or may be."""
    floor = assignment.trigger_floor if assignment else 0
    return 1 + max([commands.trigger_count, floor, *(cursor.trigger for cursor in cursors.values())])


def waiting_triggers(
    commands: Commands, assignment: Assignment | None, cursors: Mapping[int, Cursor]
) -> tuple[Trigger, ...]:
    """Return the triggers that some item which they concern has not handled yet."""
    floor = assignment.trigger_floor if assignment else 0

    def is_waiting(trigger: Trigger) -> bool:
        items = range(trigger.items) if trigger.only is None else trigger.only
        return any((cursors[item].trigger if item in cursors else floor) < trigger.number for item in items)

    return tuple(trigger for trigger in commands.triggers if is_waiting(trigger))
