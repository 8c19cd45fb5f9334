"""``shardsched history``: the runs of a fleet, and what happened to it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from shardsched.cli.connection import registry_options
from shardsched.cli.output import json_option, write_json, write_line, write_table
from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import NotFoundError, SettingsError
from shardsched.settings import NO_HISTORY, history_url, namespace_name, registry_url

if TYPE_CHECKING:
    from shardsched.cli.connection import Place
    from shardsched.history.query import History
    from shardsched.history.row import EventRow, RunRow

MAX_ROWS = 1_000
"""Most rows of one answer."""


class _Time(click.ParamType[datetime]):
    """An ISO 8601 time with an offset."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return an aware time."""
        try:
            at = datetime.fromisoformat(value) if isinstance(value, str) else value
        except ValueError:
            return self.fail(f"{value!r} is not an ISO 8601 time; write 2026-01-31T08:00+00:00", param, ctx)
        if not isinstance(at, datetime) or at.tzinfo is None:
            return self.fail(f"{value!r} has no offset; write 2026-01-31T08:00+00:00", param, ctx)
        return at


@click.command()
@click.option("--job", help="Only runs of this job.")
@click.option("--item", type=int, help="Only this item of it.")
@click.option("--executor", help="Only runs on this executor.")
@click.option("--outcome", multiple=True, help="Only runs with this outcome, or 'running'. May be repeated.")
@click.option("--cause", multiple=True, help="Only runs with this cause. May be repeated.")
@click.option("--since", type=_Time(), metavar="TIME", help="Only runs claimed then or later.")
@click.option("--until", type=_Time(), metavar="TIME", help="Only runs claimed before.")
@click.option("--run", "run_id", metavar="ID", help="All of one run, with the end of its output.")
@click.option("--events", is_flag=True, help="What happened to the fleet, in place of runs.")
@click.option("--summary", is_flag=True, help="Counts and durations since --since [default: a day ago].")
@click.option("-n", "--limit", type=click.IntRange(1, MAX_ROWS), default=50, show_default=True, help="How many.")
@click.option("--after", metavar="PLACE", help="Go on behind an earlier answer's 'next'.")
@click.option("--history", metavar="URL", help="History database [SHARDSCHED_HISTORY; default: a file].")
@registry_options
@json_option
def history(place: Place, *, as_json: bool, run_id: str | None, events: bool, summary: bool, **options: Any) -> None:
    """Show the last runs, the newest first; or one run whole, or events."""
    with_history = _open(place, options.pop("history"))
    try:
        if run_id is not None:
            _show_run(with_history, run_id, as_json=as_json)
        elif summary:
            _show_summary(with_history, options, as_json=as_json)
        elif events:
            _show_events(with_history, options, as_json=as_json)
        else:
            _show_runs(with_history, options, as_json=as_json)
    finally:
        with_history.close()


def _open(place: Place, option: str | None) -> History:
    # Imported here, so that commands that need no database do not wait for its client library.
    from shardsched.history.query import History  # noqa: PLC0415

    url = history_url(option, registry_url(place.registry))
    if url == NO_HISTORY:
        raise SettingsError("there is no history: it is switched off; give --history or SHARDSCHED_HISTORY")
    return History(url, namespace=namespace_name(place.namespace))


def _show_runs(source: History, options: dict[str, Any], *, as_json: bool) -> None:
    from shardsched.history.filter import RunFilter  # noqa: PLC0415

    wanted = RunFilter(
        job=options["job"],
        item=options["item"],
        executor=options["executor"],
        outcomes=frozenset(options["outcome"]),
        causes=frozenset(options["cause"]),
        since=options["since"],
        until=options["until"],
    )
    page = source.runs(wanted, after=options["after"], limit=options["limit"])
    if as_json:
        write_json({"runs": [_run_document(run) for run in page.rows], "next": page.next})
    elif page.rows:
        write_table(
            ("CLAIMED", "JOB", "ITEM", "CAUSE", "TRY", "EXECUTOR", "OUTCOME", "SECONDS", "MESSAGE"),
            [_run_row(run) for run in page.rows],
        )
    else:
        write_line(f"no run in {source.place}")


def _show_events(source: History, options: dict[str, Any], *, as_json: bool) -> None:
    from shardsched.history.filter import EventFilter  # noqa: PLC0415

    wanted = EventFilter(
        job=options["job"],
        item=options["item"],
        executor=options["executor"],
        since=options["since"],
        until=options["until"],
    )
    page = source.events(wanted, after=options["after"], limit=options["limit"])
    if as_json:
        write_json({"events": [_event_document(event) for event in page.rows], "next": page.next})
    elif page.rows:
        rows = [
            (_moment(event.at), event.kind, event.executor, event.job, _item(event.item), event.by, event.message)
            for event in page.rows
        ]
        write_table(("AT", "EVENT", "EXECUTOR", "JOB", "ITEM", "BY", "MESSAGE"), rows)
    else:
        write_line(f"no event in {source.place}")


def _show_summary(source: History, options: dict[str, Any], *, as_json: bool) -> None:
    since = options["since"] or SYSTEM_CLOCK.now() - timedelta(days=1)
    total = source.summary(since=since, job=options["job"])
    document = {
        "since": since.isoformat(),
        "outcomes": total.counts,
        "success_rate": total.success_rate,
        **{f"p{percent}_s": total.percentile(percent / 100) for percent in (50, 95, 99)},
        "mean_lateness_s": total.mean_lateness_s,
    }
    if as_json:
        write_json(document)
        return
    for name, value in document.items():
        write_line(f"{name:<16} {'-' if value in (None, {}) else value}")


def _show_run(source: History, run_id: str, *, as_json: bool) -> None:
    run = source.run(run_id)
    if run is None:
        raise NotFoundError(f"there is no run {run_id!r} in {source.place}; see 'shardsched history'")
    document = _run_document(run) | {"traceback": run.traceback, "log_tail": run.log_tail}
    if as_json:
        write_json(document)
        return
    for name, value in document.items():
        if name not in {"traceback", "log_tail"} and value not in (None, "", {}):
            write_line(f"{name:<14} {value}")
    for title, text in (("traceback", run.traceback), ("output", run.log_tail)):
        if text:
            write_line("")
            write_line(f"{title}:")
            for line in text.splitlines():
                write_line(line)


def _moment(at: datetime | None) -> str:
    return "" if at is None else at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _item(item: int | None) -> str:
    return "" if item is None else str(item)


def _run_row(run: RunRow) -> tuple[str, ...]:
    seconds = f"{run.duration_s:.1f}" if run.ended_at else ""
    return (
        _moment(run.queued_at),
        run.job,
        str(run.item),
        run.cause,
        str(run.attempt),
        run.executor,
        run.outcome or "running",
        seconds,
        run.message,
    )


def _run_document(run: RunRow) -> dict[str, Any]:
    fields = {name: getattr(run, name) for name in run.__dataclass_fields__}
    for name in ("traceback", "log_tail"):
        del fields[name]
    fields["stats"] = dict(run.stats)
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}


def _event_document(event: EventRow) -> dict[str, Any]:
    fields = {name: getattr(event, name) for name in event.__dataclass_fields__}
    return fields | {"at": event.at.isoformat(), "detail": dict(event.detail)}
