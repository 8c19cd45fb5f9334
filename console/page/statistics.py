"""How well the fleet did: from roll-ups, never by counting runs."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, request

from console import limit, statistics_view
from console.context import context
from console.label import RANKINGS
from console.part import page_or_part
from console.role import role
from console.statistics_view import RANGES, USUAL
from console.table_text import cell_text
from shardsched.errors import HistoryError
from shardsched.history.figure import Metric, Ranked, Ranking
from shardsched.sentence import sentence_of

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

    from shardsched.history.figure import Standing

blueprint = Blueprint("statistics", __name__)

_COLUMNS = ("kind", "name", "runs", "ok", "failed", "missed", "success_rate", "busy_s", "mean_s", "mean_lateness_s")
_MAX_ROWS = 10_000


@blueprint.get("/statistics")
@role("viewer")
def index() -> ResponseReturnValue:
    """Show success, durations, and who leads in failing, being slow and being busy."""
    values: dict[str, Any] = {"figures": None, "fault": ""}
    try:
        job = request.args.get("job", "").strip() or None
        values = context().lately.get(("statistics", _chosen(), _of(), job), lambda: _figures(job)) | {"fault": ""}
    except HistoryError as error:
        values["fault"] = sentence_of(error)
    values |= {"chosen": _chosen(), "of": _of(), "rankings_text": RANKINGS}
    return page_or_part("statistics/index.html", "statistics/_part.html", values, lambda: {"ranges": RANGES})


@blueprint.get("/statistics/export.csv")
@limit.limiter.limit(limit.EXPORTS, key_func=limit.who)
@role("viewer")
def export() -> ResponseReturnValue:
    """Give the figures of every job and executor as CSV, safe for spreadsheets."""
    since = statistics_view.summary(RANGES[_chosen()].span).since
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for of in Ranked:
        rows: dict[str, Standing] = {}
        for by in (Ranking.BUSY, Ranking.FAILING):
            rows |= {one.name: one for one in statistics_view.ranking(by, of, _MAX_ROWS, since)}
        for one in sorted(rows.values(), key=lambda each: each.name):
            writer.writerow([cell_text(str(cell)) for cell in _cells(of, one)])
    headers = {"Content-Disposition": f'attachment; filename="statistics-{_chosen()}.csv"'}
    return Response(text.getvalue(), mimetype="text/csv", headers=headers)


def _figures(job: str | None) -> dict[str, Any]:
    wanted = RANGES[_chosen()]
    found = statistics_view.summary(wanted.span, job)
    good, bad = (statistics_view.points(metric, wanted, job) for metric in (Metric.RUNS, Metric.FAILED))
    fast, slow = (statistics_view.points(metric, wanted, job) for metric in (Metric.P50_S, Metric.P95_S))
    return {
        "figures": found.changes(),
        "counts": sorted(found.now.counts.items(), key=lambda pair: (-pair[1], pair[0])),
        "run_points": list(zip(good, bad, strict=True)),
        "duration_points": list(zip(fast, slow, strict=True)),
        "rankings": {} if job else statistics_view.rankings(_of(), found.since),
        "job": job,
    }


def _chosen() -> str:
    wanted = request.args.get("range", USUAL)
    return wanted if wanted in RANGES else USUAL


def _of() -> Ranked:
    return Ranked.EXECUTORS if request.args.get("of") == Ranked.EXECUTORS else Ranked.JOBS


def _cells(of: Ranked, one: Standing) -> list[Any]:
    total = one.total
    figures = (total.success_rate, total.busy_s, total.mean_s, total.mean_lateness_s)
    counts = (total.runs, total.counts.get("ok", 0), total.failed, total.counts.get("missed", 0))
    return [of.value, one.name, *counts, *("" if figure is None else round(figure, 6) for figure in figures)]
