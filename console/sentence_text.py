"""What the scheduler says, in the language of whoever looks."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from console.text import gettext
from shardsched.sentence import Foreign, Sentence, sentence_of


def said(text: str | BaseException) -> str:
    """Return a sentence in the language of whoever looks, with those inside it; any other text is returned as it is."""
    if isinstance(text, BaseException):
        text = sentence_of(text)
    if not isinstance(text, Sentence):
        return str(text)
    return _template(text) % {name: _value(value) for name, value in text.values.items()}


def said_html(text: str | BaseException) -> Markup:
    """Return a sentence as `said` does, for pages: what a library said is marked as English."""
    if isinstance(text, BaseException):
        text = sentence_of(text)
    if isinstance(text, Foreign):
        return Markup('<span lang="en">{}</span>').format(str(text))
    if not isinstance(text, Sentence):
        return escape(text)
    return escape(_template(text)) % {name: _html_value(value) for name, value in text.values.items()}


def _template(text: Sentence) -> str:
    return gettext(text.template)


def _value(value: Any) -> Any:
    return said(value) if isinstance(value, Sentence) else value


def _html_value(value: Any) -> Any:
    return said_html(value) if isinstance(value, Sentence | Foreign) else value
