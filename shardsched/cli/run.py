"""``shardsched run``: one executor in this process."""

from __future__ import annotations

import importlib.util
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shardsched.cli.connection import registry_options
from shardsched.cli.label import parse_labels
from shardsched.cli.log import configure_logging
from shardsched.settings import (
    DEFAULT_GRACE_S,
    DEFAULT_SESSION_TIMEOUT_S,
    DEFAULT_SLOTS,
    ExecutorSettings,
    check_settings,
    default_executor_name,
    history_url,
    namespace_name,
    registry_url,
    state_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.cli.connection import Place
    from shardsched.executor import Executor

STOP_LIMIT_S = 10.0
"""How long a stop may take beyond its grace; a registry that does not answer must not keep a process for ever."""


@click.command()
@click.argument("modules", nargs=-1, metavar="[MODULE...]")
@click.option("--name", help="The executor's name, unique in the namespace [default: host and process id].")
@click.option("--slots", type=int, default=DEFAULT_SLOTS, show_default=True, help="Items run at once.")
@click.option(
    "--session-timeout",
    "session_timeout_s",
    type=float,
    default=DEFAULT_SESSION_TIMEOUT_S,
    show_default=True,
    help="Seconds after which others take over if this executor is silent.",
)
@click.option("--label", "labels", multiple=True, metavar="K=V", help="A label; jobs may ask for it. May be repeated.")
@click.option(
    "--grace",
    "grace_s",
    type=float,
    default=DEFAULT_GRACE_S,
    show_default=True,
    help="Seconds that items have to finish when it stops.",
)
@click.option("--state-dir", type=click.Path(path_type=Path), help="Folder of its logs and session ticket.")
@click.option("--history", metavar="URL", help="History database [SHARDSCHED_HISTORY; default: a file], or 'none'.")
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Offer metrics for Prometheus at this port.")
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="Address to offer them at.")
@click.option("--log-json", is_flag=True, help="Log as JSON, one object a line.")
@click.option("-v", "--verbose", is_flag=True, help="Log decisions too.")
@registry_options
def run(
    *,
    modules: tuple[str, ...],
    name: str | None,
    slots: int,
    session_timeout_s: float,
    labels: tuple[str, ...],
    grace_s: float,
    state_dir: Path | None,
    history: str | None,
    metrics_port: int | None,
    metrics_host: str,
    place: Place,
    log_json: bool,
    verbose: bool,
) -> None:
    """Run an executor that hosts the handlers of some modules; the built-in ones need none.

    It joins the fleet, as soon as the registry answers, runs the items that it is given, and goes on until it gets
    SIGTERM or SIGINT: then its items have --grace seconds to finish. A second signal stops them at once.
    """
    registry = registry_url(place.registry)
    settings = check_settings(
        ExecutorSettings(
            registry=registry,
            namespace=namespace_name(place.namespace),
            name=name or default_executor_name(),
            modules=modules,
            import_paths=(str(Path.cwd()),),
            slots=slots,
            session_timeout_s=session_timeout_s,
            labels=parse_labels(labels),
            grace_s=grace_s,
            state_dir=state_dir or state_folder(),
            history=history_url(history, registry),
        )
    )
    configure_logging(as_json=log_json, is_verbose=verbose)
    # Imported here: `shardsched run --help` and a wrong option need none of it.
    from shardsched.executor import Executor  # noqa: PLC0415

    executor = Executor(settings)
    if metrics_port is not None:
        _offer_metrics(executor, metrics_host, metrics_port)
    run_until_stopped(executor, grace_s)


def _offer_metrics(executor: Executor, host: str, port: int) -> None:
    if importlib.util.find_spec("prometheus_client") is None:
        raise click.ClickException("metrics need one more library: install it with pip install 'shardsched[metrics]'")
    from shardsched.metrics import serve_metrics  # noqa: PLC0415 - an extra

    serve_metrics(executor.vitals, host, port)


def run_until_stopped(executor: Executor, grace_s: float) -> None:
    """Run an executor until it ends by itself or by signals.

    Signal handlers only put into a queue, which is safe in one: an event's lock might be held by what they interrupt.
    """
    happened: queue.SimpleQueue[int | BaseException | None] = queue.SimpleQueue()
    _on_signals(_give_up)
    try:
        executor.start()
    except _GivenUpError as error:
        # Threads may have been started that nobody can end any more; the name is free for the next start at once.
        click.echo("shardsched: interrupted while joining the fleet", err=True)
        sys.stderr.flush()
        os._exit(128 + error.signal_number)
    _on_signals(lambda signum, _frame: happened.put(signum))
    _in_thread(executor.wait, happened)
    signal_count, limit_s = 0, None
    while (what := _next(happened, limit_s)) is not None:
        if isinstance(what, BaseException):
            raise what
        signal_count += 1
        if signal_count > 2:
            # Somebody insists; the warden kills what still runs when this process is gone.
            os._exit(1)
        grace = grace_s if signal_count == 1 else 0.0
        limit_s = grace + STOP_LIMIT_S
        threading.Thread(target=executor.stop, args=(grace,), name="stop", daemon=True).start()


def _next(happened: queue.SimpleQueue[int | BaseException | None], limit_s: float | None) -> int | BaseException | None:
    """Return what happens next; end the process if a stop takes longer than it may, as with a registry that is away."""
    try:
        return happened.get(timeout=limit_s)
    except queue.Empty:
        click.echo("shardsched: the stop took too long and was cut short; the warden kills what still runs", err=True)
        sys.stderr.flush()
        os._exit(1)


class _GivenUpError(BaseException):
    """Raised by a signal while the executor joins, through whatever it waits for."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


def _give_up(signum: int, _frame: object) -> None:
    raise _GivenUpError(signum)


def _on_signals(handler: Callable[[int, object], object]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def _in_thread(wait: Callable[[], object], happened: queue.SimpleQueue[int | BaseException | None]) -> None:
    """Wait for the executor's end in a thread, since the main one must be free to take signals."""

    def watch() -> None:
        try:
            wait()
        except BaseException as error:  # noqa: BLE001 - the top of a thread: handed to the main one
            happened.put(error)
        else:
            happened.put(None)

    threading.Thread(target=watch, name="wait", daemon=True).start()
