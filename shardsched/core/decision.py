"""What may be decided about one item, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.fire import Cause, Cursor, ItemState


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Fires of one item that nobody starts any more."""

    first: datetime
    """The first of them."""
    last: datetime
    """The last of them."""
    reason: str
    """Why: too late, still running, disabled."""
    is_asked_for: bool = False
    """Whether people asked for it, so that nobody need be warned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """A failed run that was to be tried again, and is not: its fire has failed for good."""

    cursor: Cursor
    """The item's cursor, as the failed run left it."""
    fire: datetime
    """The fire."""
    reason: str
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The item is to be claimed and run."""

    item: int
    """Which."""
    cause: Cause
    """Why."""
    run_fire: datetime
    """The fire: a scheduled time, or when it was triggered."""
    fire: datetime | None
    """What the cursor's scheduled fire becomes."""
    trigger: int
    """What the cursor's trigger becomes."""
    attempt: int
    """Which attempt."""
    items: int
    """How many items the fire has."""
    job_param: str
    """The job's parameter."""
    param: str
    """The item's parameter."""
    first_cause: Cause
    """Why the fire was first run, kept over failovers."""
    missed: Missed | None = None
    """Earlier fires that are dropped by this."""
    failures: int = 0
    """How often the fire has failed before."""
    given_up: GivenUp | None = None
    """The retry of an earlier fire that is given up by this."""
    abandoned: Cursor | None = None
    """The cursor of the abandoned run whose fire is run again, None if there is none."""
    by: str = ""
    """Who asked for it, empty where nobody did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """The cursor is to be written without a run: an abandoned run is over, or fires are dropped."""

    item: int
    """Which."""
    state: ItemState
    """What the cursor's state becomes."""
    fire: datetime | None
    """What the cursor's scheduled fire becomes."""
    reason: str
    """Why, for the event and the cursor's message."""
    missed: Missed | None = None
    """Fires that are dropped by this."""
    trigger: int | None = None
    """What the cursor's trigger becomes, None to leave it."""
    given_up: GivenUp | None = None
    """The retry that is given up by this."""
    abandoned: Cursor | None = None
    """The cursor of the abandoned run that is over by this, None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The item's marker is ours but no run of ours is behind it: it is to be given back."""

    item: int
    """Which."""
    is_final: bool
    """Whether the run is lost (no failover); else the cursor stays *running* and the fire is run again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Await:
    """The item runs elsewhere: nothing can be done until its marker vanishes."""

    item: int
    """Which."""


Decision = Run | Settle | Release | Await
