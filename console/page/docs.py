"""The API's page, by Swagger UI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, render_template

from console.role import role

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("docs", __name__)


@blueprint.get("/api/docs")
@role("viewer")
def index() -> ResponseReturnValue:
    """Show it."""
    return render_template("docs.html")
