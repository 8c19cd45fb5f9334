"""Telling the history what people asked for at the command line."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shardsched.cli.connection import who_asks
from shardsched.cli.error import one_line
from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import SettingsError
from shardsched.settings import NO_HISTORY, history_url, namespace_name, registry_url

if TYPE_CHECKING:
    from shardsched.cli.connection import Place

DELETED = "command_delete"
"""A job was deleted: what is from before goes in time."""
WRITE_S = 5.0
"""How long the history may take; a person waits at the terminal, and what they asked for is done."""


def tell(place: Place, kind: str, *, job: str = "", executor: str = "", message: str = "", **detail: Any) -> None:
    """Keep in the history that somebody asked for something, and that it was done.

    A history that does not answer is told of on standard error; the command has been carried out all the same.

    Args:
        place: Registry and namespace as the command line says.
        kind: What was asked, such as ``command_trigger``.
        job: The job concerned.
        executor: The executor concerned.
        message: One line for people.
        detail: More of it, as JSON takes it.
    """
    # Imported here: a command that changes nothing does not wait for the database's client library.
    from shardsched.history.recorder import Recorder  # noqa: PLC0415
    from shardsched.history.row import EventRow  # noqa: PLC0415

    try:
        url = history_url(None, registry_url(place.registry))
    except SettingsError as error:
        return _warn(str(error))
    if url == NO_HISTORY:
        return None
    with tempfile.TemporaryDirectory(prefix="shardsched-") as folder:
        recorder = Recorder(
            url,
            Path(folder),
            namespace=namespace_name(place.namespace),
            executor="",
            clock=SYSTEM_CLOCK,
            rng=random.Random(),  # noqa: S311 - it only spreads attempts
        )
        now = SYSTEM_CLOCK.now()
        recorder.start()
        recorder.event(
            EventRow(at=now, kind=kind, job=job, executor=executor, by=who_asks(), message=message, detail=detail)
        )
        if kind == DELETED:
            recorder.forget_job(job, now)
        recorder.close(WRITE_S)
        state = recorder.state()
        return None if state.written_count else _warn(state.reason or "it took too long")


def _warn(reason: str) -> None:
    click.echo(f"shardsched: done, but the history could not be told: {one_line(reason)}", err=True)
