"""What every request passes before a view sees it, and every answer afterwards.

In this order: a request id; who asks (a bearer token, else the cookie; a request with a token never reads cookies);
whether there is anybody at all yet; whether another site sent it; the forgery token; whether the role allows the view.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from flask import current_app, g, redirect, request, url_for
from flask_wtf.csrf import CSRFProtect
from werkzeug.exceptions import Forbidden, Unauthorized

from console.actor import Actor, ForbiddenError
from console.context import actor_or_none, context
from console.role import access_of
from console.sign_in import browser_actor
from shardsched.errors import HistoryUnavailableError
from shardsched.people.role import Role
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from flask import Flask, Response
    from werkzeug.wrappers import Response as AnyResponse

    from console.role import Access

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_BEFORE_SETUP = frozenset(
    {"setup.index", "static", "health.healthz", "health.readyz", "health.metrics", "preference.save"}
)
"""What is served while there is no user."""
_CODING = re.compile(r'(:(?:gzip|br|zstd|deflate))"')
"""What the compression adds to an ETag, since the bytes are others; the object is the same."""

_csrf = CSRFProtect()


def init_guard(app: Flask) -> None:
    """Guard an app."""
    app.config["WTF_CSRF_CHECK_DEFAULT"] = False  # requests with a token need none
    app.config["WTF_CSRF_TIME_LIMIT"] = None  # it ends with the sign-in
    _csrf.init_app(app)
    app.before_request(_guard)
    app.after_request(_mark)


def _guard() -> AnyResponse | None:
    g.request_id = secrets.token_hex(8)
    _strip_codings()
    g.actor = None
    if request.endpoint == "static":
        return None
    g.actor = _bearer_actor() if request.authorization else _browser_actor()
    if request.endpoint is None or request.routing_exception is not None:
        return None  # the error is told when the view is dispatched
    access = _access()
    if actor_or_none() is None and request.endpoint not in _BEFORE_SETUP and _nobody_yet():
        return _to_setup()
    if request.method not in SAFE_METHODS and not request.authorization:
        _check_origin()
        _csrf.protect()
    _check_store(access)
    _check_access(access)
    return None


def _access() -> Access:
    view = current_app.view_functions.get(request.endpoint or "")
    access = None if view is None else access_of(view, request.method)
    if access is None:
        raise Forbidden
    return access


def _bearer_actor() -> Actor:
    given = request.authorization
    secret = given.token if given is not None and given.type == "bearer" else None
    if not secret:
        raise Unauthorized
    known = context().known
    try:
        actor = known.verify(secret, _token_actor)
    except HistoryUnavailableError:
        actor = known.recall(secret)
        if actor is None:
            raise
    if actor is None:
        raise Unauthorized
    return actor


def _token_actor(secret: str) -> Actor | None:
    found = context().people.tokens.find(secret)
    return None if found is None else Actor(token=found[0], user=found[1])


def _browser_actor() -> Actor | None:
    """Return who is signed in; a page is shown to who cannot be told as to a stranger, a program is told why."""
    try:
        return browser_actor()
    except HistoryUnavailableError:
        if is_program():
            raise
        return None


def _nobody_yet() -> bool:
    try:
        return context().people.users.is_empty()
    except HistoryUnavailableError:
        return False  # nobody can tell


def _check_store(access: Access) -> None:
    """Refuse who was let in without the database all but looking on."""
    who = actor_or_none()
    if who is None or not who.only_looks or access.is_storeless:
        return
    is_for_all = access.role in {None, Role.VIEWER}
    if request.method not in SAFE_METHODS or not is_for_all or access.needs_proof:
        fault = context().store.fault()
        back = Sentence("the history database has just come back; try again")
        raise HistoryUnavailableError(fault.text if fault else back)


def _to_setup() -> AnyResponse:
    if is_program():
        raise Unauthorized
    return redirect(url_for("setup.index"))


def _check_origin() -> None:
    """Refuse what another site sent; browsers say so, and programs without a token need no cookie."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise Forbidden
    origin = request.headers.get("Origin")
    # Compared as texts: what is no address at all is refused too.
    if origin is not None and origin.partition("://")[2] != request.host:
        raise Forbidden


def _check_access(access: Access) -> None:
    if access.role is None:
        return
    who = actor_or_none()
    if who is None:
        raise Unauthorized
    who.require(access.role)
    if access.needs_proof and who.session is not None and not who.session.is_proved(context().clock.now()):
        raise ForbiddenError("proof")


def is_program() -> bool:
    """Whether a program or a part of a page asks, rather than somebody who reads a page."""
    return request.path.startswith("/api/") or "HX-Request" in request.headers or bool(request.authorization)


def _strip_codings() -> None:
    for name in ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH"):
        if name in request.environ:
            request.environ[name] = _CODING.sub('"', request.environ[name])


def _mark(response: Response) -> Response:
    response.headers["X-Request-ID"] = g.get("request_id", "")
    return response
