"""The search in the top bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flask import Blueprint, render_template, request, url_for

from console.context import context
from console.locale import time_text
from console.navigation import ADMINISTRATION, PAGES, visible
from console.role import role
from shardsched.errors import HistoryError

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("search", __name__)

HITS = 8
"""Of each kind."""


MIN_RUN_ID = 8
"""Of a run's id, which must be whole, so that not every letter typed asks the history."""


class Found(NamedTuple):
    """What was found of one kind."""

    hits: list[tuple[str, str]]
    """Addresses and names, at most `HITS`."""
    more_count: int = 0
    """How many others there are."""
    more_address: str = ""
    """Where they are listed."""


@blueprint.get("/search")
@role("viewer")
def index() -> ResponseReturnValue:
    """Show the pages, jobs and executors whose names hold a text, and the execution whose id it is."""
    wanted = request.args.get("q", "").strip()[:128]
    groups = _groups(wanted) if wanted else {}
    template = "search/_part.html" if "HX-Request" in request.headers else "search/index.html"
    return render_template(template, wanted=wanted, groups=groups)


def _groups(wanted: str) -> dict[str, Found]:
    """Return what was found by kind."""
    folded = wanted.casefold()
    pages = [(url_for(page.endpoint), str(page.title)) for page in visible((*PAGES, *ADMINISTRATION))]
    groups = {"page": Found([hit for hit in pages if folded in hit[1].casefold()])}
    for kind, names in _names().items():
        hits = sorted((not name.casefold().startswith(folded), name) for name in names if folded in name.casefold())
        shown = [(url_for(f"{kind}.show", name=name), name) for _, name in hits[:HITS]]
        groups[kind] = Found(shown, len(hits) - len(shown), url_for(f"{kind}.index", q=wanted))
    groups["execution"] = Found(_run(wanted))
    return {kind: found for kind, found in groups.items() if found.hits}


def _names() -> dict[str, list[str]]:
    """Return all names that may be found, by kind."""
    status = context().fleet.sight().status
    if status is None:
        return {}
    return {"job": [job.entry.name for job in status.jobs], "executor": [one.name for one in status.executors]}


def _run(wanted: str) -> list[tuple[str, str]]:
    if len(wanted) < MIN_RUN_ID:
        return []
    try:
        run = context().history.run(wanted)
    except HistoryError:
        return []
    if run is None:
        return []
    return [(url_for("execution.show", run_id=run.run_id), f"{run.job} {run.item} \u00b7 {time_text(run.fire)}")]
