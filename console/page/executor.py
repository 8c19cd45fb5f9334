"""Executors: all of them, one with its last hour, and taking items from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, redirect, request, url_for

from console import executor_action, executor_view
from console.context import context
from console.executor_menu import menu
from console.part import page_or_part
from console.role import role
from console.text import gettext as _
from console.view import PAGE_SIZE, toast
from shardsched.errors import ConfigurationError, HistoryError, RegistryUnavailableError
from shardsched.history.filter import EventFilter
from shardsched.sentence import Sentence, sentence_of

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("executor", __name__)

SHOWN_JOBS = 100
"""Of which it owns items, on its page."""


@blueprint.get("/executors")
@role("viewer")
def index() -> ResponseReturnValue:
    """List executors."""
    sight = context().fleet.sight()
    status = sight.status
    text, state = request.args.get("q", "").strip(), request.args.get("state", "")
    values = {
        "is_seen": status is not None,
        "shown": executor_view.shown(status.executors, text, state) if status else [],
        "numbers": executor_view.numbers(sight),
        "fair_share": executor_view.fair_share(status) if status else 0.0,
        "view": executor_view,
        "menu": menu,
        "is_filtered": bool(text or state),
    }
    return page_or_part("executor/index.html", "executor/_part.html", values)


@blueprint.get("/executors/<name>")
@role("viewer")
def show(name: str) -> ResponseReturnValue:
    """Show one executor: what it has, what it runs, how its last hour was, what happened to it."""
    one = executor_action.find(name)
    sight = context().fleet.sight()
    status = sight.status
    if status is None:
        raise RegistryUnavailableError(Sentence("nothing has been seen of the fleet yet"))
    events, fault = None, ""
    try:
        events = context().history.events(
            EventFilter(executor=name), after=request.args.get("after") or None, limit=PAGE_SIZE
        )
    except HistoryError as error:
        fault = sentence_of(error)
    owned, owned_count = executor_view.owned(status, name, SHOWN_JOBS)
    values = {
        "one": one,
        "number": executor_view.numbers(sight).get(name, 1),
        "owned": owned,
        "owned_count": owned_count,
        "running": executor_view.running(context().jobs.rows(sight), name),
        "fair_share": executor_view.fair_share(status),
        "hour": executor_view.LastHour(context().loads.reports(name)),
        "loads_since": context().loads.since,
        "events": events,
        "fault": fault,
        "view": executor_view,
        "menu": menu,
    }
    return page_or_part("executor/show.html", "executor/_show.html", values)


@blueprint.post("/executors/<name>/drain")
@role("operator")
def drain(name: str) -> ResponseReturnValue:
    """Take its items away; what runs finishes."""
    is_changed = executor_action.drain(name, reason=request.form.get("reason", "").strip())
    text = _("%(name)s is drained: its items go to others, what runs there finishes.", name=name)
    toast(
        text if is_changed else _("It was drained already."),
        undo=url_for("executor.undrain", name=name) if is_changed else "",
    )
    return _back(name)


@blueprint.post("/executors/<name>/failover")
@role("operator")
def failover(name: str) -> ResponseReturnValue:
    """Take its items away at once: what runs is stopped and run elsewhere."""
    executor_action.drain(name, now=True, reason=request.form.get("reason", "").strip())
    toast(_("%(name)s is failed over: what ran there is stopped and runs elsewhere.", name=name))
    return _back(name)


@blueprint.post("/executors/<name>/undrain")
@role("operator")
def undrain(name: str) -> ResponseReturnValue:
    """Give it items again."""
    is_changed = executor_action.undrain(name)
    toast(_("%(name)s takes items again.", name=name) if is_changed else _("It was not drained."))
    return _back(name)


@blueprint.post("/executors/<name>/forget")
@role("operator")
def forget(name: str) -> ResponseReturnValue:
    """Remove what is left of one that is gone; its name must be typed."""
    if request.form.get("confirm") != name:
        raise ConfigurationError(_("Type the name of the executor to have it forgotten."))
    executor_action.forget(name)
    toast(_("%(name)s is forgotten.", name=name))
    return redirect(url_for("executor.index"))


def _back(name: str) -> ResponseReturnValue:
    return redirect(url_for("executor.show", name=name))
