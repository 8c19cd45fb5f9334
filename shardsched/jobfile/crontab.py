"""Crontabs, of one user or of the system: each entry becomes a job of the built-in kind shell."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from shardsched.jobfile.crontab_line import (
    is_comment,
    parse_schedule,
    parse_variable,
    split_input,
    split_user,
)
from shardsched.jobfile.entry import Harvest
from shardsched.jobfile.naming import Names, name_of
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.jobfile.crontab_line import Schedule
    from shardsched.jobfile.entry import Parsed

HANDLER = "@shell"
"""The built-in handler of shell commands."""
_SHELLS = {"/bin/sh", "/usr/bin/sh"}
_NO_LIKE = {
    "MAILTO": Sentence("no mail is sent; the output of each run is kept on its executor"),
    "MAILFROM": Sentence("no mail is sent"),
    "CONTENT_TYPE": Sentence("no mail is sent"),
    "CONTENT_TRANSFER_ENCODING": Sentence("no mail is sent"),
    "RANDOM_DELAY": Sentence("every fire has one moment, the same on all executors"),
    "CRON_WITHIN": Sentence("see misfire_grace for how late a fire may start"),
    "START_HOURS_RANGE": Sentence("write the hours into the schedule"),
}
_MAX_TITLE_LENGTH = 60
"""Longest comment that may name a job, in characters; a longer one is prose."""
_HEADER = re.compile(r"\buser(?:-name)?\s+command\b", re.IGNORECASE)
_SYSTEM_USERS = {"root", "www-data", "nobody", "daemon", "mail", "postgres", "mysql", "nginx", "apache", "munin"}


def parse_crontab(text: str, *, is_system: bool | None = None) -> Parsed:
    """Return the jobs of a crontab.

    Args:
        text: The crontab.
        is_system: Whether a user stands before each command; None to find out.

    Raises:
        JobFileError: It holds too many entries.
    """
    lines = text.split("\n")
    return _Crontab(is_system=has_users(lines) if is_system is None else is_system).parse(lines)


def looks_like_crontab(text: str) -> bool:
    """Whether the first line that is neither empty nor a comment is one of a crontab."""
    for line in text.split("\n"):
        if line.strip() and not is_comment(line):
            return parse_schedule(line) is not None or parse_variable(line) is not None
    return False


def has_users(lines: Iterable[str]) -> bool:
    """Whether a user stands before each command: a comment says so, or each entry names one of the known users."""
    listed = list(lines)
    if any(is_comment(line) and _HEADER.search(line) for line in listed):
        return True
    entries = [entry for entry in map(parse_schedule, listed) if entry is not None]
    users = [split_user(entry.rest) for entry in entries]
    return bool(users) and all(user in _SYSTEM_USERS and command for user, command in users)


class _Crontab:
    """Reads one crontab from top to bottom; variables hold for the entries below them."""

    def __init__(self, *, is_system: bool) -> None:
        self._is_system = is_system
        self._harvest = Harvest("crontab")
        self._variables: dict[str, str] = {}
        self._comments: list[str] = []
        self._names = Names()

    def parse(self, lines: list[str]) -> Parsed:
        for number, line in enumerate(lines, 1):
            if is_comment(line):
                self._comments.append(line.strip().lstrip("#").strip())
                continue
            if line.strip():
                self._line(line, Sentence("line %(line)s", line=number), number)
            self._comments = []
        return self._harvest.parsed()

    def _line(self, line: str, place: str, number: int) -> None:
        variable, schedule = parse_variable(line), parse_schedule(line)
        if variable is not None:
            self._set(variable.name, variable.value, place)
        elif schedule is None:
            reason = Sentence(
                "it is neither NAME=VALUE nor a schedule of five fields or a macro with a command after it"
            )
            self._harvest.refuse("", Sentence("%(line)r: %(reason)s", line=line.strip()[:80], reason=reason), place)
        else:
            self._entry(schedule, place, number)

    def _set(self, name: str, value: str, place: str) -> None:
        if name in _NO_LIKE:
            self._harvest.remark(name, _NO_LIKE[name], place=place)
            return
        self._variables[name] = value

    def _entry(self, schedule: Schedule, place: str, number: int) -> None:
        rest, user = schedule.rest, ""
        if self._is_system:
            user, rest = split_user(rest)
        command, stdin = split_input(rest)
        title = self._title()
        wanted = name_of(title) or name_of(command_word(command)) or f"cron-{number}"
        name = self._names.unique(wanted)
        if not command or (self._is_system and not user):
            is_command = user or not self._is_system
            reason = Sentence("it has no command") if is_command else Sentence("it has no user")
            self._harvest.refuse(name, reason, place)
        elif schedule.cron.lower() == "@reboot":
            reason = Sentence(
                "there is no @reboot: no fire goes with a machine's start; have the machine's init start it"
            )
            self._harvest.refuse(name, reason, place)
        else:
            self._harvest.add(name, self._settings(schedule.cron, command, stdin), place)
            if user:
                self._harvest.remark(
                    "user",
                    Sentence("it runs as the executor's user, not as %(user)s", user=user),
                    name=name,
                    place=place,
                )

    def _title(self) -> str:
        """Return the comment above an entry if it may name it: one short line that is no schedule put out of use."""
        if len(self._comments) != 1 or len(self._comments[0]) > _MAX_TITLE_LENGTH:
            return ""
        comment = self._comments[0]
        return "" if parse_schedule(comment) or parse_variable(comment) or _HEADER.search(comment) else comment

    def _settings(self, cron: str, command: str, stdin: str | None) -> dict[str, Any]:
        settings: dict[str, Any] = {"handler": HANDLER, "cron": cron, "task": self._task(command, stdin)}
        zone = self._variables.get("CRON_TZ") or self._variables.get("TZ")
        if zone:
            settings["timezone"] = zone.removeprefix(":")
        prose = [comment for comment in self._comments if comment and not parse_schedule(comment)]
        if prose:
            settings["description"] = " ".join(prose)[:2000]
        return settings

    def _task(self, command: str, stdin: str | None) -> dict[str, Any]:
        if stdin is not None:
            command = with_input(command, stdin)
        shell = self._variables.get("SHELL", "")
        if shell and shell not in _SHELLS:
            command = f"exec {shlex.quote(shell)} -c {shlex.quote(command)}"
        task: dict[str, Any] = {"shell": command}
        env = {name: value for name, value in self._variables.items() if name not in {"CRON_TZ", "SHELL"}}
        if env:
            task["env"] = env
        if env.get("HOME"):
            task["cwd"] = env["HOME"]
        return task


def with_input(command: str, text: str) -> str:
    """Return a shell line that gives a command a text to read."""
    lines, end = text.split("\n"), "END_OF_INPUT"
    while end in lines:
        end += "_"
    body = f"{text}\n" if text else ""
    return f"{{ {command}\n}} <<'{end}'\n{body}{end}"


_WRAPPERS = {"sudo", "nice", "ionice", "nohup", "exec", "env", "time", "flock", "timeout", "setsid", "chronic"}
_INTERPRETERS = re.compile(r"(?:python|php|perl|ruby|node|java|bash|sh|zsh|ksh|dash)[\d.]*")
_NO_NAME = re.compile(r"|\[+|test|;|-.*|[\d.]+[smhd]?", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


def command_word(command: str) -> str:
    """Return the word of a command that says best what it does: a script rather than its interpreter."""
    words = command.replace("&&", " ; ").replace("(", " ").replace("{", " ").replace(";", " ; ").split()
    if words[:1] == ["cd"] and ";" in words:
        words = words[words.index(";") + 1 :]
    for index, word in enumerate(words):
        base = word.strip("\"'").rstrip("/").rpartition("/")[2]
        if _ASSIGNMENT.fullmatch(word) or base in _WRAPPERS or _NO_NAME.fullmatch(base):
            continue
        if _INTERPRETERS.fullmatch(base) and index + 1 < len(words):
            continue
        return base.rpartition(".")[0] or base if base.endswith((".sh", ".py", ".php", ".pl", ".rb", ".js")) else base
    return ""
