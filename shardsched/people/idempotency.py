"""Requests that must not act twice, however often they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from shardsched.people.table import IDEMPOTENCY

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.history.engine import Database

LIFE = timedelta(hours=24)
"""How long an answer is kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to a request."""

    digest: str
    """Of the request that it was the answer to."""
    status: int | None
    """HTTP status, None while the request is under way."""
    body: str
    """Text of the answer."""
    location: str
    """Its Location header, or empty."""


class IdempotencyKeys:
    """Answers by key. **Thread:** any. Every method raises HistoryUnavailableError without an answer."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begin(self, key: str, digest: str) -> Answer | None:
        """Take a key for a request; return None if it is the first with it, else what is known of that one."""
        now = self._clock.now()
        with self._database.writing() as connection:
            connection.execute(delete(IDEMPOTENCY).where(IDEMPOTENCY.c.at < now - LIFE))
            row = connection.execute(select(IDEMPOTENCY).where(IDEMPOTENCY.c.key == key)).first()
            if row is None:
                try:
                    connection.execute(insert(IDEMPOTENCY).values(key=key, digest=digest, at=now))
                except IntegrityError:
                    # Another thread was faster, and its transaction is not over yet.
                    return Answer(digest, None, "", "")
        return None if row is None else Answer(row.digest, row.status, row.body or "", row.location or "")

    def close(self, key: str, status: int, body: str, location: str) -> None:
        """Keep the answer."""
        with self._database.writing() as connection:
            values = {"status": status, "body": body, "location": location}
            connection.execute(update(IDEMPOTENCY).where(IDEMPOTENCY.c.key == key).values(values))

    def forget(self, key: str) -> None:
        """Free a key whose request did nothing, so that it can be sent again."""
        with self._database.writing() as connection:
            connection.execute(delete(IDEMPOTENCY).where(IDEMPOTENCY.c.key == key))
