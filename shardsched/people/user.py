"""Users of the console."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from shardsched.history.schema import VERSION
from shardsched.people.error import AccountConflictError, AccountError, AccountNotFoundError
from shardsched.people.role import Role
from shardsched.people.table import SESSIONS, TOKENS, USERS
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row

    from shardsched.clock import Clock
    from shardsched.history.engine import Database

NAME_RULE = Sentence("use 2 to 64 letters, digits and any of . _ - @ +, beginning with a letter or digit")
_NAME = re.compile(r"[^\W_][\w.@+-]{1,63}")
_LAST_ROW = 2**31
"""Beyond it SQLite takes no number, and nobody has so many users."""
THEMES = ("auto", "light", "dark")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """One user."""

    id: int
    """Identity; never used again for another."""
    name: str
    """Unique, whatever the case."""
    role: Role
    """What they may do."""
    password_hash: str
    """Of the password, as argon2 writes it."""
    epoch: int
    """Grows when all their sign-ins must end."""
    version: int
    """Grows with every change."""
    language: str
    """Code of the language they chose, empty for that of the browser."""
    zone: str
    """Time zone they chose, empty for that of the browser."""
    theme: str
    """One of `THEMES`."""
    has_keys: bool
    """Whether single keys act."""
    created_at: datetime
    """When they were made."""
    signed_in_at: datetime | None
    """When they last signed in."""

    def __repr__(self) -> str:
        """Name only: the hash is nobody's business."""
        return f"User({self.name!r}, {self.role})"


def check_user_name(name: str) -> str:
    """Return a name, composed alike however it was typed, if it may be a user's.

    Raises:
        AccountError: With the rule.
    """
    composed = unicodedata.normalize("NFKC", name.strip())
    if not _NAME.fullmatch(composed):
        raise AccountError(
            Sentence("the user name %(name)a is refused; %(rule)s", name=composed[:70], rule=NAME_RULE),
            field="name",
        )
    return composed


def folded(name: str) -> str:
    """Return what two names that mean the same user have in common."""
    return unicodedata.normalize("NFKC", name.strip()).casefold()[:128]


