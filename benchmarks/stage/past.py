"""A history with many rows, made at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from shardsched.history.column import microseconds

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.history.engine import Database

NAMESPACE = "bench"
JOBS = 200
ITEMS = 10
EXECUTORS = 20


def fill(database: Database, rows: int, now: datetime, spacing_s: float = 1.0, tail_bytes: int = 0) -> None:
    """Insert runs that ended before now, so many seconds apart: of each hundred two failed and one has not ended."""
    begin_us = microseconds(now) - int(rows * spacing_s * 1e6)
    # Wider than PostgreSQL takes it by itself.
    at = f"({begin_us} + n * CAST({int(spacing_s * 1e6)} AS BIGINT))"
    values = {
        "namespace": f"'{NAMESPACE}'",
        "run_id": "'run-' || n",
        "job": f"'job' || (n % {JOBS})",
        "uid": "'uid'",
        "item": f"n % {ITEMS}",
        "items": str(ITEMS),
        "fire_us": f"{at}",
        "cause": "'schedule'",
        "attempt": "1",
        "executor": f"'e' || (n % {EXECUTORS})",
        "incarnation": "'i1'",
        "token": "n",
        "queued_us": f"{at}",
        "started_us": f"{at} + 4000",
        "ended_us": f"{at} + 9000",
        "outcome": "CASE (n / 7) % 100 WHEN 0 THEN 'failed' WHEN 1 THEN 'failed' WHEN 2 THEN NULL ELSE 'ok' END",
        "message": "''",
        "exit_code": "0",
        "peak_memory_kb": "51200",
        "cpu_s": "0.5",
        "duration_s": "n % 60",
        "log_path": "'/var/lib/shardsched/logs/books/run-' || n || '.log'",
        "dropped_bytes": "0",
        "param": "'fiction'",
        "job_param": "''",
        "stats": """'{"pages": 120, "bytes": 4711}'""",
        "actor": "''",
        "traceback": "''",
        "log_tail": f"'{'x' * tail_bytes}'",
    }
    statement = (
        f"INSERT INTO shardsched_runs ({', '.join(values)}) "  # noqa: S608 - our own words
        f"WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < {rows}) "
        f"SELECT {', '.join(values.values())} FROM counter"
    )
    _insert(database, statement)


def fill_rollups(database: Database, hours: int, now: datetime) -> None:
    """Insert figures of so many hours and their days, for each job on three executors and for all together."""
    hour_us = 3_600_000_000
    last_us = microseconds(now) // hour_us * hour_us
    for table, span_us, count in (("hours", hour_us, hours), ("days", 24 * hour_us, hours // 24)):
        for job, executors, jobs in ((f"'job' || (n / 4 % {JOBS})", 3, JOBS), ("''", EXECUTORS, EXECUTORS // 3 + 1)):
            start = f"{last_us // span_us * span_us} - (n / {jobs * 4}) * CAST({span_us} AS BIGINT)"
            _insert(
                database,
                f"INSERT INTO shardsched_{table} "  # noqa: S608 - our own words
                "(namespace, job, start_us, executor, outcome, runs, timed, duration_us, lateness_us, h10, h18, h25) "
                f"WITH RECURSIVE counter(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counter WHERE n < {count * jobs * 4 - 1}) "
                f"SELECT '{NAMESPACE}', {job}, {start}, 'e' || (n % {executors}), "
                "CASE n % 4 WHEN 3 THEN 'failed' ELSE 'ok' END, 60, 60, 60000000, 6000000, 10, 30, 20 FROM counter "
                "WHERE true ON CONFLICT DO NOTHING",
            )


def _insert(database: Database, statement: str) -> None:
    with database.writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text(statement))
    with database.writing() as connection:
        connection.execute(text("ANALYZE"))
