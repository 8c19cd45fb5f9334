"""The lines of a crontab, each taken apart as Debian's cron does."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VARIABLE = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z_][A-Za-z0-9_]*))\s*=\s*(.*?)\s*""")
_MACRO = re.compile(r"\s*(@\w+)(?:[ \t]+(.*))?")
_FIELDS = re.compile(r"\s*((?:[^ \t]+[ \t]+){5})(.*)")
_FIELD = re.compile(r"[-\d*A-Za-z,/~#?]+")
_FIRST_FIELD = re.compile(r"-?[\d*][-\d*,/~]*|-?[HhRr](?:/\d+|\(.*\))?")
_USER = re.compile(r"[a-z_][a-z0-9_.-]*\$?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A setting of the environment, for the entries below it."""

    name: str
    """Its name."""
    value: str
    """Its value, without quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule and what follows it."""

    cron: str
    """Five fields or a macro."""
    rest: str
    """The command, after the user where the table has users."""


def is_comment(line: str) -> bool:
    """Whether a line is a comment."""
    return line.lstrip().startswith("#")


def parse_variable(line: str) -> Variable | None:
    """Return the variable that a line sets, or None."""
    found = _VARIABLE.fullmatch(line)
    if found is None or parse_schedule(line) is not None:
        return None
    value = found[4]
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return Variable(name=next(name for name in found.groups()[:3] if name is not None), value=value)


def parse_schedule(line: str) -> Schedule | None:
    """Return the schedule that a line begins with, or None; whether it is valid is not looked at."""
    macro = _MACRO.fullmatch(line)
    if macro is not None:
        return Schedule(cron=macro[1], rest=(macro[2] or "").strip())
    found = _FIELDS.fullmatch(line)
    if found is None:
        return None
    fields = found[1].split()
    if not _FIRST_FIELD.fullmatch(fields[0]) or not all(_FIELD.fullmatch(field) for field in fields[1:]):
        return None
    # A dash before the minute keeps SUSE's cron from logging; it is no part of the schedule.
    return Schedule(cron=" ".join([fields[0].removeprefix("-"), *fields[1:]]), rest=found[2].strip())


def split_user(rest: str) -> tuple[str, str]:
    """Return the user and the command of a system crontab's entry; the user is empty where there is none."""
    user, *command = rest.split(maxsplit=1)[:2] or [""]
    return (user, command[0].strip() if command else "") if _USER.fullmatch(user) else ("", rest)


def split_input(rest: str) -> tuple[str, str | None]:
    """Return the command and what it is given to read: from the first bare ``%`` on, each further one a new line."""
    parts = [part.replace("\\%", "%") for part in re.split(r"(?<!\\)%", rest)]
    return parts[0].strip(), "\n".join(parts[1:]) if len(parts) > 1 else None
