"""What went wrong, told to people as a page and to programs as ``application/problem+json`` (RFC 9457).

One table has the status and the code of every error of ours. Codes are stable; texts are for people.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flask import g, jsonify, redirect, render_template, request, url_for
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import Forbidden, HTTPException, InternalServerError, Unauthorized
from werkzeug.http import HTTP_STATUS_CODES

from console.actor import ForbiddenError
from console.context import actor_or_none
from console.field_fault import fault_text
from console.form import local_address, path_of
from console.guard import SAFE_METHODS, is_program
from console.job_form import fault_setting
from console.label import problem_hint, problem_title
from console.sentence_text import said
from console.text import gettext
from console.trail import note_refusal
from shardsched.errors import (
    ConfigurationError,
    ConflictError,
    CorruptNodeError,
    CronExpressionError,
    HistoryError,
    ItemParameterError,
    JobConfigError,
    NotFoundError,
    RegistryAccessError,
    RegistryError,
    RegistryUnavailableError,
    SessionLostError,
    ShardschedError,
    StaleVersionError,
    ValueTooLargeError,
)
from shardsched.people.error import AccountConflictError
from shardsched.sentence import sentence_of

if TYPE_CHECKING:
    from flask import Flask
    from flask.typing import ResponseReturnValue

logger = logging.getLogger(__name__)

_TABLE: tuple[tuple[type[Exception], int, str], ...] = (
    (ForbiddenError, 403, "forbidden"),
    (ConfigurationError, 422, "invalid"),
    (NotFoundError, 404, "not-found"),
    (StaleVersionError, 412, "stale-write"),
    (ConflictError, 409, "conflict"),
    (CorruptNodeError, 409, "unreadable-record"),
    (ValueTooLargeError, 413, "too-large"),
    (RegistryAccessError, 503, "registry-refuses"),
    (RegistryUnavailableError, 503, "registry-away"),
    (SessionLostError, 503, "registry-away"),
    (RegistryError, 409, "registry-conflict"),
    (HistoryError, 503, "history-away"),
    (ShardschedError, 500, "error"),
)
"""The first line that fits counts."""
_HTTP_CODES = {
    400: "malformed",
    401: "not-signed-in",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    409: "conflict",
    412: "stale-write",
    413: "too-large",
    415: "wrong-media-type",
    422: "invalid",
    428: "if-match-required",
    429: "too-many-requests",
}
RETRY_LATER = {"Retry-After": "5"}
"""Header of what cannot be done at present, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What went wrong."""

    status: int
    """HTTP status."""
    code: str
    """Stable, for programs."""
    detail: str
    """For people."""
    errors: list[dict[str, str]] = field(default_factory=list)
    """Fields at fault: ``pointer``, ``code``, ``detail``."""
    headers: dict[str, str] = field(default_factory=dict)
    """Of the answer."""

    def as_json(self) -> dict[str, Any]:
        """Return the document."""
        document: dict[str, Any] = {
            "type": f"/problems/{self.code}",
            "title": problem_title(self.code) or HTTP_STATUS_CODES.get(self.status, ""),
            "status": self.status,
            "detail": said(self.detail),
            "code": self.code,
            "request_id": g.get("request_id", ""),
        }
        return document | ({"errors": self.errors} if self.errors else {})


def init_problems(app: Flask) -> None:
    """Have every error told."""
    app.register_error_handler(HTTPException, _on_http_error)
    app.register_error_handler(ShardschedError, _on_our_error)
    app.register_error_handler(Exception, _on_unexpected)


def problem_of(error: ShardschedError) -> Problem:
    """Return what to tell of an error of ours."""
    status, code = next((status, code) for kind, status, code in _TABLE if isinstance(error, kind))
    if isinstance(error, ForbiddenError):
        code = {"scope": "out-of-scope", "proof": "password-needed"}.get(error.code, code)
    if isinstance(error, AccountConflictError):
        code = {"stale": "stale-write", "exists": "user-exists"}.get(error.code, error.code.replace("_", "-"))
        status = 412 if error.code == "stale" else status
    name = _field_at_fault(error)
    faults = (
        [{"pointer": f"{g.get('fault_base', '')}/{name}", "code": getattr(error, "code", code), "detail": said(error)}]
        if name
        else []
    )
    headers = dict(RETRY_LATER) if status == 503 else {}
    return Problem(status=status, code=code, detail=sentence_of(error), errors=faults, headers=headers)


def _field_at_fault(error: ShardschedError) -> str | None:
    if isinstance(error, JobConfigError | CronExpressionError | ItemParameterError):
        return fault_setting(error)
    return getattr(error, "field", None) or getattr(error, "setting", None)


def _on_our_error(error: ShardschedError) -> ResponseReturnValue:
    if isinstance(error, ForbiddenError):
        note_refusal(error)
        if error.code == "proof" and not is_program():
            return redirect(url_for("login.proof", next=_way_back()))
    return answer(problem_of(error))


def _way_back() -> str:
    """Return where somebody goes on after giving the password; what was sent is not kept."""
    if request.method in SAFE_METHODS:
        return request.full_path.rstrip("?")
    return request.referrer or "/"


def _on_http_error(error: HTTPException) -> ResponseReturnValue:
    status = error.code or 500
    if error.response is not None and status < 400:
        return error.get_response()
    if isinstance(error, Unauthorized):
        return _on_unauthorized()
    if isinstance(error, Forbidden | CSRFError) and actor_or_none() is not None:
        note_refusal(error)
    data = getattr(error, "data", None) or {}
    detail = str(data.get("message") or _http_detail(error))
    headers = {name: value for name, value in error.get_headers() if name.lower() in {"allow", "retry-after"}}
    faults = list(_faults(data.get("errors") or data.get("messages") or {}))
    return answer(
        Problem(status=status, code=_HTTP_CODES.get(status, "error"), detail=detail, errors=faults, headers=headers)
    )


def _http_detail(error: HTTPException) -> str:
    """Return a text of ours where the error has none but that of its class, which is in English."""
    if error.description is not None and error.description != type(error).description:
        return str(error.description)
    return problem_hint(_HTTP_CODES.get(error.code or 500, "error")) or str(error.description or "")


def _on_unauthorized() -> ResponseReturnValue:
    here = request.full_path.rstrip("?") if request.method in SAFE_METHODS else "/"
    if "HX-Request" in request.headers:  # a part of a page, which is nothing to come back to
        here = local_address(path_of(request.headers.get("HX-Current-URL", "")))
    login = url_for("login.index", next=here)
    if not is_program():
        return redirect(login)
    headers = {"HX-Redirect": login} if "HX-Request" in request.headers else {"WWW-Authenticate": "Bearer"}
    return answer(Problem(status=401, code="not-signed-in", detail=gettext("Sign in first."), headers=headers))


def _faults(messages: Any, pointer: str = "") -> Any:
    """Yield the fields at fault of a validation's nested messages."""
    if isinstance(messages, dict):
        for name, inner in messages.items():
            # The outermost level says where the field was: in the body, the query or a header.
            is_place = not pointer and name in {"json", "query", "form", "headers", "path"}
            yield from _faults(inner, pointer if is_place else f"{pointer}/{name}")
    elif isinstance(messages, list):
        for message in messages:
            yield from _faults(message, pointer)
    else:
        yield {"pointer": pointer or "/", "code": "invalid", "detail": fault_text(str(messages))}


def _on_unexpected(error: Exception) -> ResponseReturnValue:
    logger.error(
        "a request failed unexpectedly: %s %s",
        request.method,
        request.path,
        exc_info=error,
        extra={"event": "console_request_failed", "request_id": g.get("request_id", "")},
    )
    return answer(
        Problem(
            status=500, code="error", detail=gettext("Something went wrong that nobody expected; it is in the log.")
        )
    )


def answer(problem: Problem) -> ResponseReturnValue:
    """Return the answer that tells a problem, in the form that whoever asked can use."""
    if is_program():
        response = jsonify(problem.as_json())
        response.mimetype = "application/problem+json"
        response.status_code = problem.status
        response.headers.update(problem.headers)
        return response
    try:
        page = render_template("error.html", problem=problem, title=problem_title(problem.code))
    except Exception:  # the page itself may need what is away
        logger.exception("the page that tells an error failed", extra={"event": "console_request_failed"})
        return InternalServerError().get_response()
    return page, problem.status, problem.headers
