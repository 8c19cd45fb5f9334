"""One's own account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from flask import Blueprint, redirect, render_template, request, url_for

from console import account
from console.context import actor, context
from console.form import faults_of
from console.limit import limit_password
from console.role import role
from console.sign_in import begin_sign_in, end_sign_in
from console.text import gettext as _
from console.view import toast
from shardsched.people.error import AccountError

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("profile", __name__)


@blueprint.get("/profile")
@role("viewer")
def index() -> ResponseReturnValue:
    """Show it."""
    return _page()


def _page(faults: dict[str, str] | None = None, secret: str = "", values: dict[str, Any] | None = None) -> str:
    who, people = actor(), context().people
    return render_template(
        "profile.html",
        user=who.user,
        sessions=people.sessions.of(who.user),
        tokens=people.tokens.list(who.user),
        zones=sorted(available_timezones()),
        faults=faults or {},
        values=values or {},
        secret=secret,
    )


@blueprint.post("/profile/preferences")
@role("viewer")
def preferences() -> ResponseReturnValue:
    """Keep language, zone, theme and keys."""
    form = request.form
    changes: dict[str, Any] = {name: form.get(name, "") for name in ("language", "zone", "theme")}
    try:
        account.save_preferences(changes | {"has_keys": "has_keys" in form})
    except AccountError as error:
        fault = _("There is no zone of that name; take one of the list, such as Asia/Shanghai.")
        faults = {"zone": fault} if error.field == "zone" else faults_of(error)
        return _page(faults, values=changes), 422
    toast(_("Saved"))
    return redirect(url_for("profile.index"))


@blueprint.post("/profile/password")
@limit_password
@role("viewer")
def password() -> ResponseReturnValue:
    """Change the password; this browser stays signed in, all others do not."""
    try:
        user = account.change_own_password(request.form.get("old", ""), request.form.get("password", ""))
    except AccountError as error:
        return _page(faults_of(error)), 422
    begin_sign_in(user)
    toast(_("Your password is changed. Other browsers are signed out."))
    return redirect(url_for("profile.index"))


@blueprint.post("/profile/sessions/<session_id>/end")
@role("viewer")
def end_session(session_id: str) -> ResponseReturnValue:
    """End one sign-in."""
    who = actor()
    if who.session is not None and session_id == who.session.id:
        end_sign_in(who)
        return redirect(url_for("login.index"))
    account.end_session(session_id)
    toast(_("That browser is signed out."))
    return redirect(url_for("profile.index"))


@blueprint.post("/profile/end-all")
@role("viewer")
def end_all() -> ResponseReturnValue:
    """Sign out everywhere, and revoke all tokens."""
    account.end_everything()
    return redirect(url_for("login.index"))


@blueprint.post("/profile/tokens")
@role("viewer", proof=True)
def create_token() -> ResponseReturnValue:
    """Make a token; its secret is shown on the answer and never again."""
    form = request.form
    values = {name: form.get(name, "") for name in ("name", "role", "days", "scope")}
    try:
        chosen = account.parse_role(values["role"])
        secret, _token = account.create_token(
            values["name"], chosen, account.parse_days(values["days"]), values["scope"]
        )
    except AccountError as error:
        faults = {f"token_{field}": text for field, text in faults_of(error).items()}
        return _page(faults, values=values), 422
    return _page(secret=secret)


@blueprint.post("/profile/tokens/<identity>/revoke")
@role("viewer")
def revoke_token(identity: str) -> ResponseReturnValue:
    """End one of one's own tokens."""
    account.revoke_token(identity)
    toast(_("The token is revoked."))
    return redirect(url_for("profile.index"))
