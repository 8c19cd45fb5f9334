"""Users, for admins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Blueprint, redirect, render_template, request, url_for

from console import account
from console.context import actor, context
from console.form import faults_of
from console.page_number import MAX_ID, Pager, page_number
from console.role import role
from console.sentence_text import said
from console.text import gettext as _
from console.view import PAGE_SIZE, toast
from shardsched.people.error import AccountConflictError, AccountError

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

    from shardsched.people.user import User

blueprint = Blueprint("user", __name__)


@blueprint.get("/users")
@role("admin")
def index() -> ResponseReturnValue:
    """List them."""
    number = page_number()
    users, count = context().people.users.page(offset=(number - 1) * PAGE_SIZE, limit=PAGE_SIZE)
    return render_template("user/index.html", users=users, pager=Pager(number, PAGE_SIZE, count))


@blueprint.route("/users/new", methods=["GET", "POST"])
@role("admin", proof=True)
def create() -> ResponseReturnValue:
    """Make one."""
    values: dict[str, Any] = {"name": "", "role": "viewer"} | request.form.to_dict()
    faults: dict[str, str] = {}
    if request.method == "POST":
        try:
            chosen = account.parse_role(values["role"])
            user = account.create_user(values["name"], chosen, request.form.get("password", ""))
        except AccountError as error:
            faults = faults_of(error)
        except AccountConflictError:
            faults = {"name": _("There is a user of that name.")}
        else:
            toast(_("%(name)s can sign in now.", name=user.name))
            return redirect(url_for("user.index"))
    return render_template("user/new.html", values=values, faults=faults), 422 if faults else 200


@blueprint.route(f"/users/<int(max={MAX_ID}):user_id>", methods=["GET", "POST"])
@role("admin", proof=True)
def edit(user_id: int) -> ResponseReturnValue:
    """Change a role or a password."""
    user = account.find_user(user_id)
    if request.method != "POST":
        return _edit_page(user)
    form = request.form
    try:
        version = int(form.get("version", user.version))
        chosen = account.parse_role(form.get("role", user.role))
        account.change_user(user_id, role=chosen, password=form.get("password"), expected_version=version)
    except (AccountError, ValueError) as error:
        return _edit_page(user, faults_of(error) if isinstance(error, AccountError) else {"role": said(error)}), 422
    except AccountConflictError as error:
        return _edit_page(account.find_user(user_id), {"role": _conflict_text(error)}), 409
    toast(_("%(name)s is changed, and signed out everywhere.", name=user.name))
    return redirect(url_for("user.index") if actor().user.id != user_id else url_for("login.index"))


@blueprint.post(f"/users/<int(max={MAX_ID}):user_id>/delete")
@role("admin", proof=True)
def delete(user_id: int) -> ResponseReturnValue:
    """Remove one, if their name was typed."""
    user = account.find_user(user_id)
    if request.form.get("confirm") != user.name:
        return _edit_page(user, {"confirm": _("Type the name of the user to delete them.")}), 422
    try:
        account.delete_user(user_id)
    except AccountConflictError as error:
        return _edit_page(user, {"confirm": _conflict_text(error)}), 409
    toast(_("%(name)s is deleted.", name=user.name))
    return redirect(url_for("user.index"))


def _edit_page(user: User, faults: dict[str, str] | None = None) -> str:
    people = context().people
    return render_template(
        "user/edit.html",
        user=user,
        faults=faults or {},
        sessions=people.sessions.of(user),
        tokens=people.tokens.list(user),
    )


def _conflict_text(error: AccountConflictError) -> str:
    if error.code == "last_admin":
        return _("%(name)s is the only admin; make somebody else admin first.", name=error.user)
    return _("%(name)s was changed by somebody else meanwhile; this is how it is now.", name=error.user)
