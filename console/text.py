"""Texts in the language of whoever looks: Flask-Babel's functions, with types."""

from __future__ import annotations

from typing import Any

import flask_babel


def gettext(message: str, **values: Any) -> str:
    """Return a text in the language of whoever looks, with its values filled in."""
    return str(flask_babel.gettext(message, **values))


def ngettext(one: str, many: str, number: int, **values: Any) -> str:
    """Return a text for a number of things, which is also its value ``num``."""
    return str(flask_babel.ngettext(one, many, number, **values))


def lazy_gettext(message: str) -> Any:
    """Return what becomes a text when it is shown."""
    return flask_babel.lazy_gettext(message)
