"""Addresses of pages, worked out once: a list has six in each row, and they are the same for everybody."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import flask
from flask import request


def url_for(endpoint: str, **values: Any) -> str:
    """Return the address of a view on this site, as Flask's function of that name does."""
    return _address(request.script_root, endpoint, tuple(values.items()))


@lru_cache(maxsize=16_384)
def _address(_root: str, endpoint: str, values: tuple[tuple[str, Any], ...]) -> str:
    return flask.url_for(endpoint, **dict(values))
