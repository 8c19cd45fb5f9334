"""Make the tables of the console's people: users, sign-ins, tokens, audit, revisions, idempotency keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make them."""
    _make_users()
    _make_audit()
    op.create_table(
        "console_revisions",
        _id(),
        _text("namespace", 256),
        _text("kind", 32),
        _text("object", 128),
        sa.Column("number", sa.Integer, nullable=False),
        _time("at"),
        _text("actor", 64),
        _text("tag", 64),
        sa.Column("value", sa.JSON),
        sa.UniqueConstraint("namespace", "kind", "object", "number", name="console_revisions_number"),
    )
    op.create_table(
        "console_idempotency",
        sa.Column("key", sa.String(64), primary_key=True),
        _text("digest", 64),
        _time("at"),
        sa.Column("status", sa.Integer),
        sa.Column("body", sa.Text),
        sa.Column("location", sa.Text),
    )
    op.create_index("console_idempotency_at", "console_idempotency", ["at"])


def _make_users() -> None:
    op.create_table(
        "console_users",
        _id(),
        _text("name", 64),
        sa.Column("folded", sa.String(128), nullable=False, unique=True),
        _text("role", 16),
        _text("password_hash", 256),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        _text("language", 16),
        _text("zone", 64),
        _text("theme", 8),
        sa.Column("has_keys", sa.Boolean, nullable=False),
        _time("created_at"),
        sa.Column("signed_in_at", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "console_sessions",
        sa.Column("id", sa.String(64), primary_key=True),
        _user(),
        sa.Column("epoch", sa.Integer, nullable=False),
        _time("created_at"),
        _time("seen_at"),
        _time("proved_at"),
        _text("address", 64),
        _text("agent", 200),
    )
    op.create_table(
        "console_tokens",
        sa.Column("id", sa.String(16), primary_key=True),
        _user(),
        _text("name", 64),
        _text("digest", 64),
        _text("role", 16),
        _text("scope", 128),
        _time("created_at"),
        _time("expires_at"),
        sa.Column("used_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
    )
    for table in ("console_sessions", "console_tokens"):
        op.create_index(f"{table}_user_id", table, ["user_id"])


def _make_audit() -> None:
    op.create_table(
        "console_audit",
        _id(),
        _text("namespace", 256),
        _time("at"),
        _text("actor", 64),
        _text("token", 16),
        _text("address", 64),
        _text("action", 64),
        _text("kind", 32),
        _text("object", 128),
        sa.Column("before", sa.JSON),
        sa.Column("after", sa.JSON),
        _text("reason", 500),
        _text("request_id", 64),
        _text("result", 16),
        sa.Column("message", sa.Text, nullable=False),
    )
    for name, columns in (("object", ("kind", "object")), ("actor", ("actor",)), ("namespace", ())):
        op.create_index(f"console_audit_{name}", "console_audit", ["namespace", *columns, "id"])


def _id() -> sa.Column[int]:
    return sa.Column("id", _NUMBER, primary_key=True)


def _user() -> sa.Column[int]:
    return sa.Column("user_id", _NUMBER, sa.ForeignKey("console_users.id"), nullable=False)


def _text(name: str, length: int) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=False)


def _time(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)
