"""What is to be told once a transaction is committed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shardsched.core.events import Event
from shardsched.core.tally import FireOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shardsched.core.dependency import Following
    from shardsched.core.tally import ClosedFire, PendingCall

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that happens with a transaction."""

    event: Event
    """What."""
    text: str
    """In words."""
    job: str
    """The job that it happens to."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What else is known of it."""
    is_warning: bool = False
    """Whether something is lost by it."""

    def tell(self) -> None:
        """Log it."""
        extra = {"event": self.event, "job": self.job, **self.fields}
        logger.log(logging.WARNING if self.is_warning else logging.INFO, "%s", self.text, extra=extra)


def _fields(fire: ClosedFire | PendingCall) -> dict[str, Any]:
    return {"fire": fire.key.at.isoformat(), "trigger": fire.key.trigger}


def fire_notices(job: str, fires: Iterable[ClosedFire]) -> list[Notice]:
    """Return what is told of fires that are over."""
    notices = []
    for fire in fires:
        if fire.is_completed:
            text = f"every item of a fire has ended: {fire.outcome}"
            fields = {**_fields(fire), "outcome": fire.outcome}
            notices.append(Notice(event=Event.FIRE_COMPLETED, text=text, job=job, fields=fields))
        elif fire.outcome is FireOutcome.UNCOUNTED:
            text = "the end of a fire cannot be known: nothing fires after it"
            notices.append(
                Notice(event=Event.FIRE_UNCOUNTED, text=text, job=job, fields=_fields(fire), is_warning=True)
            )
    return notices


def call_notices(job: str, calls: Iterable[PendingCall]) -> list[Notice]:
    """Return what is told of calls that are given up."""
    return [
        Notice(
            event=Event.CALL_DROPPED,
            text=f"{call.call} is not called: too many calls of the job's listeners wait",
            job=job,
            fields=_fields(call),
            is_warning=True,
        )
        for call in calls
    ]


def following_notice(job: str, upstream: str, fire: ClosedFire, followed: Following) -> Notice | None:
    """Return what is told of a dependent job, None if nothing has happened to it yet."""
    fields = {"upstream": upstream, **_fields(fire)}
    if followed.dropped is not None:
        text = f"is not triggered by {upstream}: {followed.dropped}"
        return Notice(event=Event.TRIGGER_DROPPED, text=text, job=job, fields=fields, is_warning=True)
    if followed.trigger is not None:
        fields["number"] = followed.trigger.number
        return Notice(event=Event.JOB_FOLLOWED, text=f"is triggered by {upstream}", job=job, fields=fields)
    return None
