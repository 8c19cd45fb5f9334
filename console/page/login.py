"""Signing in and out, and giving the password again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, redirect, render_template, request, url_for

from console.account import authenticate, confirm_password
from console.context import actor, actor_or_none, context
from console.form import local_address, path_of
from console.limit import limit_login, limit_password
from console.problem import RETRY_LATER
from console.role import role
from console.sign_in import begin_sign_in, end_sign_in, forget_sign_in
from console.text import gettext as _
from console.trail import note
from shardsched.errors import HistoryUnavailableError

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("login", __name__)


@blueprint.route("/login", methods=["GET", "POST"])
@limit_login
@role("public")
def index() -> ResponseReturnValue:
    """Ask for name and password; nothing tells which of them is wrong."""
    wanted = local_address(request.values.get("next"))
    if request.method != "POST":
        if actor_or_none() is not None:
            return redirect(wanted)
        return render_template("login.html", name="", wanted=wanted, fault="")
    name = request.form.get("name", "")
    if context().store.fault() is not None:  # before a password is tried, so that nobody tries many meanwhile
        return render_template("login.html", name=name, wanted=wanted, fault=""), 503, RETRY_LATER
    user = authenticate(name, request.form.get("password", "")[:1000])
    if user is None:
        fault = _("The name or the password is wrong.")
        return render_template("login.html", name=name, wanted=wanted, fault=fault), 422
    begin_sign_in(user)
    note("session.begin", "user", user.name)
    return redirect(wanted)


@blueprint.post("/logout")
@role("viewer", storeless=True)
def logout() -> ResponseReturnValue:
    """Sign out; while the history database is away, only this browser and this process forget the sign-in."""
    who = actor()
    try:
        note("session.end", "user", who.name)
        end_sign_in(who)
    except HistoryUnavailableError:
        forget_sign_in(who)
    return redirect(url_for("login.index"))


@blueprint.route("/login/proof", methods=["GET", "POST"])
@limit_password
@role("viewer")
def proof() -> ResponseReturnValue:
    """Ask for the password again, before what is dangerous."""
    wanted = local_address(path_of(request.values.get("next", "")))
    if request.method != "POST":
        return render_template("proof.html", wanted=wanted, fault="")
    if not confirm_password(request.form.get("password", "")[:1000]):
        return render_template("proof.html", wanted=wanted, fault=_("That is not your password.")), 422
    return redirect(wanted)
