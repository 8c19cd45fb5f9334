"""The jobs: all of them, and one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, render_template, request

from console import job_action, job_text, job_view
from console.context import context
from console.job_grid import GRID_ITEMS, last_runs_grid
from console.job_grid_view import grid_lines
from console.job_list import PROBLEMS, Wanted, wanted_rows
from console.page_number import Pager, page_number
from console.role import role
from console.view import PAGE_SIZE, page_or_part, part_response
from shardsched.core.task import BUILTIN_HANDLERS
from shardsched.errors import HistoryError, JobNotFoundError, RegistryUnavailableError

if TYPE_CHECKING:
    from typing import Any

    from flask.typing import ResponseReturnValue

    from console.fleet import Sight
    from console.job_list import Row
    from shardsched.people.revision import Revision

blueprint = Blueprint("job", __name__)

STATES = ("enabled", "paused", "held", "unowned", "running")
_CHANGES_SHOWN = 5
_CHECKPOINTS_SHOWN = 200


@blueprint.get("/jobs")
@role("viewer")
def index() -> ResponseReturnValue:
    """List them."""
    sight, parts = context().fleet.sight(), context()
    wanted, rates = Wanted.of(request.args), parts.rates.by_job()
    everyone = parts.jobs.rows(sight)
    rows = wanted_rows(everyone, wanted, rates)
    number = page_number()
    first = (number - 1) * PAGE_SIZE
    for row in rows[first : first + PAGE_SIZE]:
        parts.fleet.attend(row.name)
    return page_or_part(
        "job/index.html",
        "job/_list.html",
        rows=rows[first : first + PAGE_SIZE],
        pager=Pager(number, PAGE_SIZE, len(rows)),
        total=len(everyone),
        wanted=wanted,
        rates=rates,
        sight=sight,
        away=job_view.away_reason(sight),
        view=job_view,
        words=job_text,
        states=STATES,
        kinds=("code", *BUILTIN_HANDLERS),
        problems=PROBLEMS,
        executors=[one.name for one in sight.status.executors if one.state != "gone"] if sight.status else [],
    )


@blueprint.get("/jobs/<name>")
@role("viewer")
def show(name: str) -> ResponseReturnValue:
    """Show one."""
    sight, row = seen_job(name)
    is_part = "HX-Request" in request.headers
    values: dict[str, Any] = {
        "row": row,
        "job": row.status,
        "config": row.status.entry.config,
        "sight": sight,
        "view": job_view,
        "words": job_text,
        "whys": job_view.whys_of(row.status, job_view.away_reason(sight)),
        "numbers": job_view.owner_numbers(sight),
        "dependents": job_view.dependents(sight, name),
        "rate": context().rates.by_job().get(name),
        "item_pager": Pager(page_number(), GRID_ITEMS, len(row.status.items)),
    }
    if is_part:
        return part_response(render_template("job/_show.html", **values))
    _note_found(name)
    return render_template("job/show.html", changes=_changes(name), **values)


@blueprint.get("/jobs/<name>/checkpoints")
@role("viewer")
def checkpoints(name: str) -> ResponseReturnValue:
    """Show what its items have saved, as a part of its page; read only when somebody asks for it."""
    status = context().fleet.admin().job_status(name)
    saved = [item for item in status.items if item.checkpoint is not None]
    why = job_view.whys_of(status, "").change
    running = any(item.marker is not None for item in saved)
    return part_response(
        render_template(
            "job/_checkpoints.html",
            name=name,
            saved=saved[:_CHECKPOINTS_SHOWN],
            count=len(saved),
            why=why,
            running=running,
        )
    )


@blueprint.get("/jobs/<name>/runs")
@role("viewer")
def runs(name: str) -> ResponseReturnValue:
    """Show the last runs of its items, as a part of its page."""
    _sight, row = seen_job(name)
    first = (page_number() - 1) * GRID_ITEMS
    items = [item.item for item in row.status.items[first : first + GRID_ITEMS]]
    try:
        grid, fault = last_runs_grid(name, items), ""
    except HistoryError as error:
        grid, fault = None, str(error)
    return part_response(render_template("job/_runs.html", name=name, grid=grid, lines=grid_lines(grid), fault=fault))


def seen_job(name: str, *, is_fresh: bool = False) -> tuple[Sight, Row]:
    """Return the fleet as last seen, and a job of it; looked at anew if it must be fresh.

    Raises:
        JobNotFoundError: There is none.
        RegistryUnavailableError: Nothing was ever seen.
    """
    context().fleet.attend(name)
    sight = context().fleet.sight(fresh=is_fresh)
    for is_again in (False, True):
        if is_again:  # it may be a moment old
            sight = context().fleet.sight(fresh=True)
        row = next((row for row in context().jobs.rows(sight) if row.name == name), None)
        if row is not None:
            return sight, row
    if sight.status is None:
        raise RegistryUnavailableError(sight.fault or "the registry has not answered yet")
    raise JobNotFoundError(job=name)


def _note_found(name: str) -> None:
    """Keep a version that was made elsewhere; a page is shown all the same without the registry."""
    try:
        job_action.find(name)
    except (RegistryUnavailableError, JobNotFoundError):
        return


def _changes(name: str) -> list[Revision]:
    try:
        return list(context().people.revisions.page("job", name, limit=_CHANGES_SHOWN))
    except HistoryError:
        return []
