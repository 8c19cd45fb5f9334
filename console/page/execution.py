"""Runs: all of them by filters, one with its attempts and its output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request, url_for

from console import execution_action, run_text
from console.context import context
from console.form import local_address
from console.label import CAUSES, OUTCOMES
from console.log_view import log_bytes, log_hits, log_size, log_view
from console.part import page_or_part
from console.role import role
from console.run_list import FILTERS, list_runs, local_time, wanted_runs
from console.text import gettext as _
from console.text import ngettext as _n
from console.view import PAGE_SIZE, toast
from shardsched.core.item import format_items, parse_items
from shardsched.errors import HistoryError
from shardsched.sentence import sentence_of

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

    from shardsched.admin.command import TriggerReceipt
    from shardsched.history.row import RunRow

blueprint = Blueprint("execution", __name__)
_MAX_OFFSET = 2**40


@blueprint.get("/executions")
@role("viewer")
def index() -> ResponseReturnValue:
    """List runs, the newest first."""
    args = request.args
    found, fault = None, ""
    try:
        after, top = args.get("after") or None, local_time(args.get("top", ""))
        found = list_runs(wanted_runs(args), after=after, top=top, limit=PAGE_SIZE)
    except HistoryError as error:
        fault = sentence_of(error)
    values = {
        "found": found,
        "fault": fault,
        "is_filtered": any(args.get(name) for name in FILTERS),
        "is_first": "after" not in args,
    }
    choices = {"outcomes": OUTCOMES, "causes": CAUSES}
    return page_or_part("execution/index.html", "execution/_part.html", values, lambda: choices)


@blueprint.get("/executions/<run_id>")
@role("viewer")
def show(run_id: str) -> ResponseReturnValue:
    """Show one run with its attempts and its output."""
    run = execution_action.find(run_id)
    attempts = context().history.attempts(run.job, run.item, run.fire)
    values = {
        "run": run,
        "bars": run_text.timeline(attempts, context().clock.now()),
        "why_not_stop": _why_not_stop(run),
    }
    return page_or_part("execution/show.html", "execution/_show.html", values, lambda: _output(run))


def _output(run: RunRow) -> dict[str, Any]:
    query = request.args.get("q", "")[:200]
    hits = log_hits(run, query) if query else None
    return {"log": log_view(run, line=_number("line"), before=_number("before")), "query": query, "hits": hits}


@blueprint.get("/executions/<run_id>/log")
@role("viewer")
def log(run_id: str) -> ResponseReturnValue:
    """Give a part of the output to the script of the page."""
    run = execution_action.find(run_id)
    return jsonify(log_view(run, line=_number("line"), before=_number("before"), after=_number("after")).as_json())


@blueprint.get("/executions/<run_id>/log/hits")
@role("viewer")
def hits(run_id: str) -> ResponseReturnValue:
    """Show the lines of the output that hold a text."""
    query = request.args.get("q", "")[:200]
    run = execution_action.find(run_id)
    found = log_hits(run, query) if query else None
    return render_template("execution/_hits.html", run=run, query=query, hits=found)


@blueprint.get("/executions/<run_id>/log/raw")
@role("viewer")
def raw(run_id: str) -> ResponseReturnValue:
    """Give the output as it is, as a file."""
    run = execution_action.find(run_id)
    _source, size = log_size(run)
    response = Response(log_bytes(run, 0, size), mimetype="text/plain")
    response.headers["Content-Disposition"] = 'attachment; filename="output.log"'
    return response


@blueprint.post("/executions/<run_id>/rerun")
@role("operator")
def rerun(run_id: str) -> ResponseReturnValue:
    """Run its item, or others of its job, once more."""
    run = execution_action.find(run_id)
    given = request.form.get("items", "").replace(" ", "")
    items = parse_items(given) if given else None
    receipt = execution_action.rerun(run, items=items, has_param=bool(request.form.get("has_param")))
    toast(_receipt_text(receipt))
    return redirect(url_for("execution.index", job=run.job))


@blueprint.post("/executions/rerun")
@role("operator")
def rerun_some() -> ResponseReturnValue:
    """Run the items of several runs once more, each job's together."""
    runs = [execution_action.find(run_id) for run_id in request.form.getlist("run")[:PAGE_SIZE]]
    by_job: dict[str, list[RunRow]] = {}
    for run in runs:
        by_job.setdefault(run.job, []).append(run)
    for mine in by_job.values():
        toast(_receipt_text(execution_action.rerun(mine[0], items={run.item for run in mine})))
    if not runs:
        toast(_("Select runs first."), kind="warning")
    return redirect(local_address(request.form.get("next")) if runs else url_for("execution.index"))


@blueprint.post("/executions/<run_id>/stop")
@role("operator")
def stop(run_id: str) -> ResponseReturnValue:
    """Stop the running items of its job."""
    run = execution_action.find(run_id)
    receipt = execution_action.stop(run)
    count = len(receipt.running)
    toast(_n("%(num)s item is being stopped.", "%(num)s items are being stopped.", count))
    return redirect(url_for("execution.show", run_id=run_id))


def _receipt_text(receipt: TriggerReceipt) -> str:
    where = ", ".join(f"{format_items(items)} → {name}" for name, items in receipt.owners.items())
    text = _("%(job)s runs again: %(where)s.", job=receipt.job, where=where)
    if receipt.waiting:
        text += " " + _("Items %(items)s wait for an owner.", items=format_items(receipt.waiting))
    return text


def _why_not_stop(run: RunRow) -> str:
    return _("It is over.") if run.outcome is not None else ""


def _number(name: str) -> int | None:
    text = request.args.get(name, "")
    return min(int(text), _MAX_OFFSET) if text.isascii() and text.isdigit() and len(text) < 16 else None
