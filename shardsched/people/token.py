"""Tokens with which programs use the API."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from shardsched.errors import HistoryUnavailableError
from shardsched.people.error import AccountError, AccountNotFoundError
from shardsched.people.role import Role
from shardsched.people.table import TOKENS, USERS
from shardsched.people.user import user_of
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row

    from shardsched.clock import Clock
    from shardsched.history.engine import Database
    from shardsched.people.user import User

DEFAULT_DAYS = 90
MAX_DAYS = 366
_SECRET = re.compile(r"sck_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")
_USED_STEP = timedelta(minutes=1)
"""How exactly the last use is kept."""
_COLUMNS = tuple(column.label(f"token_{column.name}") for column in TOKENS.c)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token; its secret is known to its holder only."""

    id: str
    """Identity; also part of the secret, so that a leaked one can be told."""
    user_id: int
    """Whose."""
    owner: str
    """The name of that user."""
    name: str
    """What it is for."""
    role: Role
    """What it may do; never more than its owner."""
    scope: str
    """Pattern of the names of jobs that it may change, such as ``news-*``; empty for all."""
    created_at: datetime
    """When it was made."""
    expires_at: datetime
    """When it ends."""
    used_at: datetime | None
    """When it was last used, within a minute."""
    revoked_at: datetime | None
    """When it was revoked."""

    def covers(self, job: str) -> bool:
        """Whether its scope has a job."""
        return not self.scope or fnmatchcase(job, self.scope)

    def state(self, now: datetime) -> str:
        """Return ``active``, ``expired`` or ``revoked``."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at <= now else "active"


class Tokens:
    """All tokens. **Thread:** any. Every method raises HistoryUnavailableError without an answer."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def create(
        self, user: User, name: str, role: Role, *, days: int = DEFAULT_DAYS, scope: str = ""
    ) -> tuple[str, Token]:
        """Make a token and return its secret, which cannot be had again.

        Args:
            user: Whose it is.
            name: What it is for.
            role: What it may do.
            days: How long it is valid.
            scope: Pattern of the names of jobs that it may change.

        Raises:
            AccountError: Something is refused.
        """
        name, scope = name.strip(), scope.strip()
        if not 1 <= len(name) <= 64 or not name.isprintable():
            raise AccountError(Sentence("the token needs a name of 1 to 64 characters"), field="name")
        if not user.role.includes(role):
            raise AccountError(
                Sentence(
                    "a token of %(name)s cannot be %(role)s; at most %(most)s",
                    name=user.name,
                    role=role,
                    most=user.role,
                ),
                field="role",
                code="role",
            )
        if not 1 <= days <= MAX_DAYS:
            raise AccountError(Sentence("a token is valid for 1 to %(most)s days", most=MAX_DAYS), field="days")
        if len(scope) > 128 or not scope.isprintable():
            raise AccountError(
                Sentence("the scope is a pattern of at most 128 characters, such as news-*"),
                field="scope",
                code="scope",
            )
        identity, secret, now = secrets.token_hex(4), secrets.token_urlsafe(32), self._clock.now()
        row = {
            "id": identity,
            "user_id": user.id,
            "name": name,
            "digest": _digest(secret),
            "role": role,
            "scope": scope,
            "created_at": now,
            "expires_at": now + timedelta(days=days),
        }
        with self._database.writing() as connection:
            connection.execute(insert(TOKENS).values(row))
        del row["digest"]
        token = Token(**{**row, "owner": user.name, "used_at": None, "revoked_at": None})  # type: ignore[arg-type]  # by name
        return f"sck_{identity}_{secret}", token

    def find(self, secret: str) -> tuple[Token, User] | None:
        """Return the valid token with a secret and its owner, and note that it is used."""
        match = _SECRET.fullmatch(secret)
        if match is None:
            return None
        now = self._clock.now()
        with self._database.reading() as connection:
            row = connection.execute(_all().where(TOKENS.c.id == match[1])).first()
        if row is None or not hmac.compare_digest(row.token_digest, _digest(match[2])):
            return None
        token, user = _token(row), user_of(row)
        if token.state(now) != "active":
            return None
        if token.used_at is None or now - token.used_at >= _USED_STEP:
            # Who only looks must not be kept from it by a database that can be read and not written.
            with contextlib.suppress(HistoryUnavailableError), self._database.writing() as connection:
                connection.execute(update(TOKENS).where(TOKENS.c.id == token.id).values(used_at=now))
        return token, user

    def get(self, identity: str) -> Token:
        """Return a token.

        Raises:
            AccountNotFoundError: There is no such token.
        """
        with self._database.reading() as connection:
            row = connection.execute(_all().where(TOKENS.c.id == identity)).first()
        if row is None:
            raise AccountNotFoundError(kind="token", name=identity)
        return _token(row)

    def list(self, user: User | None = None) -> Sequence[Token]:
        """Return all tokens, or a user's, the newest first."""
        wanted = _all().order_by(TOKENS.c.created_at.desc(), TOKENS.c.id)
        if user is not None:
            wanted = wanted.where(TOKENS.c.user_id == user.id)
        with self._database.reading() as connection:
            return [_token(row) for row in connection.execute(wanted)]

    def revoke(self, identity: str) -> bool:
        """End a token, and return whether it was not yet."""
        with self._database.writing() as connection:
            wanted = (TOKENS.c.id == identity, TOKENS.c.revoked_at.is_(None))
            return connection.execute(update(TOKENS).where(*wanted).values(revoked_at=self._clock.now())).rowcount > 0

    def revoke_all(self, user_id: int) -> None:
        """End all tokens of a user."""
        with self._database.writing() as connection:
            wanted = (TOKENS.c.user_id == user_id, TOKENS.c.revoked_at.is_(None))
            connection.execute(update(TOKENS).where(*wanted).values(revoked_at=self._clock.now()))


def _all() -> Any:
    return select(*_COLUMNS, *USERS.c).join_from(TOKENS, USERS)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _token(row: Row[Any]) -> Token:
    mapping = row._mapping  # noqa: SLF001 - SQLAlchemy's documented way
    values = {name: mapping[f"token_{name}"] for name in Token.__dataclass_fields__ if name != "owner"}
    owner = user_of(row)
    granted = Role(values["role"])
    # A token made by somebody who may do less now may do less, too.
    values["role"] = granted if owner.role.includes(granted) else owner.role
    return Token(**values, owner=owner.name)
