"""What objects looked like after each change by a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from shardsched.errors import HistoryUnavailableError
from shardsched.people.table import REVISIONS
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Select

    from shardsched.clock import Clock
    from shardsched.history.engine import Database

_ATTEMPT_COUNT = 20
"""How often the next number is drawn when others are always faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What one object looked like from some time on."""

    number: int
    """Which of the object's revisions, from 1 on."""
    at: datetime
    """When it was written."""
    actor: str
    """By whom."""
    tag: str
    """What the registry calls this version, to find who changed it since."""
    value: Any
    """The object as JSON; None where it was deleted."""


class Revisions:
    """The revisions of one namespace. **Thread:** any. Without an answer all raise HistoryUnavailableError."""

    def __init__(self, database: Database, clock: Clock, namespace: str) -> None:
        self._database = database
        self._clock = clock
        self._namespace = namespace

    def add(self, kind: str, name: str, value: Any, *, actor: str, tag: str = "") -> int:
        """Keep what an object looks like now, and return the revision's number.

        A version that was found before its author could write it down is given its author instead of a second entry.
        """
        for _ in range(_ATTEMPT_COUNT):
            number = self._try_add(kind, name, value, actor, tag)
            if number is not None:
                return number
        raise HistoryUnavailableError(
            Sentence("others write revisions of %(kind)s %(name)r all the time; try again", kind=kind, name=name)
        )

    def _try_add(self, kind: str, name: str, value: Any, actor: str, tag: str) -> int | None:
        row = {"namespace": self._namespace, "kind": kind, "object": name, "value": value}
        row |= {"at": self._clock.now(), "actor": actor, "tag": tag}
        try:
            with self._database.writing() as connection:
                found = connection.execute(self._newest(kind, name)).first()
                if found is not None and tag and found.tag == tag and "" in {found.actor, actor}:
                    if actor:
                        connection.execute(update(REVISIONS).where(REVISIONS.c.id == found.id).values(actor=actor))
                    return int(found.number)
                number = (found.number if found is not None else 0) + 1
                _insert(connection, row | {"number": number})
        except _TakenError:
            return None
        return number

    def note(self, kind: str, name: str, value: Any, *, tag: str) -> bool:
        """Keep what an object was found to look like, unless the version is known; return whether it was not.

        Nobody is named as its author: it was changed by other means than ours.
        """
        known = select(REVISIONS.c.id).where(*self._of(kind, name), REVISIONS.c.tag == tag).limit(1)
        with self._database.reading() as connection:
            if connection.execute(known).first() is not None:
                return False
        self.add(kind, name, value, actor="", tag=tag)
        return True

    def page(self, kind: str, name: str, *, before: int | None = None, limit: int = 50) -> Sequence[Revision]:
        """Return an object's revisions, the newest first, from those before a number on."""
        wanted = list(self._of(kind, name))
        if before is not None:
            wanted.append(REVISIONS.c.number < before)
        return self._read(wanted, limit)

    def get(self, kind: str, name: str, number: int) -> Revision | None:
        """Return one revision."""
        found = self._read([*self._of(kind, name), REVISIONS.c.number == number], 1)
        return found[0] if found else None

    def tagged(self, kind: str, name: str, tag: str) -> Revision | None:
        """Return the newest revision that the registry calls so: who made it, and when."""
        found = self._read([*self._of(kind, name), REVISIONS.c.tag == tag], 1)
        return found[0] if found else None

    def _newest(self, kind: str, name: str) -> Select[Any]:
        columns = (REVISIONS.c.id, REVISIONS.c.number, REVISIONS.c.tag, REVISIONS.c.actor)
        return select(*columns).where(*self._of(kind, name)).order_by(REVISIONS.c.number.desc()).limit(1)

    def _of(self, kind: str, name: str) -> tuple[Any, ...]:
        return (REVISIONS.c.namespace == self._namespace, REVISIONS.c.kind == kind, REVISIONS.c.object == name)

    def _read(self, wanted: list[Any], limit: int) -> list[Revision]:
        columns = [REVISIONS.c[field] for field in Revision.__dataclass_fields__]
        query = select(*columns).where(*wanted).order_by(REVISIONS.c.number.desc()).limit(limit)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return [Revision(**row._mapping) for row in rows]  # noqa: SLF001 - SQLAlchemy's documented way


class _TakenError(Exception):
    """Raised out of a transaction when somebody else took the number."""


def _insert(connection: Connection, row: dict[str, Any]) -> None:
    try:
        connection.execute(insert(REVISIONS).values(row))
    except IntegrityError:
        raise _TakenError from None
