"""The tables of the console's people and of what they did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

if TYPE_CHECKING:
    from sqlalchemy import Dialect

METADATA = MetaData()

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Instant(TypeDecorator[datetime]):
    """An aware time, stored as microseconds since 1970 so that every database compares it alike."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return what is stored."""
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Return the time, in UTC."""
        return None if value is None else _EPOCH + value * _MICROSECOND


_NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts up by itself in an INTEGER PRIMARY KEY only."""

USERS = Table(
    "console_users",
    METADATA,
    Column("id", _NUMBER, primary_key=True),
    Column("name", String(64), nullable=False),
    Column("folded", String(128), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("password_hash", String(256), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("language", String(16), nullable=False),
    Column("zone", String(64), nullable=False),
    Column("theme", String(8), nullable=False),
    Column("has_keys", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("signed_in_at", Instant),
    sqlite_autoincrement=True,  # an identity is never used again for another user
)
"""``folded`` keeps names apart that differ in case only; ``epoch`` grows when all sign-ins must end."""

SESSIONS = Table(
    "console_sessions",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("user_id", _NUMBER, ForeignKey(USERS.c.id), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("proved_at", Instant, nullable=False),
    Column("address", String(64), nullable=False),
    Column("agent", String(200), nullable=False),
)
"""Sign-ins. ``proved_at`` is when the password was last given."""

Index("console_sessions_user_id", SESSIONS.c.user_id)

TOKENS = Table(
    "console_tokens",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("user_id", _NUMBER, ForeignKey(USERS.c.id), nullable=False),
    Column("name", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("scope", String(128), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("used_at", Instant),
    Column("revoked_at", Instant),
)
"""Tokens of the API, by the digest of their secret. ``scope`` is a pattern of job names, empty for all."""

Index("console_tokens_user_id", TOKENS.c.user_id)

AUDIT = Table(
    "console_audit",
    METADATA,
    Column("id", _NUMBER, primary_key=True),
    Column("namespace", String(256), nullable=False),
    Column("at", Instant, nullable=False),
    Column("actor", String(64), nullable=False),
    Column("token", String(16), nullable=False),
    Column("address", String(64), nullable=False),
    Column("action", String(64), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("object", String(128), nullable=False),
    Column("before", JSON),
    Column("after", JSON),
    Column("reason", String(500), nullable=False),
    Column("request_id", String(64), nullable=False),
    Column("result", String(16), nullable=False),
    Column("message", Text, nullable=False),
)
"""What people did and what was refused them; rows are closed once and never changed again."""

Index("console_audit_object", AUDIT.c.namespace, AUDIT.c.kind, AUDIT.c.object, AUDIT.c.id)
Index("console_audit_actor", AUDIT.c.namespace, AUDIT.c.actor, AUDIT.c.id)
Index("console_audit_namespace", AUDIT.c.namespace, AUDIT.c.id)

REVISIONS = Table(
    "console_revisions",
    METADATA,
    Column("id", _NUMBER, primary_key=True),
    Column("namespace", String(256), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("object", String(128), nullable=False),
    Column("number", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    Column("actor", String(64), nullable=False),
    Column("tag", String(64), nullable=False),
    Column("value", JSON),
    UniqueConstraint("namespace", "kind", "object", "number", name="console_revisions_number"),
)
"""What an object looked like after each change by a person; ``value`` is null where it was deleted."""

IDEMPOTENCY = Table(
    "console_idempotency",
    METADATA,
    Column("key", String(64), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Column("status", Integer),
    Column("body", Text),
    Column("location", Text),
)
"""Answers to requests that must not act twice; ``status`` is null while the first one is under way."""

Index("console_idempotency_at", IDEMPOTENCY.c.at)
