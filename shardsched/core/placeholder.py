"""What a run puts into the text of its task: ``{item}`` and its kin.

Each is replaced once and what it is replaced by is never looked at again, so that a parameter cannot bring in another
one. All else in braces stays as it is, since JSON and awk have braces of their own.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLACEHOLDERS = ("item", "items", "param", "job_param", "fire_time", "run_id", "attempt", "fencing_token")
"""Names that stand for a value of the run."""

_PLACEHOLDER = re.compile("{(" + "|".join(PLACEHOLDERS) + ")}")


def fill(text: str, values: Mapping[str, str], encode: Callable[[str], str] = str) -> str:
    """Return a text with each placeholder replaced by its value.

    Args:
        text: As the task gives it.
        values: By the placeholder's name; what is missing is empty.
        encode: How a value must be written where the text goes.
    """
    return _PLACEHOLDER.sub(lambda found: encode(values.get(found[1], "")), text)


def names_in(text: str) -> frozenset[str]:
    """Return the names of the placeholders in a text."""
    return frozenset(_PLACEHOLDER.findall(text))


def in_url(value: str) -> str:
    """Return a value that stays one part of a URL or of a form, whatever it holds."""
    return quote(value, safe="")


def in_json(value: str) -> str:
    """Return a value that stays within the quotes of a JSON text."""
    return json.dumps(value)[1:-1]
