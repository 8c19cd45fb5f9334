"""The command ``shardsched demo``."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shardsched.clock import SYSTEM_CLOCK
from shardsched.demo.screen import Screen
from shardsched.errors import ShardschedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from shardsched.demo.audit import Verdict

MIN_SECONDS = 20
"""A fire, a death and a take-over need about that long."""


@click.command()
@click.option("--seconds", type=click.IntRange(MIN_SECONDS, 3600), default=60, show_default=True, help="How long.")
@click.option("--registry", help="URL of a registry; a fresh SQLite file if not given.")
@click.option("--keep", is_flag=True, help="Keep the folder with records and logs.")
@click.option("--no-color", is_flag=True, help="Without colours.")
def demo(seconds: int, registry: str | None, keep: bool, no_color: bool) -> None:
    """Show three executors crawl a site while one of them is killed, and check what they did."""
    missing = [name for name in ("examples", "httpx", "selectolax") if importlib.util.find_spec(name) is None]
    if missing:
        message = f"the demo needs {', '.join(missing)}: install it with pip install 'shardsched[examples]'"
        raise click.ClickException(message)
    folder = Path(tempfile.mkdtemp(prefix="shardsched-demo-"))
    is_of_use = keep
    try:
        has_colour = not no_color and "NO_COLOR" not in os.environ
        verdict = _perform(float(seconds), registry, folder, has_colour=has_colour)
        is_of_use = keep or bool(verdict.faults)
    except (ShardschedError, OSError):
        is_of_use = keep or any(folder.iterdir())
        raise
    finally:
        if is_of_use:
            click.echo(f"records    {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if verdict.faults:
        sys.exit(1)


def _perform(seconds: float, registry: str | None, folder: Path, *, has_colour: bool) -> Verdict:
    from shardsched.demo.fleet import DemoFleet  # noqa: PLC0415 - the registry's libraries load only when needed
    from shardsched.demo.show import Demo, DemoSettings  # noqa: PLC0415 - likewise

    url = registry or f"sqlite:///{folder / 'fleet.db'}"
    settings = DemoSettings(seconds=seconds, registry=url, namespace=f"demo-{uuid.uuid4().hex[:8]}", folder=folder)
    with _ended_by_interrupt(), DemoFleet(settings.registry, settings.namespace, SYSTEM_CLOCK) as fleet:
        try:
            return Demo(settings, fleet, Screen(SYSTEM_CLOCK, has_colour=has_colour), SYSTEM_CLOCK).run()
        finally:
            if registry is not None:
                fleet.forget()


@contextlib.contextmanager
def _ended_by_interrupt() -> Iterator[None]:
    """Treat a plain request to end like Ctrl-C, so that the children are ended too."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
