"""Make the tables of runs, events and roll-ups."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Make them."""
    _make_runs()
    _make_events()
    _make_rollup("shardsched_minutes")
    _make_rollup("shardsched_hours")
    op.create_table("shardsched_forgotten", _key("namespace"), _key("job"), _number("before_us"))


def _make_runs() -> None:
    op.create_table(
        "shardsched_runs",
        _key("namespace"),
        _key("run_id"),
        _text("job"),
        _text("uid"),
        _number("item"),
        _number("items"),
        _number("fire_us"),
        _text("cause"),
        _number("attempt"),
        _text("executor"),
        _text("incarnation"),
        _number("token"),
        _number("queued_us"),
        sa.Column("started_us", sa.BigInteger),
        sa.Column("ended_us", sa.BigInteger),
        sa.Column("outcome", _TEXT),
        _text("message"),
        sa.Column("exit_code", sa.BigInteger),
        sa.Column("signal", sa.BigInteger),
        _number("peak_memory_kb"),
        sa.Column("cpu_s", sa.Float(53), nullable=False),
        sa.Column("duration_s", sa.Float(53), nullable=False),
        _text("log_path"),
        _number("dropped_bytes"),
        _text("param"),
        _text("job_param"),
        _text("stats"),
        _text("actor"),
        _text("traceback"),
        _text("log_tail"),
    )
    for name, columns, where in (
        ("time", (), None),
        ("job", ("job",), None),
        ("item", ("job", "item"), None),
        ("executor", ("executor",), None),
        ("outcome", ("outcome",), "outcome != 'ok'"),
        ("job_outcome", ("job", "outcome"), "outcome != 'ok'"),
        ("open", (), "outcome IS NULL"),
    ):
        _index("shardsched_runs", name, *columns, "queued_us", "run_id", where=where)
    _index("shardsched_runs", "fire", "job", "fire_us", "item")


def _make_events() -> None:
    op.create_table(
        "shardsched_events",
        _key("namespace"),
        _key("event_id"),
        _number("at_us"),
        _text("kind"),
        _text("executor"),
        _text("job"),
        sa.Column("item", sa.BigInteger),
        _text("run_id"),
        _text("actor"),
        _text("message"),
        _text("detail"),
    )
    _index("shardsched_events", "time", "at_us", "event_id")
    _index("shardsched_events", "kind", "kind", "at_us", "event_id")
    for name, column in (("job", "job"), ("executor", "executor"), ("run", "run_id")):
        _index("shardsched_events", name, column, "at_us", "event_id", where=f"{column} != ''")


def _make_rollup(table: str) -> None:
    op.create_table(
        table,
        _key("namespace"),
        _key("job"),
        sa.Column("start_us", sa.BigInteger, primary_key=True, autoincrement=False),
        _key("executor"),
        _key("outcome"),
        _number("runs"),
        _number("timed"),
        _number("duration_us"),
        _number("lateness_us"),
        *(sa.Column(f"h{number:02}", sa.Integer) for number in range(52)),
        sqlite_with_rowid=False,
    )
    _index(table, "start", "start_us")


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, _TEXT, primary_key=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, _TEXT, nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _index(table: str, name: str, *columns: str, where: str | None = None) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(
        f"{table}_{name}",
        table,
        ["namespace", *columns],
        sqlite_where=condition,
        postgresql_where=condition,
    )
