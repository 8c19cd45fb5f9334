"""Making the jobs that an executor's code describes known to its fleet."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.errors import ConfigurationError, JobConfigError

if TYPE_CHECKING:
    from shardsched.admin.job import Jobs
    from shardsched.execution.handlers import HandlerTable

logger = logging.getLogger(__name__)


def register_handlers(jobs: Jobs, handlers: HandlerTable) -> None:
    """Create the jobs of these handlers that the fleet lacks, and tell in what others differ.

    Raises:
        ConfigurationError: A job of the code is not valid; the message names it, and jobs before it are registered.
        RegistryUnavailableError: No answer; calling again is safe.
    """
    for name in handlers.names():
        handler = handlers.get(name)
        if handler is None:
            continue
        settings = {key: value for key, value in handler.settings.items() if key != "overwrite"}
        try:
            done = jobs.register(name, settings, overwrite=bool(handler.settings.get("overwrite")))
        except ConfigurationError as error:
            raise JobConfigError(f"job {name!r} of {handler.place}: {error}") from error
        fields = {"event": Event.JOB_REGISTERED, "job": name}
        if done.fault is not None:
            logger.error("the fleet's copy of a job cannot be used: %s", done.fault, extra=fields)
        elif done.is_created or done.is_updated:
            logger.info("%s a job", "created" if done.is_created else "updated", extra=fields)
        elif done.differences:
            logger.warning(
                "the fleet's copy of a job differs from the code in %s and wins; set overwrite=True to change that",
                ", ".join(done.differences),
                extra=fields | {"settings": list(done.differences)},
            )
