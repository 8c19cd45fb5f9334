"""Labels as they are written on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable


def parse_labels(texts: Iterable[str]) -> dict[str, str]:
    """Return labels given as texts such as ``zone=eu``.

    Raises:
        SettingsError: One is not such a text, or is given twice with other values.
    """
    labels: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise SettingsError(f"label {text!r} is not NAME=VALUE; write it such as zone=eu")
        if labels.setdefault(name, value) != value:
            raise SettingsError(f"label {name!r} is given twice; give it once")
    return labels
