"""Names of jobs, executors and namespaces, checked before any path is built from them."""

from __future__ import annotations

from typing import Any

from shardsched.errors import ConfigurationError, JobConfigError, SettingsError

MAX_NAME_LENGTH = 128
"""Longest name, in characters."""
_LAST_CHARACTER = "\uffef"
"""Last character that ZooKeeper takes in a path."""


def name_fault(name: object) -> str | None:
    """Return what is wrong with a name, or None.

    A name has 1 to 128 letters (of any script), digits, ``-``, ``_`` and ``.``, and is not ``.`` or ``..``. That keeps
    it one part of a path in every registry: ZooKeeper refuses control characters and all beyond U+FFEF (letters of dead
    scripts and rare ideographs), and a lone surrogate would kill kazoo's connection thread for good (kazoo 2.11).
    """
    if not isinstance(name, str):
        return "it is not a text"
    if not name:
        return "it is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"it has {len(name)} characters"
    if name in {".", ".."}:
        return "it is a relative path"
    for character in name:
        if not (character.isalnum() or character in "-_.") or character > _LAST_CHARACTER:
            return f"it has the character {character!a}"
    return None


_CURE = "use 1 to 128 letters, digits, '-', '_' and '.'"


def check_job_name(name: str) -> str:
    """Return the name if it may be a job's.

    Raises:
        JobConfigError: With what is wrong and the rule.
    """
    fault = name_fault(name)
    if fault:
        raise JobConfigError(f"job name {_shown(name)} is refused: {fault}; {_CURE}", setting="name")
    return name


def check_executor_name(name: str) -> str:
    """Return the name if it may be an executor's.

    Raises:
        SettingsError: With what is wrong and the rule.
    """
    fault = name_fault(name)
    if fault:
        raise SettingsError(f"executor name {_shown(name)} is refused: {fault}; {_CURE}")
    return name


def check_namespace(namespace: Any) -> str:
    """Return the namespace without slashes at its ends; it is one or more names with ``/`` between them.

    Raises:
        SettingsError: With what is wrong and the rule.
    """
    parts = namespace.strip("/").split("/") if isinstance(namespace, str) else [""]
    for part in parts:
        fault = name_fault(part)
        if fault:
            raise SettingsError(f"namespace {_shown(namespace)} is refused: {fault} in a part of it; {_CURE}")
    if parts[0] == "zookeeper":
        raise SettingsError("namespace 'zookeeper' is refused: ZooKeeper keeps its own nodes there; give another")
    return "/".join(parts)


def _shown(name: object) -> str:
    text = ascii(name)
    return text if len(text) <= 60 else text[:57] + "...'"


def check_text(value: Any, what: str, error: type[ConfigurationError], max_length: int) -> None:
    """Refuse a text that cannot be stored.

    Raises:
        ConfigurationError: Of the class given, naming what it is.
    """
    if not isinstance(value, str):
        raise error(f"{what} is not a text; give a str")
    if len(value) > max_length:
        raise error(f"{what} has {len(value)} characters; {max_length} are allowed")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise error(f"{what} holds half a character (a lone surrogate); remove it") from None
    if "\0" in value:
        raise error(f"{what} holds a NUL character; remove it")
