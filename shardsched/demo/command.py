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
    from shardsched.demo.show import DemoSettings

MIN_SECONDS = 20
"""A fire, a death and a take-over need about that long."""


@click.command()
@click.option("--seconds", type=click.IntRange(MIN_SECONDS, 3600), default=60, show_default=True, help="How long.")
@click.option("--registry", help="URL of a registry; a fresh SQLite file if not given.")
@click.option("--keep", is_flag=True, help="Keep the folder with records and logs.")
@click.option("--console/--no-console", "has_console", default=True, show_default=True, help="Serve the console too.")
@click.option("--no-color", is_flag=True, help="Without colours.")
def demo(*, seconds: int, registry: str | None, keep: bool, has_console: bool, no_color: bool) -> None:
    """Show three executors crawl a site while one of them is killed, and check what they did.

    The web console shows the same; it ends with the demo.
    """
    missing = [name for name in ("examples", "httpx", "selectolax") if importlib.util.find_spec(name) is None]
    if missing:
        message = f"the demo needs {', '.join(missing)}: install it with pip install 'shardsched[examples]'"
        raise click.ClickException(message)
    folder = Path(tempfile.mkdtemp(prefix="shardsched-demo-"))
    is_of_use = keep
    try:
        has_colour = not no_color and "NO_COLOR" not in os.environ
        settings = _settings(float(seconds), registry, folder, has_console=has_console)
        verdict = _perform(settings, Screen(SYSTEM_CLOCK, has_colour=has_colour), is_shared=registry is not None)
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
    click.echo("\n".join(_ways_on(settings if keep and registry is None else None)))


def _settings(seconds: float, registry: str | None, folder: Path, *, has_console: bool) -> DemoSettings:
    from shardsched.demo.show import DemoSettings  # noqa: PLC0415 - the registry's libraries load only when needed

    return DemoSettings(
        seconds=seconds,
        registry=registry or f"sqlite:///{folder / 'fleet.db'}",
        namespace=f"demo-{uuid.uuid4().hex[:8]}",
        folder=folder,
        history=f"sqlite:///{folder / 'fleet.history.db'}",
        has_console=has_console,
    )


def _perform(settings: DemoSettings, screen: Screen, *, is_shared: bool) -> Verdict:
    from shardsched.demo.fleet import DemoFleet  # noqa: PLC0415 - the registry's libraries load only when needed
    from shardsched.demo.show import Demo  # noqa: PLC0415 - likewise

    with _ended_by_interrupt(), DemoFleet(settings.registry, settings.namespace, SYSTEM_CLOCK) as fleet:
        try:
            return Demo(settings, fleet, screen, SYSTEM_CLOCK).run()
        finally:
            if is_shared:
                fleet.forget()


def _ways_on(kept: DemoSettings | None) -> list[str]:
    """Return how to go on, with a fleet of one's own or with what was kept."""
    program = _program()
    lines = [
        f"go on      {program} run examples.quickstart   an executor; start as many as you like",
        f"           {program} console                   what runs where and why, in the browser",
    ]
    if kept is not None:
        lines.append(f"           {program} console --registry {kept.registry} --namespace {kept.namespace}")
    return lines


def _program() -> str:
    """Return what to type for this very program."""
    beside = Path(sys.executable).with_name("shardsched")
    if shutil.which("shardsched") or not beside.exists():
        return "shardsched"
    here = Path.cwd()
    return str(beside.relative_to(here)) if beside.is_relative_to(here) else str(beside)


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
