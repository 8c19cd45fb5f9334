"""Names of jobs, executors and namespaces, checked before any path is built from them."""

from __future__ import annotations

from typing import Any

from shardsched.errors import ConfigurationError, JobConfigError, SettingsError
from shardsched.sentence import Sentence

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
        return Sentence("it is not a text")
    if not name:
        return Sentence("it is empty")
    if len(name) > MAX_NAME_LENGTH:
        return Sentence("it has %(count)s characters", count=len(name))
    if name in {".", ".."}:
        return Sentence("it is a relative path")
    for character in name:
        if not (character.isalnum() or character in "-_.") or character > _LAST_CHARACTER:
            return Sentence("it has the character %(character)a", character=character)
    return None


_CURE = Sentence("use 1 to 128 letters, digits, '-', '_' and '.'")


def check_job_name(name: str) -> str:
    """Return the name if it may be a job's.

    Raises:
        JobConfigError: With what is wrong and the rule.
    """
    fault = name_fault(name)
    if fault:
        raise JobConfigError(
            Sentence("job name %(name)s is refused: %(fault)s; %(cure)s", name=_shown(name), fault=fault, cure=_CURE),
            setting="name",
        )
    return name


def check_executor_name(name: str) -> str:
    """Return the name if it may be an executor's.

    Raises:
        SettingsError: With what is wrong and the rule.
    """
    fault = name_fault(name)
    if fault:
        raise SettingsError(
            Sentence(
                "executor name %(name)s is refused: %(fault)s; %(cure)s", name=_shown(name), fault=fault, cure=_CURE
            )
        )
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
            raise SettingsError(
                Sentence(
                    "namespace %(namespace)s is refused: %(fault)s in a part of it; %(cure)s",
                    namespace=_shown(namespace),
                    fault=fault,
                    cure=_CURE,
                )
            )
    if parts[0] == "zookeeper":
        raise SettingsError(
            Sentence("namespace 'zookeeper' is refused: ZooKeeper keeps its own nodes there; give another")
        )
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
        raise error(Sentence("%(what)s is not a text; give a str", what=what))
    if len(value) > max_length:
        raise error(
            Sentence(
                "%(what)s has %(count)s characters; %(most)s are allowed", what=what, count=len(value), most=max_length
            )
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise error(Sentence("%(what)s holds half a character (a lone surrogate); remove it", what=what)) from None
    if "\0" in value:
        raise error(Sentence("%(what)s holds a NUL character; remove it", what=what))
