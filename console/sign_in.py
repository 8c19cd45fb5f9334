"""Signing in and out by browser; the only module that knows Flask-Login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import g, request, session
from flask_login import LoginManager, current_user, login_user, logout_user

from console.actor import Actor
from console.context import context

if TYPE_CHECKING:
    from flask import Flask

    from shardsched.people.user import User
    from shardsched.people.web_session import WebSession


class _SignedIn:
    """What Flask-Login keeps for a request; the cookie holds the sign-in's secret and nothing about the user."""

    is_authenticated = True
    is_active = True
    is_anonymous = False

    def __init__(self, secret: str, web_session: WebSession | None = None, user: User | None = None) -> None:
        self.secret = secret
        self.web_session = web_session
        self.user = user

    def get_id(self) -> str:
        """Return the secret."""
        return self.secret


def init_sign_in(app: Flask) -> None:
    """Have cookies mean sign-ins."""
    manager = LoginManager(app, add_context_processor=False)
    manager.session_protection = "basic"
    manager.user_loader(_load)


def _load(secret: str) -> _SignedIn | None:
    found = context().people.sessions.find(secret)
    return None if found is None else _SignedIn(secret, *found)


def browser_actor() -> Actor | None:
    """Return who is signed in by the request's cookie."""
    if not session.get("_user_id"):
        return None
    user = current_user
    if not isinstance(user._get_current_object(), _SignedIn):  # noqa: SLF001 - werkzeug's documented way
        return None
    return Actor(user=user.user, session=user.web_session)


def begin_sign_in(user: User) -> None:
    """Sign a user in with a new secret; whatever the cookie held before is gone."""
    session.clear()
    secret = context().people.sessions.create(user, request.remote_addr or "", request.user_agent.string)
    login_user(_SignedIn(secret))
    g.actor = Actor(user=user)


def end_sign_in(actor: Actor) -> None:
    """Sign out, here and in the list of sign-ins."""
    if actor.session is not None:
        context().people.sessions.end(actor.session.id)
    logout_user()
    session.clear()
