"""Coming into the fleet: what gets no answer is asked again until it does, and every pause is told.

A registry that is away, or whose answer is lost, comes back; a service manager that starts an executor over and over
meanwhile would only hide why. What nobody but a person can cure, such as refused credentials, ends the start.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from shardsched.admin.job import Jobs
from shardsched.coordination.namespace import ensure_namespace
from shardsched.core.events import Event
from shardsched.errors import RegistryUnavailableError, SessionLostError
from shardsched.execution.handlers import TABLE
from shardsched.registration import register_handlers

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.clock import Clock
    from shardsched.coordination.membership import Membership
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Registry

logger = logging.getLogger(__name__)

OPEN_S = 15.0
"""How long the registry may take to answer at all, each time it is asked."""
FIRST_PAUSE_S = 1.0
"""Before the registry is asked again; doubled each time."""
LONGEST_PAUSE_S = 10.0
"""The longest of these pauses."""


def arrive(
    registry: Registry,
    paths: Paths,
    clock: Clock,
    membership: Membership,
    pause: Callable[[float], object],
    *,
    open_s: float = OPEN_S,
) -> None:
    """Open the registry, make known the jobs of the imported code, and take the place; returns when that is done.

    The place comes last: from then on items are given to this executor, and nothing may hold it up.

    Args:
        registry: Not open yet.
        paths: Of the namespace.
        clock: The machine's clocks.
        membership: The place.
        pause: Waits so many seconds.
        open_s: How long the registry may take to answer at all, each time.

    Raises:
        NameTakenError: A living executor holds the name.
        RegistryAccessError: The registry refuses our credentials.
        ConfigurationError: A job of the code is not valid; its message names the job.
    """
    jobs = Jobs(registry, paths, clock)
    # Each may be repeated, whatever became of it.
    for step in (
        partial(registry.open, open_s),
        partial(ensure_namespace, registry, paths),
        partial(register_handlers, jobs, TABLE),
        membership.join,
    ):
        _insist(step, pause)


def _insist(step: Callable[[], object], pause: Callable[[float], object]) -> None:
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            step()
        except (RegistryUnavailableError, SessionLostError) as error:
            logger.warning(
                "cannot join the fleet yet and tries again in %g s: %s",
                pause_s,
                error,
                extra={"event": Event.REGISTRY_AWAITED},
            )
        else:
            return
        pause(pause_s)
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
