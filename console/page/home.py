"""The front door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, redirect, url_for

from console.navigation import PAGES, visible
from console.role import role

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
@role("viewer")
def index() -> ResponseReturnValue:
    """Lead to the first page that is there."""
    first = next(visible(PAGES), None)
    return redirect(url_for(first.endpoint if first else "profile.index"))
