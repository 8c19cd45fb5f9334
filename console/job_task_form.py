"""The task of a built-in handler as fields of a form: lines of text in place of lists and mappings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from console.text import gettext as _
from shardsched.core.task import HTTP, SCRAPY, SHELL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PREFIX = "task_"


class FormFault(ValueError):  # noqa: N818 - told beside a field, not an error of the program
    """Raised when a field's text is not what it must be; its text is for people."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that are not empty."""
    return [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


def pairs_of(text: str, mark: str) -> dict[str, str]:
    """Return the names and values in lines such as ``NAME=value``.

    Raises:
        FormFault: A line has no mark or no name, or a name comes twice.
    """
    pairs: dict[str, str] = {}
    for number, line in enumerate(lines_of(text), 1):
        name, found, value = line.partition(mark)
        name = name.strip()
        if not found or not name:
            raise FormFault(_("Line %(number)s is not NAME%(mark)sVALUE.", number=number, mark=mark))
        if name in pairs:
            raise FormFault(_("%(name)s is given twice.", name=name))
        pairs[name] = value.strip() if mark == ":" else value
    return pairs


def number_of(text: str) -> float | int:
    """Return a number as it is written.

    Raises:
        FormFault: It is none.
    """
    try:
        value = float(text)
    except ValueError:
        raise FormFault(_("This is not a number.")) from None
    if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - that is how a NaN shows
        raise FormFault(_("This is not a number."))
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def whole_of(text: str) -> int:
    """Return a whole number.

    Raises:
        FormFault: It is none.
    """
    try:
        return int(text)
    except ValueError:
        raise FormFault(_("This is not a whole number.")) from None


def _codes(text: str) -> list[int]:
    return [whole_of(part.strip()) for part in text.replace(" ", ",").split(",") if part.strip()]


def _any_values(text: str) -> dict[str, Any]:
    return {name: _json_or_text(value) for name, value in pairs_of(text, "=").items()}


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _pair_lines(value: Any, mark: str) -> str:
    return "\n".join(f"{name}{mark}{text}" for name, text in value.items()) if isinstance(value, dict) else ""


def _any_lines(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    shown = {
        name: text if isinstance(text, str) and _json_or_text(text) == text else json.dumps(text, ensure_ascii=False)
        for name, text in value.items()
    }
    return _pair_lines(shown, "=")


_READ: Mapping[str, Mapping[str, Callable[[str], Any]]] = {
    SHELL: {
        "argv": lines_of,
        "shell": str,
        "env": lambda text: pairs_of(text, "="),
        "cwd": str.strip,
        "ok_codes": _codes,
    },
    HTTP: {
        "url": str.strip,
        "method": str.strip,
        "headers": lambda text: pairs_of(text, ":"),
        "body": str,
        "expect": str.strip,
        "connect_timeout": number_of,
        "timeout": number_of,
        "redirects": whole_of,
    },
    SCRAPY: {"spider": str.strip, "settings": _any_values, "args": lambda text: pairs_of(text, "=")},
}
_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "argv": lambda value: "\n".join(map(str, value)) if isinstance(value, list) else "",
    "env": lambda value: _pair_lines(value, "="),
    "headers": lambda value: _pair_lines(value, ": "),
    "args": lambda value: _pair_lines(value, "="),
    "settings": _any_lines,
    "ok_codes": lambda value: ", ".join(map(str, value)) if isinstance(value, list) else "",
}


def read_task(handler: str, form: Mapping[str, str], faults: dict[str, str]) -> dict[str, Any]:
    """Return the task in a form's fields; what cannot be read is left out and told in the faults."""
    task: dict[str, Any] = {}
    for key, read in _READ.get(handler, {}).items():
        text = form.get(field_name(handler, key), "").replace("\r\n", "\n")
        if not text.strip():
            continue
        try:
            task[key] = read(text)
        except FormFault as fault:
            faults[field_name(handler, key)] = str(fault)
    return task


def task_values(handler: str, task: Mapping[str, Any]) -> dict[str, str]:
    """Return a task as the texts of a form's fields."""
    return {field_name(handler, key): _SHOWN.get(key, str)(task[key]) for key in _READ.get(handler, {}) if key in task}


def task_fields(handler: str) -> tuple[str, ...]:
    """Return the names of the fields of a handler's task."""
    return tuple(field_name(handler, key) for key in _READ.get(handler, {}))


def field_name(handler: str, key: str) -> str:
    """Return the name of the field that has a key of a handler's task."""
    return f"{PREFIX}{handler.removeprefix('@')}_{key}"
