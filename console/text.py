"""Texts in the language of whoever looks: Flask-Babel's catalogues, looked up once a request."""

from __future__ import annotations

import html
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import flask_babel
from flask import g
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping


def gettext(message: str, **values: Any) -> str:
    """Return a text in the language of whoever looks, with its values filled in."""
    text: str = catalogue().ugettext(message)
    return text % values if values else text


def ngettext(one: str, many: str, number: int, **values: Any) -> str:
    """Return a text for a number of things, which is also its value ``num``."""
    text: str = catalogue().ungettext(one, many, number)
    return text % {"num": number, **values}


def lazy_gettext(message: str) -> Any:
    """Return what becomes a text when it is shown."""
    return flask_babel.LazyString(gettext, message)


def template_gettext(message: str, **values: Any) -> Markup:
    """Return a text as `gettext` does, for templates: ours is HTML, and what is filled in is only text."""
    text = _markup(catalogue(), message)
    return filled(text, values) if values or "%" in text else text


def filled(text: str, values: Mapping[str, Any]) -> Markup:
    """Return a text of ours with values filled in, as text; `Markup` does the same, and takes several times as long."""
    return Markup(str(text) % {name: safe(value) for name, value in values.items()})  # noqa: S704 - escaped


def safe(value: Any) -> str:
    """Return a value as HTML: a text as text, and what is HTML already as it is."""
    return value if isinstance(value, Markup) else html.escape(str(value))


@lru_cache(maxsize=4096)
def _markup(catalogue: Any, message: str) -> Markup:
    return Markup(catalogue.ugettext(message))  # noqa: S704 - of our own catalogues


def catalogue() -> Any:
    """Return the catalogue of the reader's language; outside of a request that of no language."""
    try:
        return g.catalogue
    except AttributeError:
        g.catalogue = flask_babel.get_translations()
        return g.catalogue
    except RuntimeError:
        return flask_babel.get_translations()


def lazy_ngettext(one: str, many: str) -> tuple[str, str]:
    """Return what `ngettext` makes a text of when the number is known."""
    return one, many