class Users:
    """All users. **Thread:** any. Every method raises HistoryUnavailableError without an answer."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def is_empty(self) -> bool:
        """Whether there is none yet."""
        with self._database.reading() as connection:
            return connection.execute(select(USERS.c.id).limit(1)).first() is None

    def find(self, user_id: int) -> User | None:
        """Return the user with an id."""
        with self._database.reading() as connection:
            return _one(connection, USERS.c.id == user_id)

    def named(self, name: str) -> User | None:
        """Return the user with a name, whatever its case."""
        with self._database.reading() as connection:
            return _one(connection, USERS.c.folded == folded(name))

    def page(self, *, offset: int = 0, limit: int = 50) -> tuple[Sequence[User], int]:
        """Return some users by name, and how many there are in all."""
        with self._database.reading() as connection:
            wanted = select(USERS).order_by(USERS.c.folded).offset(min(offset, _LAST_ROW)).limit(limit)
            rows = connection.execute(wanted).all()
            count = connection.execute(select(func.count()).select_from(USERS)).scalar_one()
        return [user_of(row) for row in rows], count

    def create(self, name: str, role: Role, password_hash: str, *, only_first: bool = False) -> User:
        """Make a user.

        Args:
            name: Their name.
            role: What they may do.
            password_hash: Of their password.
            only_first: Make none if there is any already: of two who set up at once, one is late.

        Raises:
            AccountError: The name is refused.
            AccountConflictError: There is one of that name, or any at all where this must be the first.
        """
        name = check_user_name(name)
        values = {
            "name": name,
            "folded": folded(name),
            "role": role,
            "password_hash": password_hash,
            "epoch": 1,
            "version": 1,
            "language": "",
            "zone": "",
            "theme": "auto",
            "has_keys": True,
            "created_at": self._clock.now(),
        }
        with self._database.writing() as connection:
            if only_first:
                # Whoever else does so at once waits for us here: there is no user yet whose row could be locked.
                connection.execute(select(VERSION).with_for_update())
                if connection.execute(select(USERS.c.id).limit(1)).first() is not None:
                    raise AccountConflictError(user=name, code="not_first")
            try:
                row = connection.execute(insert(USERS).values(values).returning(USERS)).one()
            except IntegrityError:
                raise AccountConflictError(user=name, code="exists") from None
        return user_of(row)

    def update(self, user_id: int, changes: dict[str, Any], *, expected_version: int | None = None) -> User:
        """Change some of a user's fields; a new role or password ends all their sign-ins.

        Raises:
            AccountNotFoundError: There is no such user.
            AccountConflictError: They have another version than expected, or nobody would be admin any more.
        """
        with self._database.writing() as connection:
            user = _locked(connection, user_id)
            if expected_version not in {None, user.version}:
                raise AccountConflictError(user=user.name, code="stale")
            if changes.get("role", Role.ADMIN) != Role.ADMIN:
                _check_other_admin(connection, user)
            values = {**changes, "version": user.version + 1}
            if changes.get("role", user.role) != user.role or "password_hash" in changes:
                values["epoch"] = user.epoch + 1
            connection.execute(update(USERS).where(USERS.c.id == user_id).values(values))
            return _locked(connection, user_id)

    def note_sign_in(self, user_id: int, password_hash: str | None = None) -> None:
        """Keep when a user signed in, and the password's hash if it was made anew."""
        values: dict[str, Any] = {"signed_in_at": self._clock.now()}
        if password_hash is not None:
            values["password_hash"] = password_hash
        with self._database.writing() as connection:
            connection.execute(update(USERS).where(USERS.c.id == user_id).values(values))

    def delete(self, user_id: int, *, expected_version: int | None = None) -> User:
        """Remove a user with their sessions and tokens, and return who it was.

        Raises:
            AccountNotFoundError: There is no such user.
            AccountConflictError: They have another version than expected, or nobody would be admin any more.
        """
        with self._database.writing() as connection:
            user = _locked(connection, user_id)
            if expected_version not in {None, user.version}:
                raise AccountConflictError(user=user.name, code="stale")
            _check_other_admin(connection, user)
            for table in (SESSIONS, TOKENS):
                connection.execute(delete(table).where(table.c.user_id == user_id))
            connection.execute(delete(USERS).where(USERS.c.id == user_id))
        return user


def _locked(connection: Connection, user_id: int) -> User:
    """Return a user whose row nobody else changes until the end of the transaction.

    Admins are locked together, so that of two who demote each other one is told that they are the last.
    """
    wanted = (USERS.c.id == user_id) | (USERS.c.role == Role.ADMIN)
    rows = connection.execute(select(USERS).where(wanted).order_by(USERS.c.id).with_for_update()).all()
    row = next((row for row in rows if row.id == user_id), None)
    if row is None:
        raise AccountNotFoundError(kind="user", name=str(user_id))
    return user_of(row)


def _check_other_admin(connection: Connection, user: User) -> None:
    if user.role is not Role.ADMIN:
        return
    others = select(USERS.c.id).where(USERS.c.role == Role.ADMIN, USERS.c.id != user.id).limit(1)
    if connection.execute(others).first() is None:
        raise AccountConflictError(user=user.name, code="last_admin")


def _one(connection: Connection, wanted: Any) -> User | None:
    row = connection.execute(select(USERS).where(wanted)).first()
    return None if row is None else user_of(row)


def user_of(row: Row[Any]) -> User:
    """Return the user in a row that has all columns of users, and perhaps others."""
    mapping = row._mapping  # noqa: SLF001 - SQLAlchemy's documented way
    values = {field: mapping[field] for field in User.__dataclass_fields__}
    return User(**{**values, "role": Role(values["role"])})
