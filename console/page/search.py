"""The search in the top bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, current_app, render_template, request, url_for

from console.context import context
from console.navigation import ADMINISTRATION, PAGES, visible
from console.role import role

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("search", __name__)

HITS = 8
"""Of each kind."""


@blueprint.get("/search")
@role("viewer")
def index() -> ResponseReturnValue:
    """Show the pages, jobs and executors whose names hold a text."""
    wanted = request.args.get("q", "").strip()[:128]
    groups = _groups(wanted.casefold()) if wanted else {}
    template = "search/_part.html" if "HX-Request" in request.headers else "search/index.html"
    return render_template(template, wanted=wanted, groups=groups)


def _groups(wanted: str) -> dict[str, list[tuple[str, str]]]:
    """Return addresses and names by kind."""
    pages = [(url_for(page.endpoint), str(page.title)) for page in visible((*PAGES, *ADMINISTRATION))]
    groups = {"page": [hit for hit in pages if wanted in hit[1].casefold()]}
    for kind, names in _names().items():
        endpoint = f"{kind}.show"
        if endpoint in current_app.view_functions:
            hits = sorted((not name.casefold().startswith(wanted), name) for name in names if wanted in name.casefold())
            groups[kind] = [(url_for(endpoint, name=name), name) for _, name in hits[:HITS]]
    return {kind: found for kind, found in groups.items() if found}


def _names() -> dict[str, list[str]]:
    """Return all names that may be found, by kind."""
    status = context().fleet.sight().status
    if status is None:
        return {}
    return {"job": [job.entry.name for job in status.jobs], "executor": [one.name for one in status.executors]}
