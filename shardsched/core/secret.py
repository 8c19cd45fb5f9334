"""What must not be shown of a task: values under names that look like those of secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
"""Stands for a value that is not shown."""

_WORDS = re.compile(
    r"auth|cookie|token|secret|passw|pwd|passphrase|credential|session|signature|api[-_]?key|access[-_]?key|private",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"(://[^/?#@:\s]*):[^/?#@\s]*@")
_QUERY_VALUE = re.compile(r"([?&;])([^=&;#]+)=([^&;#]*)")


def looks_secret(name: str) -> bool:
    """Return whether a value of this name is better not shown."""
    return _WORDS.search(name) is not None


def shown_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by name, those of secrets hidden, and those within URLs."""
    return {
        name: HIDDEN if looks_secret(name) else shown_url(value) if isinstance(value, str) else value
        for name, value in values.items()
    }


def shown_url(url: str) -> str:
    """Return a URL with its password and the secrets of its query hidden."""
    url = _PASSWORD.sub(rf"\1:{HIDDEN}@", url)
    return _QUERY_VALUE.sub(lambda found: f"{found[1]}{found[2]}={HIDDEN if looks_secret(found[2]) else found[3]}", url)


def shown_task(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task as people may see it: with its secrets hidden, whatever else it holds."""
    shown = {name: shown_values(value) if isinstance(value, Mapping) else value for name, value in task.items()}
    url = task.get("url")
    return shown | {"url": shown_url(url)} if isinstance(url, str) else shown
