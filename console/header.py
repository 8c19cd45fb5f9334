"""The headers of every answer: what a browser may do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import request

from console.context import context

if TYPE_CHECKING:
    from flask import Flask, Response

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_STYLED_BY_SCRIPT = frozenset({"docs.index"})
"""The API's page by Swagger UI writes style attributes; nothing else may."""
_YEAR_S = 365 * 24 * 3600


def init_headers(app: Flask) -> None:
    """Have every answer carry them."""
    app.after_request(_add)


def _add(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Content-Security-Policy"] = _policy(request.endpoint)
    if context().settings.is_https:
        response.headers["Strict-Transport-Security"] = f"max-age={_YEAR_S}; includeSubDomains"
    if request.endpoint == "static" and request.args.get("v") and response.status_code == 200:
        # The address changes with the content.
        response.headers["Cache-Control"] = f"public, max-age={_YEAR_S}, immutable"
    elif request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.add("Vary", "Cookie")
    return response


def _policy(endpoint: str | None) -> str:
    policy = dict(_POLICY)
    if endpoint in _STYLED_BY_SCRIPT:
        policy["style-src"] += " 'unsafe-inline'"
    return "; ".join(f"{name} {value}" for name, value in policy.items())
