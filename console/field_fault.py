"""What the library that reads requests says of fields, in the language of whoever asks."""

from __future__ import annotations

from console.sentence_text import said
from shardsched.sentence import Sentence, recalled

_KNOWN = (
    Sentence("Missing data for required field."),
    Sentence("Field may not be null."),
    Sentence("Unknown field."),
    Sentence("Invalid input type."),
    Sentence("Invalid type."),
    Sentence("Invalid value."),
    Sentence("Not a valid string."),
    Sentence("Not a valid integer."),
    Sentence("Not a valid number."),
    Sentence("Number too large."),
    Sentence("Special numeric values (nan or infinity) are not permitted."),
    Sentence("Not a valid boolean."),
    Sentence("Not a valid list."),
    Sentence("Not a valid mapping type."),
    Sentence("Not a valid datetime."),
    Sentence("Not a valid aware datetime."),
    Sentence("Must be one of: %(choices)s.", choices=""),
    Sentence("One or more of the choices you made was not in: %(choices)s.", choices=""),
    Sentence("Length must be between %(low)s and %(high)s.", low="", high=""),
    Sentence("Longer than maximum length %(high)s.", high=""),
    Sentence("Shorter than minimum length %(low)s.", low=""),
    Sentence(
        "Must be greater than or equal to %(low)s and less than or equal to %(high)s.",
        low="",
        high="",
    ),
    Sentence("Must be greater than or equal to %(low)s.", low=""),
    Sentence("Must be less than or equal to %(high)s.", high=""),
    Sentence("too many of them"),
)
"""What marshmallow says where a field is not of its kind, or its value is outside what it may be; and what we say."""


def fault_text(message: str) -> str:
    """Return what is wrong with a field in the language of whoever asks, as it is where it is none that is known."""
    return said(recalled(message, *_KNOWN))
