"""Tokens of everybody, for admins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, redirect, render_template, url_for

from console import account
from console.context import context
from console.role import role
from console.text import gettext as _
from console.view import toast

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("token", __name__)


@blueprint.get("/tokens")
@role("admin")
def index() -> ResponseReturnValue:
    """List them; one's own are made in the profile."""
    return render_template("token/index.html", tokens=context().people.tokens.list())


@blueprint.post("/tokens/<identity>/revoke")
@role("admin", proof=True)
def revoke(identity: str) -> ResponseReturnValue:
    """End one."""
    token = account.revoke_token(identity)
    toast(_("The token %(name)s of %(owner)s is revoked.", name=token.name, owner=token.owner))
    return redirect(url_for("token.index"))
