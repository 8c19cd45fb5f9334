"""Sign-ins: one row each, so that they can be listed and ended."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, insert, or_, select, update

from shardsched.errors import HistoryUnavailableError
from shardsched.people.table import SESSIONS, USERS
from shardsched.people.user import user_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row

    from shardsched.clock import Clock
    from shardsched.history.engine import Database
    from shardsched.people.user import User

IDLE = timedelta(hours=12)
"""A sign-in unused for this long is over."""
LIFE = timedelta(days=7)
"""No sign-in lasts longer."""
PROOF = timedelta(minutes=10)
"""How long after giving the password one may do what asks for it."""
_SEEN_STEP = timedelta(minutes=1)
"""How exactly the last use is kept: a write at every request would be wasted."""
_COLUMNS = tuple(column.label(f"session_{column.name}") for column in SESSIONS.c)
_IS_OVER = or_(SESSIONS.c.seen_at < bindparam("least_seen"), SESSIONS.c.created_at < bindparam("least_created"))
_FIND = (
    select(*_COLUMNS, *USERS.c)
    .join_from(SESSIONS, USERS)
    .where(SESSIONS.c.id == bindparam("digest"), SESSIONS.c.epoch == USERS.c.epoch, ~_IS_OVER)
)
"""Made once, since every request of every browser asks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """One sign-in."""

    id: str
    """Digest of the secret in the cookie: who reads the database cannot sign in with it."""
    user_id: int
    """Whose."""
    created_at: datetime
    """When they signed in."""
    seen_at: datetime
    """When it was last used, within a minute."""
    proved_at: datetime
    """When the password was last given."""
    address: str
    """From where."""
    agent: str
    """With which browser, as it says of itself."""

    def is_proved(self, now: datetime) -> bool:
        """Whether the password was given a short while ago."""
        # A clock that was put back makes nobody proved for longer.
        return abs(now - self.proved_at) <= PROOF


class WebSessions:
    """All sign-ins. **Thread:** any. Every method raises HistoryUnavailableError without an answer."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def create(self, user: User, address: str, agent: str) -> str:
        """Begin a sign-in and return its secret, to be kept by the browser only."""
        secret, now = secrets.token_urlsafe(32), self._clock.now()
        row = {
            "id": secret_digest(secret),
            "user_id": user.id,
            "epoch": user.epoch,
            "created_at": now,
            "seen_at": now,
            "proved_at": now,
            "address": address[:64],
            "agent": agent[:200],
        }
        with self._database.writing() as connection:
            connection.execute(delete(SESSIONS).where(_IS_OVER), self._limits())
            connection.execute(insert(SESSIONS).values(row))
        return secret

    def find(self, secret: str) -> tuple[WebSession, User] | None:
        """Return the sign-in with a secret and its user, None if it is over; note that it is in use."""
        with self._database.reading() as connection:
            row = connection.execute(_FIND, {"digest": secret_digest(secret), **self._limits()}).first()
        if row is None:
            return None
        session, user = _session(row), user_of(row)
        if self._clock.now() - session.seen_at >= _SEEN_STEP:
            # Who only looks must not be kept from it by a database that can be read and not written.
            with contextlib.suppress(HistoryUnavailableError), self._database.writing() as connection:
                touched = update(SESSIONS).where(SESSIONS.c.id == session.id).values(seen_at=self._clock.now())
                connection.execute(touched)
        return session, user

    def prove(self, session_id: str) -> None:
        """Keep that the password was given just now."""
        with self._database.writing() as connection:
            now = self._clock.now()
            connection.execute(update(SESSIONS).where(SESSIONS.c.id == session_id).values(proved_at=now, seen_at=now))

    def of(self, user: User) -> Sequence[WebSession]:
        """Return a user's living sign-ins, the latest use first."""
        wanted = (SESSIONS.c.user_id == user.id, SESSIONS.c.epoch == user.epoch, ~_IS_OVER)
        statement = select(*_COLUMNS).where(*wanted).order_by(SESSIONS.c.seen_at.desc())
        with self._database.reading() as connection:
            rows = connection.execute(statement, self._limits()).all()
        return [_session(row) for row in rows]

    def end(self, session_id: str, *, user_id: int | None = None) -> bool:
        """End one sign-in, of that user if one is told, and return whether there was one."""
        wanted = [SESSIONS.c.id == session_id]
        if user_id is not None:
            wanted.append(SESSIONS.c.user_id == user_id)
        with self._database.writing() as connection:
            return connection.execute(delete(SESSIONS).where(*wanted)).rowcount > 0

    def end_all(self, user_id: int) -> None:
        """End all sign-ins of a user."""
        with self._database.writing() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.user_id == user_id))

    def _limits(self) -> dict[str, datetime]:
        """Return what `_IS_OVER` takes."""
        now = self._clock.now()
        return {"least_seen": now - IDLE, "least_created": now - LIFE}


def secret_digest(secret: str) -> str:
    """Return the identity of the sign-in with a secret."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _session(row: Row[Any]) -> WebSession:
    names = ("id", "user_id", "created_at", "seen_at", "proved_at", "address", "agent")
    mapping = row._mapping  # noqa: SLF001 - SQLAlchemy's documented way
    return WebSession(**{name: mapping[f"session_{name}"] for name in names})
