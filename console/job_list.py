"""Which jobs a list shows, in which order, and how each stands; worked out once for all who look at the same sight."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from console.sentence_text import said
from shardsched.core.reason import JobState
from shardsched.core.sight import ItemSight
from shardsched.core.task import is_builtin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from console.fleet import Sight
    from shardsched.admin.status import ItemStatus, JobStatus
    from shardsched.core.job import JobConfig

CODE = "code"
"""Kind of the jobs that run code of the executors' modules."""
SORTS = ("name", "state", "items", "next", "rate")
FAILING = "failing"
MISSED = "missed"
UNOWNED = "unowned"
HELD = "held"
DISABLED = "disabled"
PROBLEMS = (FAILING, MISSED, UNOWNED, HELD, DISABLED)
_BAD = frozenset({ItemSight.FAILED, ItemSight.LOST, ItemSight.RETRY, ItemSight.UNREADABLE})


class Row(NamedTuple):
    """One job of a list."""

    name: str
    """Its name."""
    folded: str
    """What a text is looked for in."""
    status: JobStatus
    """As it was seen."""
    kind: str
    """`CODE`, or the name of a built-in handler; empty where the configuration cannot be read."""
    codes: tuple[str, ...]
    """The state of each item, as pages show it."""
    running: tuple[ItemStatus, ...]
    """Those of its items that run."""
    problems: frozenset[str]
    """What is wrong."""
    shown_key: int
    """Another one whenever anything of it changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which jobs are wanted; what is empty takes all."""

    text: str = ""
    """In its name, description or handler."""
    state: str = ""
    """Its state, or ``running``."""
    kind: str = ""
    """Its kind."""
    executor: str = ""
    """Who owns an item of it."""
    problem: str = ""
    """What is wrong with it; ``any`` for anything but switched-off items."""
    sort: str = "name"
    """By what they are ordered; ``-`` before it turns it round."""

    @classmethod
    def of(cls, args: Mapping[str, Any]) -> Wanted:
        """Return the filter of an address or a form."""
        given = {
            name: str(args.get(name) or "").strip()[:128] for name in ("state", "kind", "executor", "problem", "sort")
        }
        sort = given.pop("sort")
        return cls(
            text=str(args.get("q") or "").strip()[:128],
            sort=sort if sort.removeprefix("-") in SORTS else "name",
            **given,
        )

    @property
    def is_filtering(self) -> bool:
        """Whether it leaves any job out."""
        return any((self.text, self.state, self.kind, self.executor, self.problem))

    def as_query(self) -> dict[str, str]:
        """Return the filter as the parameters of an address."""
        given = {
            "q": self.text,
            "state": self.state,
            "kind": self.kind,
            "executor": self.executor,
            "problem": self.problem,
        }
        return {name: value for name, value in given.items() if value}

    def takes(self, row: Row) -> bool:
        """Whether a job is wanted."""
        return (
            (not self.text or self.text.casefold() in row.folded)
            and (not self.state or self._takes_state(row))
            and (not self.kind or row.kind == self.kind)
            and (not self.executor or self.executor in row.status.owners)
            and (not self.problem or self._takes_problem(row))
        )

    def _takes_state(self, row: Row) -> bool:
        if self.state == "running":
            return any(item.sight.is_running for item in row.status.items)
        return row.status.state == self.state

    def _takes_problem(self, row: Row) -> bool:
        if self.problem == "any":
            return bool(row.problems - {DISABLED})
        return self.problem in row.problems


class JobIndex:
    """The rows of all jobs as last seen. **Thread:** any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._status: object = None
        self._rows: dict[str, Row] = {}
        self._keys = itertools.count(1)

    def rows(self, sight: Sight) -> tuple[Row, ...]:
        """Return all jobs, by name."""
        with self._lock:
            return tuple(self._fresh(sight).values())

    def row(self, sight: Sight, name: str) -> Row | None:
        """Return one job, None if there is none."""
        with self._lock:
            return self._fresh(sight).get(name)

    def _fresh(self, sight: Sight) -> dict[str, Row]:
        if sight.status is not self._status:
            self._status = sight.status
            self._rows = {job.entry.name: self._row(job) for job in sight.status.jobs} if sight.status else {}
        return self._rows

    def _row(self, job: JobStatus) -> Row:
        """Return the row of a job: the one that there is unless the job was seen to be another."""
        known = self._rows.get(job.entry.name)
        return known if known is not None and known.status is job else make_row(job, next(self._keys))


def wanted_rows(rows: Sequence[Row], wanted: Wanted, rates: Mapping[str, float]) -> list[Row]:
    """Return the rows that are wanted, in the wanted order."""
    found = [row for row in rows if wanted.takes(row)]
    key = _KEYS[wanted.sort.removeprefix("-")]
    found.sort(key=lambda row: key(row, rates), reverse=wanted.sort.startswith("-"))
    return found


_STATE_ORDER = {JobState.HELD: 0, JobState.UNOWNED: 1, JobState.ENABLED: 2, JobState.PAUSED: 3}
_KEYS: Mapping[str, Callable[[Row, Mapping[str, float]], Any]] = {
    "name": lambda row, _: row.name.casefold(),
    "state": lambda row, _: (_STATE_ORDER[row.status.state], not row.problems, row.name.casefold()),
    "items": lambda row, _: len(row.codes),
    "next": lambda row, _: (
        row.status.next_fire is None,
        row.status.next_fire.timestamp() if row.status.next_fire else 0.0,
    ),
    "rate": lambda row, rates: rates.get(row.name, 2.0),
}


def job_kind(config: JobConfig | None) -> str:
    """Return what kind of job it is."""
    if config is None:
        return ""
    return config.handler if is_builtin(config.handler) else CODE


def item_words(code: str, item: ItemStatus) -> str:
    """Return who has an item, or why nobody does, for people who point at it."""
    holder = item.marker.executor if item.marker is not None else item.owner
    return " · ".join(filter(None, (code, holder, said(item.reason or ""))))


def make_row(job: JobStatus, shown_key: int = 0) -> Row:
    """Return the row of a job."""
    config = job.entry.config
    codes = tuple(item.sight.value for item in job.items)
    texts = (job.entry.name, config.description, config.handler) if config else (job.entry.name,)
    return Row(
        name=job.entry.name,
        folded="\n".join(texts).casefold(),
        status=job,
        kind=job_kind(config),
        codes=codes,
        running=tuple(item for item in job.items if item.marker is not None),
        problems=frozenset(_problems(job, set(codes))),
        shown_key=shown_key,
    )


def _problems(job: JobStatus, codes: set[str]) -> list[str]:
    found = []
    if job.state is JobState.HELD:
        return [HELD]
    if codes & _BAD:
        found.append(FAILING)
    if ItemSight.MISSED in codes:
        found.append(MISSED)
    if job.state is JobState.UNOWNED or "unowned" in codes:
        found.append(UNOWNED)
    if "disabled" in codes:
        found.append(DISABLED)
    return found
