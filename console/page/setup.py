"""Making the first user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, redirect, render_template, request, url_for

from console.account import set_up
from console.context import context
from console.form import faults_of
from console.limit import limit_setup
from console.role import role
from console.sign_in import begin_sign_in
from console.text import gettext as _
from console.view import toast
from shardsched.people.error import AccountConflictError, AccountError

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("setup", __name__)


@blueprint.route("/setup", methods=["GET", "POST"])
@limit_setup
@role("public")
def index() -> ResponseReturnValue:
    """Ask for the one-time code and make an admin, as long as there is nobody."""
    if not context().people.users.is_empty():
        return redirect(url_for("login.index"))
    if request.method != "POST":
        return render_template("setup.html", values={}, faults={})
    form = request.form
    try:
        user = set_up(form.get("code", ""), form.get("name", ""), form.get("password", ""))
    except AccountError as error:
        values = {"code": form.get("code", ""), "name": form.get("name", "")}
        return render_template("setup.html", values=values, faults=faults_of(error)), 422
    except AccountConflictError:
        return redirect(url_for("login.index"))
    begin_sign_in(user)
    toast(_("Welcome, %(name)s. You are the admin; make users for everybody else.", name=user.name))
    return redirect(url_for("home.index"))
