"""Executors as pages show them. This module decides; it does not act."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from console import run_text
from console.text import gettext as _
from shardsched.core.item import format_items
from shardsched.core.name import name_fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.fleet import Sight
    from console.job_list import Row
    from shardsched.admin.executor_status import ExecutorStatus
    from shardsched.admin.status import FleetStatus, ItemStatus
    from shardsched.core.executor import LoadReport

STATES = ("live", "drained", "unfit", "unreadable", "gone")
ACTIONS = ("drain", "undrain", "failover", "forget")


class Owned(NamedTuple):
    """What an executor owns of one job."""

    job: str
    """The job."""
    numbers: tuple[int, ...]
    """Its items."""
    of: int
    """How many the job has."""

    @property
    def items(self) -> str:
        """Its items as short text."""
        return format_items(self.numbers)

    @property
    def mine(self) -> int:
        """How many."""
        return len(self.numbers)


class Running(NamedTuple):
    """An item that an executor runs."""

    job: str
    """The job."""
    item: ItemStatus
    """The item."""


class Series(NamedTuple):
    """One figure of an executor over the last hour."""

    key: str
    """Which."""
    title: str
    """What it is called."""
    unit: str
    """Of what."""
    least: float
    """What the axis reaches at least, so that a little is not drawn as much."""
    values: list[float]
    """Its values."""


def numbers(sight: Sight) -> dict[str, int]:
    """Return the numbers of executors, from 1 on, as all pages show them."""
    listed = sight.status.executors if sight.status else ()
    usual = {one.name: number for number, one in enumerate(listed, 1)}
    return usual | {one.status.name: one.number for one in (sight.picture.executors if sight.picture else ())}


def shown(executors: Sequence[ExecutorStatus], text: str, state: str) -> list[ExecutorStatus]:
    """Return the executors that filters take: by name, host or label, and by state."""
    wanted = text.casefold()
    return [
        one for one in executors if (not state or one.state == state) and (not wanted or wanted in _search_text(one))
    ]


def fair_share(status: FleetStatus) -> float:
    """Return how many items each executor that may take some would have if all had alike."""
    able = [one for one in status.executors if one.state == "live"]
    return sum(one.items for one in able) / len(able) if able else 0.0


def owned(status: FleetStatus, name: str, most: int | None = None) -> tuple[list[Owned], int]:
    """Return what an executor owns by job, of so many jobs at most, and of how many jobs in all it owns something."""
    jobs = [job for job in status.jobs if job.owners.get(name)]
    return [Owned(job.entry.name, job.owners[name], len(job.items)) for job in jobs[:most]], len(jobs)


def running(rows: Sequence[Row], name: str) -> list[Running]:
    """Return what an executor runs, the longest first."""
    found = [
        Running(row.name, item)
        for row in rows
        for item in row.running
        if item.marker is not None and item.marker.executor == name
    ]
    return sorted(found, key=_began)


def reason_text(one: ExecutorStatus) -> str:
    """Return why an executor takes no items, to be said; empty where nothing keeps it from that."""
    mark = one.drain
    if mark is None:
        return one.reason or ""
    who = _("Drained by %(name)s", name=mark.by) if mark.by else _("Drained")
    how = _("running items stopped too") if mark.now else ""
    return " · ".join(filter(None, (who, how, mark.reason)))


def why_not(one: ExecutorStatus, action: str) -> str:
    """Return why an action would make no sense, empty where it would."""
    is_gone, is_drained = one.state == "gone", one.drain is not None
    if action != "forget" and name_fault(one.name):
        return _("No executor can have that name; it was made by hand.")
    if action == "drain" and is_drained:
        return _("It is drained already.")
    if action == "failover" and one.drain is not None and one.drain.now:
        return _("It is failed over already.")
    if action == "failover" and is_gone:
        return _("It does not live; its items are elsewhere.")
    if action == "undrain" and not is_drained:
        return _("It is not drained.")
    if action == "forget" and not is_gone and one.state != "unreadable":
        return _("It lives; only what is left of one that is gone can be forgotten.")
    return ""


class LastHour:
    """What an executor reported over the last hour; drawn when somebody reads it.

    Args:
        reports: Its reports, the oldest first.
    """

    def __init__(self, reports: Sequence[LoadReport]) -> None:
        self._reports = reports

    @property
    def shown_key(self) -> tuple[object, ...]:
        """What tells two of one executor apart: reports never change."""
        return (len(self._reports), *(report.at for report in (*self._reports[:1], *self._reports[-1:])))

    @cached_property
    def times(self) -> list[int]:
        """Times in seconds since 1970."""
        return [round(report.at.timestamp()) for report in self._reports]

    @cached_property
    def figures(self) -> list[Series]:
        """The figures at those times."""
        return _figures(self._reports)


def _figures(reports: Sequence[LoadReport]) -> list[Series]:
    return [
        Series("cpu", _("Processor"), "%", 5.0, [round(report.cpu * 100, 1) for report in reports]),
        Series("memory", _("Memory"), "MB", 10.0, [report.memory_mb for report in reports]),
        Series("running", _("Items running"), "", 2.0, [float(report.running) for report in reports]),
        Series("queued", _("Items waiting for a slot"), "", 2.0, [float(report.queued) for report in reports]),
        Series("drift", _("Clock drift"), "s", 0.1, [report.drift_s for report in reports]),
    ]


def figure_text(figure: Series, value: float) -> str:
    """Return a value of a figure with its unit."""
    if figure.unit == "%":
        return run_text.percent_text(value / 100)
    if figure.unit == "MB":
        return run_text.bytes_text(value * 1e6)
    return run_text.offset_text(value) if figure.unit == "s" else run_text.number_text(value)


def at(seconds: int) -> datetime:
    """Return a time from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def chart(times: Sequence[float], *lines: Sequence[float | None], **options: Any) -> dict[str, Any]:
    """Return what the script draws a chart of: lines over time."""
    return {"times": list(times), "lines": [list(line) for line in lines], **options}


def _began(one: Running) -> float:
    return one.item.marker.started_at.timestamp() if one.item.marker else 0.0


def _search_text(one: ExecutorStatus) -> str:
    record = one.record
    parts = [one.name]
    if record is not None:
        parts += [record.host, record.ip, *(f"{name}={value}" for name, value in record.labels.items())]
    return "\n".join(parts).casefold()
