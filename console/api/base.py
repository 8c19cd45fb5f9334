"""What all resources of the API share: prefix, problems, limits, cursors and idempotency keys.

Versions are flask-smorest's: ``@blueprint.etag`` on a view, ``blueprint.set_etag`` and ``blueprint.check_etag`` in it.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

import flask_smorest
from flask import current_app, make_response, request
from flask_smorest.pagination import PaginationMetadataSchema
from werkzeug.exceptions import BadRequest, Conflict, HTTPException, UnprocessableEntity

from console.api.schema import ProblemSchema
from console.context import context
from console.limit import limit_api, who
from console.page_number import MAX_ID
from console.text import gettext as _
from shardsched.errors import HistoryUnavailableError, RegistryUnavailableError, SessionLostError, ShardschedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Response

PREFIX = "/api/v1"
PROBLEM_TYPE = "application/problem+json"
IDEMPOTENCY_HEADER = "Idempotency-Key"
_MAX_KEY_LENGTH = 200


class ConsoleApi(flask_smorest.Api):  # type: ignore[misc]  # it has no types
    """flask-smorest's, with problems of ours."""

    ERROR_SCHEMA = ProblemSchema

    def _register_error_handlers(self) -> None:
        """Leave them to `console.problem`, which tells pages and programs apart."""

    def _register_responses(self) -> None:
        """Document that errors are problems."""
        self.DEFAULT_RESPONSE_CONTENT_TYPE = PROBLEM_TYPE
        super()._register_responses()
        del self.DEFAULT_RESPONSE_CONTENT_TYPE

    def _register_pagination_header(self) -> None:
        """Document that the counts come as JSON."""
        content = {"application/json": {"schema": PaginationMetadataSchema}}
        self.spec.components.header("PAGINATION", {"description": "Counts of all pages", "content": content}, lazy=True)


def resource(name: str, description: str) -> Any:
    """Return a part of the API, limited like all of them.

    Args:
        name: Of the resource; its endpoints begin with ``api_`` and it.
        description: For the documentation.
    """
    blueprint = flask_smorest.Blueprint(
        f"api_{name}", f"console.api.{name}", url_prefix=PREFIX, description=description
    )
    limit_api(blueprint)
    return blueprint


def encode_cursor(*key: Any) -> str:
    """Return an opaque text for a place in a list."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def decode_cursor(text: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """Return the place in a list that a text stands for, None where there is no text.

    Raises:
        BadRequest: It is not one of ours.
    """
    if not text:
        return None
    try:
        key = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        key = None
    if not isinstance(key, list) or [type(part) for part in key] != list(kinds) or not all(map(_is_place, key)):
        raise BadRequest(_("The cursor is none of ours; begin with the first page."))
    return tuple(key)


def _is_place(part: Any) -> bool:
    """Whether a database can look for it."""
    return not isinstance(part, int) or 0 <= part <= MAX_ID


def idempotent(blueprint: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have a POST act once for each ``Idempotency-Key``; outermost on a view, below the route only.

    The answer to the first request with a key is given again to those that repeat it within a day. If the first one's
    outcome is not known, those that repeat it are told so and nothing is done.
    """
    header = {
        "in": "header",
        "name": IDEMPOTENCY_HEADER,
        "schema": {"type": "string", "maxLength": _MAX_KEY_LENGTH},
        "description": "Any text that is new for each intention, such as a UUID; kept for 24 hours",
    }

    def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(view)
        def once(*args: Any, **kwargs: Any) -> Any:
            given = request.headers.get(IDEMPOTENCY_HEADER)
            if given is None:
                return view(*args, **kwargs)
            if not 1 <= len(given) <= _MAX_KEY_LENGTH:
                raise BadRequest(_("The idempotency key has 1 to %(most)s characters.", most=_MAX_KEY_LENGTH))
            return _once(given, lambda: make_response(view(*args, **kwargs)))

        documented: Callable[..., Any] = blueprint.doc(parameters=[header])(once)
        return documented

    return decorate


def _once(given: str, act: Callable[[], Response]) -> Response:
    keys = context().people.idempotency
    key = hashlib.sha256(f"{who()}\0{given}".encode()).hexdigest()
    earlier = keys.begin(key, _request_digest())
    if earlier is not None:
        return _replayed(earlier)
    try:
        response = act()
    except (RegistryUnavailableError, SessionLostError, HistoryUnavailableError):
        raise  # it may have happened: the key stays taken, as it does after errors that nobody expected
    except (ShardschedError, HTTPException):
        keys.forget(key)
        raise
    keys.close(key, response.status_code, response.get_data(as_text=True), response.headers.get("Location", ""))
    return response


def _request_digest() -> str:
    """Return what tells this request from another with the same key; keyed, as bodies may hold passwords."""
    text = b"\0".join((request.method.encode(), request.full_path.encode(), request.get_data()))
    secret = str(current_app.secret_key).encode()
    return hmac.new(secret, text, hashlib.sha256).hexdigest()


def _replayed(earlier: Any) -> Response:
    if earlier.digest != _request_digest():
        raise UnprocessableEntity(_("That idempotency key was used for another request."))
    if earlier.status is None:
        raise Conflict(_("The first request with that key has no known outcome yet; look before you ask again."))
    response = current_app.response_class(earlier.body, earlier.status, mimetype="application/json")
    response.headers["Idempotency-Replayed"] = "true"
    if earlier.location:
        response.headers["Location"] = earlier.location
    return response
