"""What is away at present, for all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint

from console.away import away
from console.context import actor
from console.part import part_or_seen
from console.role import role

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("away", __name__)


@blueprint.get("/away")
@role("viewer")
def index() -> ResponseReturnValue:
    """Show it, as a part of a page."""
    gone, until = away(), actor().looks_until
    values = {
        "store": gone.store,
        "fault": gone.sight.fault,
        "read_at": gone.sight.read_at if gone.sight.fault else None,
        "looks_until": until.replace(second=0, microsecond=0) if until else None,
    }
    return part_or_seen("away.html", values)
