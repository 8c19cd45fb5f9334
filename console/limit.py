"""How often somebody may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import request
from flask_limiter import Limiter

from console.context import actor_or_none
from shardsched.people.user import folded

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Blueprint, Flask, Response

LOGIN_PER_ADDRESS = "5/minute"
LOGIN_PER_USER = "20/hour"
SETUP = "5/hour"
API = "600/minute"
API_WRITES = "60/minute"
EXPORTS = "6/minute"

WRITING = ["POST", "PUT", "PATCH", "DELETE"]


def address() -> str:
    """Return where the request comes from."""
    return request.remote_addr or "unknown"


def who() -> str:
    """Return who asks: a token, a user, or else an address."""
    actor = actor_or_none()
    if actor is None:
        return address()
    return f"token {actor.token.id}" if actor.token else f"user {actor.user.id}"


def _named_user() -> str:
    return folded(request.form.get("name", "")) or "nobody"


def is_failure(response: Response) -> bool:
    """Whether an answer counts as a failed try; where the history database is away nothing was tried."""
    return response.status_code >= 400 and response.status_code != 503


limiter = Limiter(address, storage_uri="memory://", strategy="moving-window", headers_enabled=False)
"""One process serves the console, so its own memory is enough."""


def limit_login(view: Callable[..., Any]) -> Callable[..., Any]:
    """Limit failed sign-ins, by address and by the user who is tried."""
    by_user = limiter.limit(LOGIN_PER_USER, key_func=_named_user, methods=["POST"], deduct_when=is_failure)
    by_address = limiter.limit(LOGIN_PER_ADDRESS, key_func=address, methods=["POST"], deduct_when=is_failure)
    limited: Callable[..., Any] = by_address(by_user(view))
    return limited


def limit_password(view: Callable[..., Any]) -> Callable[..., Any]:
    """Limit failed tries to give one's own password, all ways of giving it together.

    Whoever found an open browser, or a token, is not to try one password after the other.
    """
    for limit, key in ((LOGIN_PER_USER, _signed_in_user), (LOGIN_PER_ADDRESS, address)):
        shared = limiter.shared_limit(limit, scope="password", key_func=key, methods=["POST"], deduct_when=is_failure)
        view = shared(view)
    return view


def _signed_in_user() -> str:
    found = actor_or_none()
    return str(found.user.id) if found else "nobody"


def limit_setup(view: Callable[..., Any]) -> Callable[..., Any]:
    """Limit tries of the one-time code, whoever makes them."""
    limited: Callable[..., Any] = limiter.limit(
        SETUP, key_func=lambda: "setup", methods=["POST"], deduct_when=is_failure
    )(view)
    return limited


def limit_api(blueprint: Blueprint) -> None:
    """Limit the requests of a part of the API, and more strictly those that write."""
    limiter.limit(API, key_func=who)(blueprint)
    limiter.limit(API_WRITES, key_func=who, methods=WRITING)(blueprint)


def init_limits(app: Flask) -> None:
    """Count requests; after the guard, which knows who asks."""
    limiter.init_app(app)
