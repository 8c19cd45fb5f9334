"""What machines ask: is it alive, can it serve, how is the fleet."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from flask import Blueprint, Response, jsonify, request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from werkzeug.exceptions import Unauthorized

from console.context import actor_or_none, context
from console.metric import RECENT, fleet_metrics
from console.role import role
from shardsched.errors import HistoryError

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

    from shardsched.history.figure import Sum

blueprint = Blueprint("health", __name__)

_PORT = re.compile(r":\d*$")
_PROXY_HEADERS = ("X-Forwarded-For", "Forwarded", "X-Real-IP")


@blueprint.get("/healthz")
@role("public")
def healthz() -> ResponseReturnValue:
    """Say that the process answers."""
    return jsonify(status="ok")


@blueprint.get("/readyz")
@role("public")
def readyz() -> ResponseReturnValue:
    """Say whether the registry and the history database answer; 503 if one does not. No detail for strangers."""
    parts = context()
    checks = {"registry": parts.fleet.sight().fault is None, "history": True}
    try:
        parts.people.check()
    except HistoryError:
        checks["history"] = False
    words = {name: "ok" if is_well else "away" for name, is_well in checks.items()}
    is_ready = all(checks.values())
    return jsonify(status="ok" if is_ready else "away", checks=words), 200 if is_ready else 503


@blueprint.get("/metrics")
@role("public")
def metrics() -> ResponseReturnValue:
    """Give figures for Prometheus, to programs on this machine and to holders of a token.

    What comes through a proxy comes from elsewhere, whatever its address is.
    """
    if not _is_local() and actor_or_none() is None:
        raise Unauthorized
    recent: Sum | None = None
    with contextlib.suppress(HistoryError):
        recent = context().history.summary(since=context().clock.now() - RECENT)
    return Response(generate_latest(fleet_metrics(context().fleet.sight(), recent)), content_type=CONTENT_TYPE_LATEST)


def _is_local() -> bool:
    """Whether a program on this machine asks, for this machine.

    A page of another site that has its own name lead here reads what the browser may read: it asks by that name.
    """
    name = _PORT.sub("", request.host)
    return (
        request.remote_addr in {"127.0.0.1", "::1"}
        and name in {"localhost", "127.0.0.1", "[::1]"}
        and not any(header in request.headers for header in _PROXY_HEADERS)
    )
