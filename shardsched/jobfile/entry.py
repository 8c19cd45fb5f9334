"""What a job file holds, whichever form it has: jobs that can be taken, those that cannot, and what is left behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shardsched.errors import JobFileError
from shardsched.sentence import Sentence, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_JOB_COUNT = 10_000
"""Most jobs of one file; a guess at what a person can still look over."""
MAX_REASON_LENGTH = 400
"""Longest reason, in characters: it may quote a value of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A job as its file describes it; its settings are not checked yet."""

    name: str
    """The job's name."""
    settings: Mapping[str, Any]
    """Settings by the decorator's names."""
    place: str = ""
    """Where it stands in the file, such as ``line 12``; empty where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An entry that cannot be taken."""

    name: str
    """The job's name, as far as one can be made out."""
    reason: str
    """What is wrong with it."""
    place: str = ""
    """Where it stands in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something in the file that has no like here, while its job is taken."""

    what: str
    """The key or variable."""
    reason: str
    """What becomes of it instead."""
    name: str = ""
    """The job; empty when it concerns the whole file."""
    place: str = ""
    """Where it stands in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """All of one file."""

    form: str
    """Its form, such as ``crontab``."""
    entries: tuple[Entry, ...] = ()
    """The jobs, in the file's order; no two have one name."""
    refusals: tuple[Refusal, ...] = ()
    """The entries that cannot be taken."""
    remarks: tuple[Remark, ...] = ()
    """What is left behind."""


@dataclass(slots=True)
class Harvest:
    """Collects what a parser finds."""

    form: str
    """The file's form."""
    entries: list[Entry] = field(default_factory=list)
    """The jobs found."""
    refusals: list[Refusal] = field(default_factory=list)
    """The entries that cannot be taken."""
    remarks: list[Remark] = field(default_factory=list)
    """What is left behind."""
    names: set[str] = field(default_factory=set)
    """The names of the jobs found."""

    def add(self, name: str, settings: Mapping[str, Any], place: str = "") -> None:
        """Take a job; a second one of the same name is refused.

        Raises:
            JobFileError: The file holds too many.
        """
        if name in self.names:
            self.refuse(name, Sentence("another entry of the file has this name; give each its own"), place)
            return
        self.names.add(name)
        self.entries.append(Entry(name=name, settings=settings, place=place))
        self._check_count()

    def refuse(self, name: str, reason: str, place: str = "") -> None:
        """Note an entry that cannot be taken.

        Raises:
            JobFileError: The file holds too many.
        """
        self.refusals.append(Refusal(name=name[:200], reason=shortened(reason, MAX_REASON_LENGTH), place=place))
        self._check_count()

    def remark(self, what: str, reason: str, *, name: str = "", place: str = "") -> None:
        """Note what is left behind."""
        self.remarks.append(
            Remark(what=what[:200], reason=shortened(reason, MAX_REASON_LENGTH), name=name, place=place)
        )

    def parsed(self) -> Parsed:
        """Return all that was found."""
        return Parsed(
            form=self.form,
            entries=tuple(self.entries),
            refusals=tuple(self.refusals),
            remarks=tuple(self.remarks),
        )

    def _check_count(self) -> None:
        if len(self.entries) + len(self.refusals) > MAX_JOB_COUNT:
            raise JobFileError(Sentence("it holds more than %(most)s jobs; split it", most=MAX_JOB_COUNT))
