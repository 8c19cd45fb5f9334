"""The audit: what people did, and what was refused them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from shardsched.people.table import AUDIT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Row

    from shardsched.clock import Clock
    from shardsched.history.engine import Database


class Result(StrEnum):
    """What became of it."""

    PENDING = "pending"
    """It was begun; if it stays so, the console ended in the middle, and it may have happened."""
    DONE = "done"
    """It happened."""
    REFUSED = "refused"
    """It did not happen."""
    UNKNOWN = "unknown"
    """There was no answer: it may have happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing that somebody did."""

    id: int = 0
    """Identity, growing."""
    at: datetime | None = None
    """When it was begun."""
    actor: str
    """Name of the user, empty where nobody was signed in."""
    token: str = ""
    """The token they used, empty for the browser."""
    address: str = ""
    """From where."""
    action: str
    """Code of what they did, such as ``job.pause``."""
    kind: str = ""
    """What kind of object it concerns, such as ``job``."""
    object: str = ""
    """Its name."""
    before: Any = None
    """What it was, as JSON; secrets left out."""
    after: Any = None
    """What it became."""
    reason: str = ""
    """Why, as they say."""
    request_id: str = ""
    """Of the request."""
    result: Result = Result.PENDING
    """What became of it."""
    message: str = ""
    """What was answered where it was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which entries are wanted; empty fields take all."""

    actor: str = ""
    """By whom."""
    action: str = ""
    """Its code, or the part before the dot."""
    kind: str = ""
    """Of which kind of object."""
    kinds: frozenset[str] = frozenset()
    """Of which kinds of objects."""
    object: str = ""
    """Of which object."""
    result: str = ""
    """With which result."""
    since: datetime | None = None
    """From when on."""
    until: datetime | None = None
    """Before when."""


class Audit:
    """The audit of one namespace. **Thread:** any. Every method raises HistoryUnavailableError without an answer."""

    def __init__(self, database: Database, clock: Clock, namespace: str) -> None:
        self._database = database
        self._clock = clock
        self._namespace = namespace

    def begin(self, entry: AuditEntry) -> int:
        """Write an entry down before it is acted on, or one that is closed already, and return its identity."""
        row = {
            "namespace": self._namespace,
            "at": self._clock.now(),
            "actor": entry.actor[:64],
            "token": entry.token,
            "address": entry.address[:64],
            "action": entry.action,
            "kind": entry.kind,
            "object": _text(entry.object, 128),
            "before": entry.before,
            "after": entry.after,
            "reason": _text(entry.reason, 500),
            "request_id": entry.request_id,
            "result": entry.result,
            "message": _text(entry.message, 2000),
        }
        with self._database.writing() as connection:
            key = connection.execute(insert(AUDIT).values(row)).inserted_primary_key
        return int(key[0]) if key else 0

    def close(self, identity: int, result: Result, *, after: Any = None, message: str = "") -> None:
        """Write down what became of it; a closed entry is left as it is."""
        wanted = (AUDIT.c.id == identity, AUDIT.c.result == Result.PENDING)
        values: dict[str, Any] = {"result": result, "message": _text(message, 2000)}
        if after is not None:
            values["after"] = after
        with self._database.writing() as connection:
            connection.execute(update(AUDIT).where(*wanted).values(values))

    def page(self, wanted: AuditFilter, *, before_id: int | None = None, limit: int = 50) -> Sequence[AuditEntry]:
        """Return entries, the newest first, from those before an identity on."""
        query = select(AUDIT).where(AUDIT.c.namespace == self._namespace, *_conditions(wanted))
        if before_id is not None:
            query = query.where(AUDIT.c.id < before_id)
        with self._database.reading() as connection:
            return [_entry(row) for row in connection.execute(query.order_by(AUDIT.c.id.desc()).limit(limit))]

    def get(self, identity: int) -> AuditEntry | None:
        """Return one entry."""
        with self._database.reading() as connection:
            wanted = (AUDIT.c.id == identity, AUDIT.c.namespace == self._namespace)
            row = connection.execute(select(AUDIT).where(*wanted)).first()
        return None if row is None else _entry(row)


def _conditions(wanted: AuditFilter) -> list[Any]:
    fields = ("actor", "kind", "object", "result")
    found: list[Any] = [AUDIT.c[field] == value for field in fields if (value := getattr(wanted, field))]
    if wanted.kinds:
        found.append(AUDIT.c.kind.in_(sorted(wanted.kinds)))
    if "." in wanted.action:
        found.append(AUDIT.c.action == wanted.action)
    elif wanted.action:
        found.append(AUDIT.c.action.startswith(f"{wanted.action}.", autoescape=True))
    if wanted.since is not None:
        found.append(AUDIT.c.at >= wanted.since)
    if wanted.until is not None:
        found.append(AUDIT.c.at < wanted.until)
    return found


def _text(text: str, length: int) -> str:
    """Return a text that every database takes: no NUL, no half characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")[:length]


def _entry(row: Row[Any]) -> AuditEntry:
    mapping = row._mapping  # noqa: SLF001 - SQLAlchemy's documented way
    values = {field: mapping[field] for field in AuditEntry.__dataclass_fields__}
    return AuditEntry(**{**values, "result": Result(values["result"])})
