"""The tables of history.

Times are whole microseconds since 1970 in UTC: exact, and the same in every database. Every table carries the
namespace, so that several fleets can share one database.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ColumnElement, Float, Index, Integer, MetaData, Table, Text, literal_column
from sqlalchemy.dialects import postgresql

from shardsched.history.histogram import SLOT_COUNT

METADATA = MetaData()

# Compared letter by letter, whatever the database's language, so that the order of pages is that of Python.
TEXT = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")

OK: ColumnElement[str] = literal_column("'ok'")
"""Written out in conditions, since only so a database sees that a partial index serves."""
EMPTY: ColumnElement[str] = literal_column("''")
"""Likewise."""

RUNS = Table(
    "shardsched_runs",
    METADATA,
    Column("namespace", TEXT, primary_key=True),
    Column("run_id", TEXT, primary_key=True),
    Column("job", TEXT, nullable=False),
    Column("uid", TEXT, nullable=False),
    Column("item", BigInteger, nullable=False),
    Column("items", BigInteger, nullable=False),
    Column("fire_us", BigInteger, nullable=False),
    Column("cause", TEXT, nullable=False),
    Column("attempt", BigInteger, nullable=False),
    Column("executor", TEXT, nullable=False),
    Column("incarnation", TEXT, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("queued_us", BigInteger, nullable=False),
    Column("started_us", BigInteger),
    Column("ended_us", BigInteger),
    Column("outcome", TEXT),
    Column("message", TEXT, nullable=False),
    Column("exit_code", BigInteger),
    Column("signal", BigInteger),
    Column("peak_memory_kb", BigInteger, nullable=False),
    Column("cpu_s", Float(53), nullable=False),
    Column("duration_s", Float(53), nullable=False),
    Column("log_path", TEXT, nullable=False),
    Column("dropped_bytes", BigInteger, nullable=False),
    Column("param", TEXT, nullable=False),
    Column("job_param", TEXT, nullable=False),
    Column("stats", TEXT, nullable=False),
    Column("actor", TEXT, nullable=False),
    # Last, since SQLite reads a row from its beginning and lists need neither.
    Column("traceback", TEXT, nullable=False),
    Column("log_tail", TEXT, nullable=False),
)
"""One row for each attempt. ``outcome`` is null while it runs."""

_ORDER = (RUNS.c.queued_us, RUNS.c.run_id)


def _index(name: str, *columns: Column[int] | Column[str], where: object = None) -> Index:
    return Index(name, *columns, sqlite_where=where, postgresql_where=where)


_index("shardsched_runs_time", RUNS.c.namespace, *_ORDER)
_index("shardsched_runs_job", RUNS.c.namespace, RUNS.c.job, *_ORDER)
_index("shardsched_runs_item", RUNS.c.namespace, RUNS.c.job, RUNS.c.item, *_ORDER)
_index("shardsched_runs_fire", RUNS.c.namespace, RUNS.c.job, RUNS.c.fire_us, RUNS.c.item)
_index("shardsched_runs_executor", RUNS.c.namespace, RUNS.c.executor, *_ORDER)
_index("shardsched_runs_outcome", RUNS.c.namespace, RUNS.c.outcome, *_ORDER, where=RUNS.c.outcome != OK)
_index(
    "shardsched_runs_job_outcome",
    RUNS.c.namespace,
    RUNS.c.job,
    RUNS.c.outcome,
    *_ORDER,
    where=RUNS.c.outcome != OK,
)
_index("shardsched_runs_open", RUNS.c.namespace, *_ORDER, where=RUNS.c.outcome.is_(None))

EVENTS = Table(
    "shardsched_events",
    METADATA,
    Column("namespace", TEXT, primary_key=True),
    Column("event_id", TEXT, primary_key=True),
    Column("at_us", BigInteger, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("executor", TEXT, nullable=False),
    Column("job", TEXT, nullable=False),
    Column("item", BigInteger),
    Column("run_id", TEXT, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("message", TEXT, nullable=False),
    Column("detail", TEXT, nullable=False),
)
"""One row for each event. ``event_id`` is made by whoever tells it, so that telling it twice makes one row."""

_WHEN = (EVENTS.c.at_us, EVENTS.c.event_id)
_index("shardsched_events_time", EVENTS.c.namespace, *_WHEN)
_index("shardsched_events_kind", EVENTS.c.namespace, EVENTS.c.kind, *_WHEN)
_index("shardsched_events_job", EVENTS.c.namespace, EVENTS.c.job, *_WHEN, where=EVENTS.c.job != EMPTY)
_index("shardsched_events_executor", EVENTS.c.namespace, EVENTS.c.executor, *_WHEN, where=EVENTS.c.executor != EMPTY)
_index("shardsched_events_run", EVENTS.c.namespace, EVENTS.c.run_id, *_WHEN, where=EVENTS.c.run_id != EMPTY)

SLOTS = tuple(f"h{number:02}" for number in range(SLOT_COUNT))
"""Columns of a roll-up that hold its histogram; null where nothing was counted, which takes no room."""


def _rollup(name: str) -> Table:
    table = Table(
        name,
        METADATA,
        Column("namespace", TEXT, primary_key=True),
        Column("job", TEXT, primary_key=True),
        Column("start_us", BigInteger, primary_key=True, autoincrement=False),
        Column("executor", TEXT, primary_key=True),
        Column("outcome", TEXT, primary_key=True),
        Column("runs", BigInteger, nullable=False),
        Column("timed", BigInteger, nullable=False),
        Column("duration_us", BigInteger, nullable=False),
        Column("lateness_us", BigInteger, nullable=False),
        *(Column(slot, Integer) for slot in SLOTS),
        sqlite_with_rowid=False,
    )
    _index(f"{name}_start", table.c.namespace, table.c.start_us)
    return table


MINUTES = _rollup("shardsched_minutes")
"""Runs by the minute in which they ended."""
HOURS = _rollup("shardsched_hours")
"""By the hour."""
DAYS = _rollup("shardsched_days")
"""By the day of UTC. ``timed`` of them have a duration and a lateness, and stand in the sums and the histogram."""

FORGOTTEN = Table(
    "shardsched_forgotten",
    METADATA,
    Column("namespace", TEXT, primary_key=True),
    Column("job", TEXT, primary_key=True),
    Column("before_us", BigInteger, nullable=False),
)
"""Deleted jobs whose rows up to a moment are still to be removed."""
