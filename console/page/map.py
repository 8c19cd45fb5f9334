"""The shard map: who runs what, live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request, url_for

from console import executor_action, map_action
from console.context import context
from console.live_text import live_text, schedule_words
from console.map_view import Cell, bars, cards, find_cell, fold, tiles
from console.page_number import Pager, page_number
from console.part import page_or_part
from console.role import role
from console.text import gettext as _
from console.text import lazy_gettext as _l
from console.text import ngettext
from console.view import PAGE_SIZE, toast
from shardsched.core.sight import ItemSight
from shardsched.errors import HistoryUnavailableError
from shardsched.sentence import sentence_of

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

    from shardsched.admin.live_value import Picture
    from shardsched.history.row import RunRow

blueprint = Blueprint("map", __name__)

MAX_EMBEDDED_JOBS = 200
"""Jobs whose state is sent with the page; of a larger fleet the script asks for it."""
LAST_RUNS = 12
PLAIN_JOBS = 20
"""Jobs that are shown on the map where no script runs; a table has all."""


_CARD_TEXTS = {
    "online": _l("online"),
    "draining": _l("draining"),
    "drained": _l("drained"),
    "unfit": _l("unfit"),
    "unreadable": _l("unreadable"),
    "offline": _l("offline"),
}


@blueprint.context_processor
def _helpers() -> dict[str, Any]:
    return {"bars": bars, "card_texts": _CARD_TEXTS, "cron_text": schedule_words, "fold": fold}


@blueprint.get("/map")
@role("viewer")
def index() -> ResponseReturnValue:
    """Show all items of all jobs."""
    picture = context().fleet.sight().picture
    values: dict[str, Any] = {"tiles": None, "cards": []}
    if picture is not None and picture.at is not None:
        values = {"tiles": tiles(picture), "cards": cards(picture)}
    return page_or_part("map/index.html", "map/_part.html", values, lambda: _rest(picture))


def _rest(picture: Picture | None) -> dict[str, Any]:
    """Return what the page has beside its part."""
    is_small = picture is not None and picture.at is not None and len(picture.jobs) <= MAX_EMBEDDED_JOBS
    return {
        "picture": picture,
        "data": live_text(picture, None) if picture is not None and is_small else "",
        "plain_jobs": [] if picture is None else list(picture.jobs.values())[:PLAIN_JOBS],
        "sights": list(ItemSight),
    }


@blueprint.get("/map/table")
@role("viewer")
def table() -> ResponseReturnValue:
    """Show all jobs as a table, for who has no script, and for paper."""
    picture = context().fleet.sight().picture
    jobs = [] if picture is None else list(picture.jobs.values())
    pager = Pager(page_number(), PAGE_SIZE, len(jobs))
    first = (pager.number - 1) * PAGE_SIZE
    return render_template("map/table.html", plain_jobs=jobs[first : first + PAGE_SIZE], pager=pager)


@blueprint.get("/live")
@role("viewer")
def live() -> ResponseReturnValue:
    """Give what changed since a picture of the fleet that the script has; 304 where nothing did."""
    picture = context().fleet.sight().picture
    version = request.args.get("since")
    if picture is None or (version == picture.version):
        return Response(status=304 if picture is not None else 503)
    return Response(live_text(picture, version), mimetype="application/json")


@blueprint.get("/map/success")
@role("viewer")
def success() -> ResponseReturnValue:
    """Give the success rate of each job over the last day."""
    return jsonify({name: round(rate, 4) for name, rate in context().rates.by_job().items()})


@blueprint.get("/map/item")
@role("viewer")
def item() -> ResponseReturnValue:
    """Show one item: who owns it and why, what it did, and what can be done."""
    name = request.args.get("job", "")
    context().fleet.attend(name)
    picture = context().fleet.sight().picture
    cell = None if picture is None else find_cell(picture, name, _number("item"))
    if cell is None:
        abort(404)
    runs, fault = _last_runs(cell)
    values = {"cell": cell, "runs": runs, "history_fault": fault}
    return page_or_part("map/item.html", "map/_item.html", values)


def _last_runs(cell: Cell) -> tuple[tuple[RunRow, ...], str]:
    try:
        found = context().history.last_runs(cell.job.status.entry.name, [cell.item], LAST_RUNS)
    except HistoryUnavailableError as error:
        return (), sentence_of(error)
    return found.get(cell.item, ()), ""


@blueprint.post("/map/run")
@role("operator")
def run() -> ResponseReturnValue:
    """Have a job, or one of its items, run now."""
    name, number = _job(), _optional_number("item")
    receipt = map_action.run(name, number)
    count = sum(map(len, receipt.owners.values()))
    if number is not None:
        toast(_("Item %(item)s of %(name)s runs now.", item=number, name=name))
    else:
        toast(ngettext("%(name)s: %(num)s item runs now.", "%(name)s: %(num)s items run now.", count, name=name))
    return _done()


@blueprint.post("/map/pause")
@role("operator")
def pause() -> ResponseReturnValue:
    """Have a job start nothing by itself."""
    name = _job()
    map_action.set_paused(name, is_paused=True)
    toast(_("%(name)s is paused.", name=name), undo=url_for("map.resume", job=name))
    return _done()


@blueprint.post("/map/resume")
@role("operator")
def resume() -> ResponseReturnValue:
    """Have a paused job go on."""
    name = _job()
    map_action.set_paused(name, is_paused=False)
    toast(_("%(name)s goes on.", name=name))
    return _done()


@blueprint.post("/map/stop")
@role("operator")
def stop() -> ResponseReturnValue:
    """Stop all items of a job that run."""
    name = _job()
    count = len(map_action.stop(name).running)
    toast(ngettext("%(name)s: %(num)s item is stopped.", "%(name)s: %(num)s items are stopped.", count, name=name))
    return _done()


@blueprint.post("/map/disable")
@role("operator")
def disable() -> ResponseReturnValue:
    """Switch an item off."""
    name, number = _job(), _number("item")
    map_action.set_disabled(name, number, is_disabled=True)
    undo = url_for("map.enable", job=name, item=number)
    toast(_("Item %(item)s of %(name)s is disabled.", item=number, name=name), undo=undo)
    return _done()


@blueprint.post("/map/enable")
@role("operator")
def enable() -> ResponseReturnValue:
    """Switch an item on again."""
    name, number = _job(), _number("item")
    map_action.set_disabled(name, number, is_disabled=False)
    toast(_("Item %(item)s of %(name)s is enabled.", item=number, name=name))
    return _done()


@blueprint.post("/map/drain")
@role("operator")
def drain() -> ResponseReturnValue:
    """Take an executor's items away; what it runs goes on to its end."""
    name = request.values.get("executor", "")
    executor_action.drain(name)
    toast(_("%(name)s is being drained.", name=name), undo=url_for("map.undrain", executor=name))
    return _done()


@blueprint.post("/map/undrain")
@role("operator")
def undrain() -> ResponseReturnValue:
    """Give an executor items again."""
    name = request.values.get("executor", "")
    executor_action.undrain(name)
    toast(_("%(name)s gets items again.", name=name))
    return _done()


def _done() -> ResponseReturnValue:
    """Answer a script with nothing but what it is told, and a form with the map."""
    return Response(status=204) if "HX-Request" in request.headers else redirect(url_for("map.index"))


def _job() -> str:
    return request.values.get("job", "")


def _optional_number(name: str) -> int | None:
    return _number(name) if request.values.get(name, "") else None


def _number(name: str) -> int:
    text = request.values.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        abort(404)
    return int(text)
