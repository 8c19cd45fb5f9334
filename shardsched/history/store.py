"""The statements that write history. What ended is counted in the same transaction, once, whoever tells it again."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, update
from sqlalchemy.dialects import postgresql, sqlite

from shardsched.history.batch import FIRST, KNOWN, fold
from shardsched.history.rollup import DAY_US, HOUR_US, MINUTE_US, Ending, add_up, ending
from shardsched.history.row import LOST
from shardsched.history.table import DAYS, EVENTS, FORGOTTEN, HOURS, MINUTES, RUNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, CursorResult, Executable, Table, Update

    from shardsched.history.batch import Batch
    from shardsched.history.record import Record


def write(connection: Connection, namespace: str, records: Iterable[Record]) -> None:
    """Write records in the connection's transaction, as if one after the other."""
    batch = fold(records)
    dialect = connection.dialect.name
    endings = [*_lose(connection, namespace, batch), *_close(connection, namespace, batch)]
    _execute(connection, namespace, _open_statement(dialect), batch.opened.values())
    _execute(connection, namespace, _event_statement(dialect), batch.events)
    _execute(connection, namespace, _forget_statement(dialect), batch.forgotten.values())
    count(connection, namespace, endings)


def count(connection: Connection, namespace: str, endings: Sequence[Ending]) -> None:
    """Add runs to the roll-ups that have ended in the connection's transaction."""
    for table, step_us in ((MINUTES, MINUTE_US), (HOURS, HOUR_US), (DAYS, DAY_US)):
        for slot, rows in add_up(endings, step_us).items():
            _execute(connection, namespace, _count_statement(connection.dialect.name, table, slot), rows)


def lose_statement() -> Update:
    """Return a statement that ends the runs as lost which it is told, and returns those that had not ended."""
    return (
        update(RUNS)
        .where(RUNS.c.outcome.is_(None))
        .values(outcome=LOST)
        .returning(RUNS.c.job, RUNS.c.executor, RUNS.c.ended_us)
    )


def lost_endings(rows: Iterable[Any]) -> Iterator[Ending]:
    """Return what is added up of runs that were lost, from what `lose_statement` returned."""
    return (Ending(job, executor, LOST, ended_us, None, 0) for job, executor, ended_us in rows)


_LOSE = (
    lose_statement()
    .where(RUNS.c.namespace == bindparam("which_namespace"), RUNS.c.run_id == bindparam("which_run"))
    .values(ended_us=bindparam("ended_us"), message=bindparam("message"))
)


def _lose(connection: Connection, namespace: str, batch: Batch) -> Iterator[Ending]:
    for run_id, values in batch.lost.items():
        named = {"which_namespace": namespace, "which_run": run_id}
        yield from lost_endings(
            connection.execute(_LOSE, named | {"ended_us": values["ended_us"], "message": values["message"]})
        )


def _close(connection: Connection, namespace: str, batch: Batch) -> Iterator[Ending]:
    statement = _close_statement(connection.dialect.name)
    result = _execute(connection, namespace, statement, batch.closed.values())
    for (run_id,) in result or ():
        yield ending(batch.closed[run_id])


def _execute(
    connection: Connection, namespace: str, statement: Executable, rows: Iterable[Mapping[str, Any]]
) -> CursorResult[Any] | None:
    complete = [{"namespace": namespace, **row} for row in rows]
    return connection.execute(statement, complete) if complete else None


def _insert(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


_RUN_KEY = (RUNS.c.namespace, RUNS.c.run_id)
_ONCE = frozenset({"namespace", *FIRST})


@cache
def _open_statement(dialect: str) -> Executable:
    told = _insert(dialect, RUNS)
    return told.on_conflict_do_update(
        index_elements=_RUN_KEY,
        set_={"started_us": func.coalesce(told.excluded.started_us, RUNS.c.started_us)},
        where=RUNS.c.outcome.is_(None),
    )


@cache
def _close_statement(dialect: str) -> Executable:
    told = _insert(dialect, RUNS)
    new: dict[str, ColumnElement[Any]] = {
        column.name: told.excluded[column.name] for column in RUNS.c if column.name not in _ONCE
    }
    new["started_us"] = func.coalesce(told.excluded.started_us, RUNS.c.started_us)
    for name in KNOWN:
        new[name] = func.coalesce(func.nullif(told.excluded[name], ""), RUNS.c[name])
    return told.on_conflict_do_update(index_elements=_RUN_KEY, set_=new, where=RUNS.c.outcome.is_(None)).returning(
        RUNS.c.run_id
    )


@cache
def _event_statement(dialect: str) -> Executable:
    return _insert(dialect, EVENTS).on_conflict_do_nothing()


@cache
def _forget_statement(dialect: str) -> Executable:
    told = _insert(dialect, FORGOTTEN)
    return told.on_conflict_do_update(
        index_elements=(FORGOTTEN.c.namespace, FORGOTTEN.c.job),
        set_={"before_us": told.excluded.before_us},
        where=FORGOTTEN.c.before_us < told.excluded.before_us,
    )


@cache
def _count_statement(dialect: str, table: Table, slot: str) -> Executable:
    told = _insert(dialect, table)
    new: dict[str, ColumnElement[Any]] = {
        name: table.c[name] + told.excluded[name] for name in ("runs", "timed", "duration_us", "lateness_us")
    }
    if slot:
        new[slot] = func.coalesce(table.c[slot], 0) + told.excluded[slot]
    return told.on_conflict_do_update(index_elements=tuple(table.primary_key.columns), set_=new)
