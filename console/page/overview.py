"""The overview: what runs, what needs attention, what comes next, and who changed what."""

from __future__ import annotations

import heapq
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Blueprint, jsonify, request

from console.context import context
from console.map_view import tiles
from console.need import needs
from console.need_text import need_words
from console.once import once
from console.part import page_or_part
from console.role import role
from shardsched.errors import HistoryUnavailableError
from shardsched.history.figure import Metric
from shardsched.people.audit import AuditEntry, AuditFilter

if TYPE_CHECKING:
    from datetime import datetime

    from flask.typing import ResponseReturnValue

    from console.need import Need
    from shardsched.admin.live_value import Picture
    from shardsched.history.figure import Sum

blueprint = Blueprint("overview", __name__)

SHOWN_NEEDS = 12
SHOWN_FIRES = 10
SHOWN_CHANGES = 10
_DAY = timedelta(days=1)


class Range(NamedTuple):
    """How much of the past a chart shows."""

    span: timedelta
    """From now."""
    step: timedelta
    """What each point stands for."""


RANGES = {
    "1h": Range(timedelta(hours=1), timedelta(minutes=1)),
    "24h": Range(_DAY, timedelta(hours=1)),
    "7d": Range(7 * _DAY, timedelta(hours=1)),
}


@blueprint.get("/overview")
@role("viewer")
def index() -> ResponseReturnValue:
    """Show it."""
    picture = context().fleet.sight().picture
    values: dict[str, Any] = {"tiles": None, "words": need_words}
    if picture is not None and picture.at is not None:
        found = _needs(picture)
        values |= {
            "tiles": tiles(picture),
            "needs": found[:SHOWN_NEEDS],
            "more_needs": max(len(found) - SHOWN_NEEDS, 0),
            "fires": next_fires(picture),
        }
    values |= _past()
    choices = {"ranges": RANGES, "wanted": _range_name()}
    return page_or_part("overview/index.html", "overview/_part.html", values, lambda: choices)


def _range_name() -> str:
    wanted = request.args.get("range", "")
    return wanted if wanted in RANGES else next(iter(RANGES))


@once
def _needs(picture: Picture) -> list[Need]:
    return needs(picture, picture.at) if picture.at else []


@once
def next_fires(picture: Picture) -> list[tuple[datetime, str]]:
    """Return the next fires of all jobs, and the jobs."""
    coming = ((job.status.next_fire, name) for name, job in picture.jobs.items() if job.status.next_fire is not None)
    return heapq.nsmallest(SHOWN_FIRES, coming)


def _past() -> dict[str, Any]:
    """Return what the history database says; it may be away, and the rest is shown all the same."""
    parts = context()
    try:
        day: Sum | None = parts.lately.get("day", lambda: parts.history.summary(since=parts.clock.now() - _DAY))
        changes = _changes()
    except HistoryUnavailableError:
        return {"day": None, "changes": [], "is_history_away": True}
    return {"day": day, "changes": changes, "is_history_away": False}


def _changes() -> list[AuditEntry]:
    """Return the last changes of jobs and executors by people; those of users are for admins only."""
    audit = context().people.audit
    return list(audit.page(AuditFilter(kinds=frozenset({"job", "executor"})), limit=SHOWN_CHANGES))


@blueprint.get("/overview/runs")
@role("viewer")
def runs() -> ResponseReturnValue:
    """Give the runs over time for the chart, as columns: moments, those that succeeded, those that failed.

    The present step is left out, as it is not over.
    """
    wanted, now, history = RANGES[_range_name()], context().clock.now(), context().history
    end = now - timedelta(seconds=now.timestamp() % wanted.step.total_seconds())
    columns = [history.series(metric, wanted.step, end - wanted.span, end) for metric in (Metric.OK, Metric.FAILED)]
    minutes = wanted.step / timedelta(minutes=1)
    moments = [int(point.at.timestamp()) for point in columns[0]]
    return jsonify([moments, *([round((point.value or 0) / minutes, 3) for point in column] for column in columns)])
