"""Sentences for people that can be said in another language: English texts that remember what they were made of.

Whoever makes a sentence writes it in English, as a template with named values. Whoever shows it to somebody of another
language translates the template and fills the values in again, as the console does. To all others it is English text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Sentence(str):
    """An English sentence made of a template and values, of which some may be sentences too.

    The template is filled in by ``%``: with ``%(name)s``, ``%(name)r``, ``%(count)d``, and ``%%`` for a percent sign.
    A copy made by `copy` or `pickle` is the English text alone, since values may be of any type.

    Attributes:
        template: The text with places for values.
        values: The values by name.

    Example:
        >>> Sentence("job %(job)r has no item %(item)d", job="news", item=7)
        "job 'news' has no item 7"
    """

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Sentence:
        """Make the sentence, and its English text."""
        made = super().__new__(cls, template % values)
        made.template = template
        made.values = values
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy as the English text alone."""
        return str, (str(self),)


class Foreign(str):
    """What a library or an operating system said, in English: part of a sentence, and not ours to translate."""

    __slots__ = ()


def recalled(text: str, *known: Sentence) -> str:
    """Return a text that was stored as the sentence that it is, as one of others if it is none that is known.

    Args:
        text: The text, as it was stored by whoever made the sentence.
        known: The sentences that it may be, with any values; all their places are ``%(name)s``.
    """
    for one in known:
        literals = re.split(r"%\((\w+)\)s", one.template)
        pattern = "".join(f"(?P<{part}>.+)" if index % 2 else re.escape(part) for index, part in enumerate(literals))
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match:
            return Sentence(one.template, **match.groupdict())
    return Foreign(text)


def sentence_of(error: BaseException) -> str:
    """Return what an error says as the sentence that it was raised with, where it was one."""
    said = error.args[0] if error.args else None
    return said if isinstance(said, Sentence) else str(error)


def shortened(text: str, length: int) -> str:
    """Return a text cut to a number of characters; one that is short enough stays the sentence that it is."""
    return text if len(text) <= length else text[:length]
