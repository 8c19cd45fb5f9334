"""Signing in and out by browser; the only module that knows Flask-Login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import g, request, session
from flask_login import LoginManager, current_user, login_user

from console.actor import Actor
from console.context import context
from shardsched.errors import HistoryUnavailableError

if TYPE_CHECKING:
    from flask import Flask

    from shardsched.people.user import User


class _SignedIn:
    """What Flask-Login keeps for a request; the cookie holds the sign-in's secret and nothing about the user."""

    is_authenticated = True
    is_active = True
    is_anonymous = False

    def __init__(self, secret: str, actor: Actor | None = None) -> None:
        self.secret = secret
        self.actor = actor

    def get_id(self) -> str:
        """Return the secret."""
        return self.secret


def init_sign_in(app: Flask) -> None:
    """Have cookies mean sign-ins."""
    manager = LoginManager(app, add_context_processor=False)
    manager.session_protection = "basic"
    manager.user_loader(_load)


def _load(secret: str) -> _SignedIn | None:
    actor = context().known.verify(secret, _session_actor)
    return None if actor is None else _SignedIn(secret, actor)


def _session_actor(secret: str) -> Actor | None:
    found = context().people.sessions.find(secret)
    return None if found is None else Actor(session=found[0], user=found[1])


def browser_actor() -> Actor | None:
    """Return who is signed in by the request's cookie; who signed in lately may look without the history database.

    Raises:
        HistoryUnavailableError: There is a cookie, and nobody can tell whose.
    """
    secret = session.get("_user_id")
    if not secret:
        return None
    try:
        user = current_user
        if not isinstance(user._get_current_object(), _SignedIn):  # noqa: SLF001 - werkzeug's documented way
            return None
    except HistoryUnavailableError:
        recalled = context().known.recall(secret)
        if recalled is None:
            raise
        return recalled
    actor: Actor | None = user.actor
    return actor


def begin_sign_in(user: User) -> None:
    """Sign a user in with a new secret; whatever the cookie held before is gone."""
    session.clear()
    secret = context().people.sessions.create(user, request.remote_addr or "", request.user_agent.string)
    login_user(_SignedIn(secret))
    g.actor = Actor(user=user)


def end_sign_in(actor: Actor) -> None:
    """Sign out, here and in the list of sign-ins."""
    try:
        if actor.session is not None:
            context().people.sessions.end(actor.session.id)
    finally:
        forget_sign_in(actor)


def forget_sign_in(actor: Actor) -> None:
    """Have the browser and this process know nothing of a sign-in any more, whatever the history database does."""
    if actor.session is not None:
        context().known.forget_ended(session_id=actor.session.id)
    session.clear()
