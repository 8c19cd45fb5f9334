"""Secrets of tasks, which are not written into job files unless that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardsched.core.secret import HIDDEN, looks_secret, shown_url, shown_values


def restored_task(task: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file's task with what is hidden in it taken from the stored one, as far as that has it."""
    restored = dict(task)
    for key, value in task.items():
        kept = stored.get(key)
        if isinstance(value, Mapping) and isinstance(kept, Mapping):
            shown = shown_values(kept)
            restored[key] = {
                name: kept[name] if name in kept and text == shown[name] else text for name, text in value.items()
            }
        elif key == "url" and isinstance(kept, str) and value == shown_url(kept):
            restored[key] = kept
    return restored


def hidden_name(task: Mapping[str, Any]) -> str | None:
    """Return the name of a value that is hidden in a task, or None."""
    for key, value in task.items():
        if key == "url" and _is_partly_hidden(value):
            return "url"
        for name, text in value.items() if isinstance(value, Mapping) else ():
            if (text == HIDDEN and looks_secret(name)) or _is_partly_hidden(text):
                return f"{key}.{name}"
    return None


def _is_partly_hidden(text: Any) -> bool:
    return isinstance(text, str) and (f"={HIDDEN}" in text or f":{HIDDEN}@" in text)
