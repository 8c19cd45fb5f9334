"""Acting on many jobs from the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import redirect, render_template, request, url_for
from werkzeug.exceptions import BadRequest

from console import job_action, job_bulk, job_view
from console.context import context
from console.job_list import Wanted
from console.page.job import blueprint
from console.page_number import MAX_ID
from console.role import role
from console.text import gettext as _
from console.text import ngettext as _n
from console.view import toast

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

_ASKING = frozenset({"trigger", "stop", "delete"})
_NAMES_SHOWN = 200


@blueprint.post("/jobs:bulk")
@role("operator")
def bulk() -> ResponseReturnValue:
    """Do something to the chosen jobs, or to all that match; ask first where it cannot be undone."""
    action = request.form.get("action", "")
    if action not in job_bulk.ACTIONS:
        raise BadRequest
    try:
        names = _names()
    except job_bulk.CountChangedError as error:
        toast(_("%(count)s jobs match by now; look again.", count=error.count), kind="failed")
        return redirect(_list())
    if not names:
        toast(_("Select jobs first"), kind="warning")
        return redirect(_list())
    if action in _ASKING and (action == "delete" or not request.form.get("agreed")):
        return _ask(action, names)
    return _done(action, names)


@blueprint.post("/jobs:bulk-delete")
@role("admin", proof=True)
def bulk_delete() -> ResponseReturnValue:
    """Delete the chosen jobs, if their number was typed."""
    names = request.form.getlist("names")
    if request.form.get("confirm", "").strip() != str(len(names)):
        return _ask("delete", names, fault=_("Type how many jobs are to be deleted.")), 422
    return _done("delete", names)


@blueprint.post(f"/jobs:bulk/<int(max={MAX_ID}):entry_id>/undo")
@role("operator")
def bulk_undo(entry_id: int) -> ResponseReturnValue:
    """Resume what a bulk action has paused just now."""
    names = job_bulk.undoable(entry_id)
    if not names:
        toast(_("There is nothing to undo."), kind="warning")
        return redirect(url_for("job.index"))
    return _done("resume", names)


def _names() -> list[str]:
    form = request.form
    if not form.get("all"):
        return list(dict.fromkeys(form.getlist("names")))
    expected = form.get("expect_count", "")
    return job_bulk.matching(Wanted.of(form), int(expected) if expected.isdigit() and len(expected) < 7 else -1)


def _list() -> str:
    query: dict[str, Any] = Wanted.of(request.form).as_query()
    return url_for("job.index", **query)


def _ask(action: str, names: list[str], fault: str = "") -> str:
    wanted = Wanted.of(request.form)
    for name in names:
        context().fleet.attend(name)
    running = [
        row.name
        for row in context().jobs.rows(context().fleet.sight(fresh=True))
        if row.name in set(names) and any(item.marker is not None for item in row.status.items)
    ]
    return render_template(
        "job/bulk_ask.html",
        action=action,
        names=names,
        shown=names[:_NAMES_SHOWN],
        running=running,
        wanted=wanted,
        fault=fault,
        back=_list(),
        address=url_for("job.bulk_delete" if action == "delete" else "job.bulk"),
        title=_title(action, len(names)),
        view=job_view,
    )


def _title(action: str, count: int) -> str:
    return {
        "trigger": _n("Run %(num)s job now?", "Run %(num)s jobs now?", count),
        "stop": _n("Stop %(num)s job?", "Stop %(num)s jobs?", count),
        "delete": _n("Delete %(num)s job?", "Delete %(num)s jobs?", count),
    }[action]


def _done(action: str, names: list[str]) -> ResponseReturnValue:
    outcome = job_bulk.act(action, names)
    job_action.refresh()
    if outcome.failed:
        return render_template(
            "job/bulk_done.html", action=action, outcome=outcome, back=_list(), text=_text(action, outcome)
        )
    undo = url_for("job.bulk_undo", entry_id=outcome.audit_id) if action == "pause" and outcome.changed else ""
    toast(_text(action, outcome), undo=undo)
    return redirect(_list())


def _text(action: str, outcome: job_bulk.Outcome) -> str:
    count = len([one for one in outcome.results if one.is_done])
    return {
        "pause": _n("%(num)s job is paused.", "%(num)s jobs are paused.", count),
        "resume": _n("%(num)s job fires again.", "%(num)s jobs fire again.", count),
        "trigger": _n("%(num)s job is triggered.", "%(num)s jobs are triggered.", count),
        "stop": _n("%(num)s job is stopped.", "%(num)s jobs are stopped.", count),
        "delete": _n("%(num)s job is deleted.", "%(num)s jobs are deleted.", count),
    }[action]
