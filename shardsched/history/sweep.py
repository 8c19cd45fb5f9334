"""Runs that nobody will ever finish, because their executors are gone, are marked as lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, tuple_

from shardsched.history.column import microseconds
from shardsched.history.store import count, lose_statement, lost_endings
from shardsched.history.table import RUNS

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from shardsched.history.engine import Database

PIECE = 500
"""Most rows of one transaction."""
MESSAGE = "its executor is gone, and nobody finished it"
"""What such a run says."""


def sweep_lost(
    database: Database, namespace: str, *, alive_incarnations: Collection[str], older_than: datetime, now: datetime
) -> int:
    """Mark runs as lost that have not ended and whose executors are gone; return how many.

    Args:
        database: The database.
        namespace: The fleet's.
        alive_incarnations: Those of all executors that live: of each that is missing here, all runs are lost.
        older_than: Runs claimed later are left alone, since the end of one may still be on its way.
        now: What they are said to have ended at.

    Raises:
        HistoryUnavailableError: No answer; what was marked before stays so.
        HistorySchemaError: The tables are not ours.
    """
    place, lost_count = (-(2**63), ""), 0
    while True:
        statement = (
            select(RUNS.c.queued_us, RUNS.c.run_id, RUNS.c.incarnation)
            .where(
                RUNS.c.namespace == namespace,
                RUNS.c.outcome.is_(None),
                RUNS.c.queued_us < microseconds(older_than),
                tuple_(RUNS.c.queued_us, RUNS.c.run_id) > tuple_(*place),
            )
            .order_by(RUNS.c.queued_us, RUNS.c.run_id)
            .limit(PIECE)
        )
        with database.reading() as connection:
            rows = connection.execute(statement).all()
        gone = [run_id for _, run_id, incarnation in rows if incarnation not in alive_incarnations]
        if gone:
            lost_count += _lose(database, namespace, gone, microseconds(now))
        if len(rows) < PIECE:
            return lost_count
        place = (rows[-1][0], rows[-1][1])


def open_run_ids(database: Database, namespace: str, incarnation: str) -> list[str]:
    """Return the runs that one session of an executor told of as begun, and not as ended.

    Raises:
        HistoryUnavailableError: No answer.
        HistorySchemaError: The tables are not ours.
    """
    statement = select(RUNS.c.run_id).where(
        RUNS.c.namespace == namespace, RUNS.c.outcome.is_(None), RUNS.c.incarnation == incarnation
    )
    with database.reading() as connection:
        return list(connection.execute(statement).scalars())


def _lose(database: Database, namespace: str, run_ids: Collection[str], now_us: int) -> int:
    statement = (
        lose_statement()
        .where(RUNS.c.namespace == namespace, RUNS.c.run_id.in_(run_ids))
        .values(ended_us=now_us, message=MESSAGE)
    )
    with database.writing() as connection:
        endings = list(lost_endings(connection.execute(statement)))
        count(connection, namespace, endings)
    return len(endings)
