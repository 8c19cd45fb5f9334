"""Theme and language, from the top bar: kept in the profile of whoever is signed in, else in cookies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, redirect, request
from werkzeug.exceptions import BadRequest

from console.account import save_preferences
from console.context import actor_or_none, context
from console.form import local_address
from console.locale import LANGUAGE_COOKIE, LANGUAGES, THEME_COOKIE, THEMES
from console.role import role

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("preference", __name__)

_KNOWN = {"theme": (THEME_COOKIE, THEMES), "language": (LANGUAGE_COOKIE, tuple(LANGUAGES))}
_YEAR_S = 365 * 24 * 3600


@blueprint.post("/preference")
@role("public")
def save() -> ResponseReturnValue:
    """Keep a theme or a language, and go back to where one was."""
    changes = {name: value for name in _KNOWN if (value := request.form.get(name))}
    if not changes or any(value not in _KNOWN[name][1] for name, value in changes.items()):
        raise BadRequest
    response = redirect(local_address(request.form.get("next")))
    if "HX-Request" in request.headers:
        response.status_code = 204
    for name, value in changes.items():
        response.set_cookie(
            _KNOWN[name][0],
            value,
            max_age=_YEAR_S,
            samesite="Lax",
            secure=context().settings.is_https,
        )
    if actor_or_none() is not None:
        save_preferences(dict(changes))
    return response
