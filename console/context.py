"""What every view needs, and who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from flask import current_app, g
from werkzeug.exceptions import Unauthorized

if TYPE_CHECKING:
    from console.actor import Actor
    from console.fleet import Fleet
    from console.job_list import JobIndex
    from console.job_rate import Rates
    from console.known import KnownPeople
    from console.load_ring import LoadRing
    from console.once import Lately
    from console.password import Passwords
    from console.setting import ConsoleSettings
    from console.setup_code import SetupCode
    from console.store import Store
    from shardsched.clock import Clock
    from shardsched.history.journal import Journal
    from shardsched.history.log_shelf import LogShelf
    from shardsched.history.query import History
    from shardsched.people import People


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The parts of one console. All may be used from any thread."""

    settings: ConsoleSettings
    """What it was told."""
    fleet: Fleet
    """The fleet as last seen, and the door to changing it."""
    people: People
    """Users, audit, revisions."""
    store: Store
    """Whether the database of these answers."""
    known: KnownPeople
    """Who may look while it does not."""
    history: History
    """Runs and events as they were."""
    journal: Journal
    """Where it is told what people did."""
    logs: LogShelf
    """Outputs of runs on this machine."""
    loads: LoadRing
    """What executors reported of themselves over the last hour."""
    jobs: JobIndex
    """The jobs as lists show them."""
    rates: Rates
    """How often their runs went well."""
    lately: Lately
    """What the history said a moment ago."""
    clock: Clock
    """What time it is."""
    passwords: Passwords
    """How passwords are kept."""
    setup_code: SetupCode
    """With what the first user is made."""


def context() -> Context:
    """Return the parts of the console that answers the present request."""
    return cast("Context", current_app.extensions["console"])


def actor_or_none() -> Actor | None:
    """Return who asks, None if nobody is signed in."""
    return cast("Actor | None", g.get("actor"))


def actor() -> Actor:
    """Return who asks.

    Raises:
        Unauthorized: Nobody is signed in.
    """
    found = actor_or_none()
    if found is None:
        raise Unauthorized
    return found
