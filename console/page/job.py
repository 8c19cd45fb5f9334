"""The jobs: all of them, and one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from flask import Blueprint, request

from console import executor_view, job_action, job_text, job_view
from console.context import context
from console.job_grid import GRID_ITEMS, last_runs_grid
from console.job_grid_view import grid_lines, grid_marks
from console.job_list import PROBLEMS, Wanted, wanted_rows
from console.job_menu import row_menu
from console.page_number import Pager, page_number
from console.part import page_or_part, part_or_seen
from console.role import role
from console.view import PAGE_SIZE
from shardsched.core.task import BUILTIN_HANDLERS
from shardsched.errors import HistoryError, JobNotFoundError, RegistryUnavailableError
from shardsched.sentence import Sentence, sentence_of

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
    shown = rows[first : first + PAGE_SIZE]
    for row in shown:
        parts.fleet.attend(row.name)
    values = {
        "rows": shown,
        "pager": Pager(number, PAGE_SIZE, len(rows)),
        "total": len(everyone),
        "wanted": wanted,
        "rates": {row.name: rates.get(row.name) for row in shown},
        "is_seen": sight.status is not None,
        "fault": sight.fault,
        "away": job_view.away_reason(),
        "view": job_view,
        "words": job_text,
        "menu": row_menu,
    }
    return page_or_part("job/index.html", "job/_list.html", values, lambda: _choices(sight))


def _choices(sight: Sight) -> dict[str, Any]:
    """Return what the filters offer."""
    executors = sight.status.executors if sight.status else ()
    return {
        "states": STATES,
        "kinds": ("code", *BUILTIN_HANDLERS),
        "problems": PROBLEMS,
        "executors": [one.name for one in executors if one.state != "gone"],
    }


@blueprint.get("/jobs/<name>")
@role("viewer")
def show(name: str) -> ResponseReturnValue:
    """Show one."""
    sight, row = seen_job(name)
    config = row.status.entry.config
    values: dict[str, Any] = {
        "row": row,
        "fires": job_view.next_fires(config) if config else [],
        "view": job_view,
        "words": job_text,
        "whys": job_view.whys_of(row.status, job_view.away_reason()),
        "numbers": executor_view.numbers(sight),
        "dependents": job_view.dependents(sight, name),
        "rate": context().rates.by_job().get(name),
        "item_pager": Pager(page_number(), GRID_ITEMS, len(row.status.items)),
    }
    return page_or_part(
        "job/show.html", "job/_show.html", values, lambda: {"job": row.status, "changes": _noted_changes(name)}
    )


@blueprint.get("/jobs/<name>/checkpoints")
@role("viewer")
def checkpoints(name: str) -> ResponseReturnValue:
    """Show what its items have saved, as a part of its page; read only when somebody asks for it."""
    status = context().fleet.admin().job_status(name)
    saved = [item for item in status.items if item.checkpoint is not None]
    why = job_view.whys_of(status, "").change
    running = any(item.marker is not None for item in saved)
    values = {"name": name, "saved": saved[:_CHECKPOINTS_SHOWN], "count": len(saved), "why": why, "running": running}
    return part_or_seen("job/_checkpoints.html", values)


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
        grid, fault = None, sentence_of(error)
    values = {"name": name, "grid": grid, "lines": grid_lines, "marks": grid_marks, "fault": fault}
    return part_or_seen("job/_runs.html", values)


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
        row = context().jobs.row(sight, name)
        if row is not None:
            return sight, row
    if sight.status is None:
        raise RegistryUnavailableError(sight.fault or Sentence("the registry has not answered yet"))
    raise JobNotFoundError(job=name)


def _noted_changes(name: str) -> list[Revision]:
    """Return the last changes, one that was made elsewhere among them; the page is shown without them too."""
    if context().store.fault() is not None:
        return []
    with contextlib.suppress(RegistryUnavailableError, JobNotFoundError):
        job_action.find(name)
    try:
        return list(context().people.revisions.page("job", name, limit=_CHANGES_SHOWN))
    except HistoryError:
        return []
