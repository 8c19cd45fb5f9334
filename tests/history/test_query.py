"""Questions are answered right, page by page, and through an index."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, text

from shardsched.errors import ConfigurationError
from shardsched.history.filter import RUNNING, EventFilter, RunFilter
from shardsched.history.page import Rows, decode_key, encode_key
from tests.history.stage import (
    NAMESPACE,
    START,
    event_record,
    make_end,
    make_event,
    make_run,
    run_record,
    store,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.history.page import Page, Stored
    from shardsched.history.query import History
    from shardsched.history.row import EventRow, RunRow

OUTCOMES = ("ok", "ok", "ok", "failed", "timeout", None)


def many_runs(count: int = 120) -> list[RunRow]:
    """Return runs of all sorts, some of the same moment."""
    chance = random.Random(7)  # noqa: S311 - rows for a test
    runs = []
    for number in range(count):
        outcome = chance.choice(OUTCOMES)
        fields: dict[str, Any] = {
            "job": chance.choice(["books", "news"]),
            "uid": chance.choice(["u1", "u2"]),
            "item": chance.randrange(3),
            "executor": chance.choice(["e1", "e2"]),
            "cause": chance.choice(["schedule", "manual"]),
            "queued_at": START + timedelta(seconds=number // 3),
        }
        if outcome is None:
            runs.append(make_run(number, **fields))
        else:
            runs.append(make_end(number, outcome, took_s=float(chance.randrange(10)), **fields))
    return runs


def matches(run: RunRow, wanted: RunFilter) -> bool:
    """Whether a run is wanted, in the plainest way."""
    conditions = [getattr(wanted, name) in {None, getattr(run, name)} for name in ("job", "uid", "item", "executor")]
    return all(conditions) and (
        (not wanted.outcomes or (run.outcome or RUNNING) in wanted.outcomes)
        and (not wanted.causes or run.cause in wanted.causes)
        and (wanted.since is None or run.queued_at >= wanted.since)
        and (wanted.until is None or run.queued_at < wanted.until)
        and (wanted.min_duration_s is None or run.duration_s >= wanted.min_duration_s)
    )


FILTERS = [
    RunFilter(),
    RunFilter(job="books"),
    RunFilter(job="books", item=1),
    RunFilter(job="books", uid="u2"),
    RunFilter(item=1),
    RunFilter(executor="e2"),
    RunFilter(executor="e2", job="news", item=0),
    RunFilter(outcomes=frozenset({"failed"})),
    RunFilter(outcomes=frozenset({"failed", "timeout", RUNNING})),
    RunFilter(outcomes=frozenset({"ok"})),
    RunFilter(outcomes=frozenset({"ok", RUNNING}), job="books"),
    RunFilter(outcomes=frozenset({"failed", RUNNING}), job="books", item=2, executor="e1"),
    RunFilter(outcomes=frozenset({"no such outcome"})),
    RunFilter(causes=frozenset({"manual"})),
    RunFilter(min_duration_s=5.0, job="news"),
    RunFilter(since=START + timedelta(seconds=10), until=START + timedelta(seconds=20)),
    RunFilter(since=START + timedelta(seconds=10), outcomes=frozenset({"timeout", "failed"}), min_duration_s=2.0),
]


def walk(ask: Callable[[str | None], Page[Any]]) -> Iterator[Any]:
    """Return the rows of all pages."""
    after: str | None = None
    while True:
        page = ask(after)
        yield from page.rows
        after = page.next
        if after is None:
            return


@pytest.mark.parametrize("stretch", [5_000, 7])
def test_runs_are_those_asked_for_newest_first(history: History, monkeypatch: pytest.MonkeyPatch, stretch: int) -> None:
    """For every filter all pages together are what a look at every row finds, however short the stretches."""
    monkeypatch.setattr("shardsched.history.search.STRETCH", stretch)
    runs = many_runs()
    store(history.database, map(run_record, runs))
    store(history.database, map(run_record, runs), "other")
    for wanted in FILTERS:
        expected = sorted(
            (run for run in runs if matches(run, wanted)), key=lambda run: (run.queued_at, run.run_id), reverse=True
        )
        assert list(walk(lambda after, wanted=wanted: history.runs(wanted, after=after, limit=5))) == expected, wanted  # type: ignore[misc]
        assert len(history.runs(wanted, limit=1000).rows) == (
            len(expected) if stretch > 7 else pytest.approx(0, abs=120)
        )


def test_row_that_leaves_its_outcome_while_a_page_is_read_is_left_out(history: History) -> None:
    """A page of several outcomes is read in two steps, between which a run may end."""
    store(history.database, [run_record(make_run(number)) for number in range(4)])
    store(history.database, [run_record(make_end(9, "failed"))])
    engine = history.database._connected_engine()

    def end_one(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "UNION ALL" in statement:
            store(history.database, [run_record(make_end(2))])

    event.listen(engine, "after_cursor_execute", end_one)
    wanted = RunFilter(outcomes=frozenset({"failed", RUNNING}))
    found = [run.run_id for run in history.runs(wanted).rows]
    event.remove(engine, "after_cursor_execute", end_one)
    assert found == ["run-000009", "run-000003", "run-000001", "run-000000"]
    assert [run.run_id for run in history.runs(wanted).rows] == found


def test_rows_are_made_when_they_are_read() -> None:
    """Each once; they are a sequence like any other, and tell whether they changed without being made."""
    made: list[Stored] = []

    def make(stored: Stored) -> str:
        made.append(stored)
        return f"row {stored[0]}"

    rows = Rows([(number, "x") for number in range(5)], make)
    assert (len(rows), bool(rows), rows.shown_key) == (5, True, tuple((number, "x") for number in range(5)))
    assert made == []
    assert (rows[0], rows[-1], rows[0], rows[1:3]) == ("row 0", "row 4", "row 0", ("row 1", "row 2"))
    assert made == [(0, "x"), (4, "x"), (1, "x"), (2, "x")]
    assert list(rows) == [f"row {number}" for number in range(5)]
    assert rows == tuple(rows) != ("row 0",)
    with pytest.raises(IndexError):
        rows[5]
    assert not Rows([], make)


def test_pages_neither_lose_nor_repeat_rows_while_others_are_added(history: History) -> None:
    """Every row that was there at the beginning is seen once."""
    runs = many_runs()
    store(history.database, map(run_record, runs))
    wanted = RunFilter(outcomes=frozenset({"failed", "timeout", RUNNING}))
    added = iter(range(1_000, 2_000))
    seen: list[str] = []
    after: str | None = None
    page_count = 0
    while True:
        page = history.runs(wanted, after=after, limit=7)
        seen += [run.run_id for run in page.rows]
        page_count += 1
        after = page.next
        if after is None:
            break
        # Of the same moment as the oldest of the page, and newer ones.
        store(history.database, [run_record(make_end(next(added), "failed")) for _ in range(3)])
    assert page_count > 3
    assert sorted(seen) == sorted(run.run_id for run in runs if matches(run, wanted))


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_page_of_no_or_too_many_rows_is_refused(history: History, limit: int) -> None:
    """Before anything is read."""
    with pytest.raises(ConfigurationError, match="1 to 1000"):
        history.runs(limit=limit)


@pytest.mark.parametrize(
    "after",
    [
        "",
        "x",
        "ä",
        "e30",
        "WzFd",
        "WzEsMl0",
        encode_key((2**70, "a")),
        encode_key((1, "a\0")),
        "WyJhIiwiYiJd",
        "W1tdLFtdXQ",
    ],
)
def test_place_that_was_never_given_is_refused(history: History, after: str) -> None:
    """A place comes from a URL, and may be anything."""
    with pytest.raises(ConfigurationError, match="begin again"):
        history.runs(after=after)


def test_place_is_text_for_a_url() -> None:
    """Of any run id."""
    key = (1_767_225_600_000_000, "run/?&=书")
    text = encode_key(key)
    assert decode_key(text) == key
    assert all(letter.isalnum() or letter in "-_" for letter in text)


def test_run_is_returned_whole_and_lists_leave_long_texts_out(history: History) -> None:
    """A list of fifty runs does not carry fifty logs."""
    run = make_end(1, "failed", traceback="Traceback", log_tail="lines\n")
    store(history.database, [run_record(run)])
    assert history.run(run.run_id) == run
    assert history.runs().rows == (replace(run, traceback="", log_tail=""),)
    assert history.run("no such run") is None


def test_attempts_are_those_at_one_item_of_one_fire(history: History) -> None:
    """In the order in which they were made."""
    wanted = [make_end(number, "failed", attempt=number, run_id=f"a{number}", item=2) for number in (1, 2, 3)]
    others = [make_end(4, item=1), make_end(5, item=2, fire=START + timedelta(days=1)), make_end(6, item=2, job="x")]
    store(history.database, map(run_record, reversed(wanted + others)))
    assert history.attempts("books", 2, START) == tuple(wanted)


def test_last_runs_of_each_item_make_a_grid(history: History) -> None:
    """The newest first; items without any are there too."""
    runs = many_runs()
    store(history.database, map(run_record, runs))
    grid = history.last_runs("books", [0, 2, 9], 4)
    for item in (0, 2, 9):
        expected = [run for run in runs if run.job == "books" and run.item == item]
        expected.sort(key=lambda run: (run.queued_at, run.run_id), reverse=True)
        assert grid[item] == tuple(expected[:4])
    assert history.last_runs("books", [], 4) == {}


def test_running_are_those_without_an_end(history: History) -> None:
    """Of all jobs."""
    runs = many_runs()
    store(history.database, map(run_record, runs))
    assert {run.run_id for run in history.running()} == {run.run_id for run in runs if run.outcome is None}


EVENT_FILTERS = [
    EventFilter(),
    EventFilter(job="books"),
    EventFilter(job="books", item=1, executor="e1"),
    EventFilter(executor="e2", kinds=frozenset({"joined"})),
    EventFilter(kinds=frozenset({"joined", "failed"})),
    EventFilter(run_id="r1"),
    EventFilter(run_id="r1", job="news"),
    EventFilter(since=START + timedelta(seconds=5), until=START + timedelta(seconds=9), kinds=frozenset({"left"})),
]


def many_events(count: int = 90) -> list[EventRow]:
    """Return events of all sorts."""
    chance = random.Random(8)  # noqa: S311 - rows for a test
    return [
        make_event(
            number // 4,
            chance.choice(["joined", "left", "failed"]),
            job=chance.choice(["", "books", "news"]),
            item=chance.choice([None, 0, 1]),
            executor=chance.choice(["", "e1", "e2"]),
            run_id=chance.choice(["", "r1", "r2"]),
            message=str(number),
        )
        for number in range(count)
    ]


def event_matches(one: EventRow, wanted: EventFilter) -> bool:
    """Whether an event is wanted, in the plainest way."""
    conditions = [getattr(wanted, name) in {None, getattr(one, name)} for name in ("job", "item", "executor", "run_id")]
    return all(conditions) and (
        (not wanted.kinds or one.kind in wanted.kinds)
        and (wanted.since is None or one.at >= wanted.since)
        and (wanted.until is None or one.at < wanted.until)
    )


def test_events_are_those_asked_for_newest_first(history: History) -> None:
    """For every filter, all pages together."""
    events = many_events()
    store(history.database, [event_record(number, one) for number, one in enumerate(events)])
    for wanted in EVENT_FILTERS:
        expected = [one for one in reversed(events) if event_matches(one, wanted)]
        assert list(walk(lambda after, wanted=wanted: history.events(wanted, after=after, limit=4))) == expected, wanted  # type: ignore[misc]


def statements(history: History, ask: Callable[[], object]) -> list[tuple[str, Any]]:
    """Return the statements that a question makes, with their parameters."""
    made: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        made.append((statement, parameters))

    engine = history.database._connected_engine()
    event.listen(engine, "before_cursor_execute", note)
    ask()
    event.remove(engine, "before_cursor_execute", note)
    return made


def plans(history: History, ask: Callable[[], object]) -> Iterator[tuple[str, str]]:
    """Return those statements of a question that read runs or events, and how the database goes about them."""
    for statement, parameters in statements(history, ask):
        if "shardsched_runs" in statement or "shardsched_events" in statement:
            with history.database.reading() as connection:
                explain = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
                rows = connection.exec_driver_sql(f"{explain} {statement}", parameters).all()
            yield (statement, "\n".join(str(row[-1]) for row in rows))


@pytest.fixture
def large(history: History) -> History:
    """A history with enough rows that no database would rather read them all."""
    store(history.database, map(run_record, many_runs(3)))
    run = {
        column: f"'{value}'" if isinstance(value, str) else "NULL" if value is None else str(value)
        for column, value in run_record(make_end(1)).values.items()
    } | {
        "namespace": f"'{NAMESPACE}'",
        "run_id": "'r' || n",
        "job": "'job' || (n % 200)",
        "item": "n % 10",
        "executor": "'e' || (n % 20)",
        "fire_us": "n",
        "queued_us": "n",
        "outcome": "CASE n % 50 WHEN 0 THEN 'failed' WHEN 1 THEN 'timeout' WHEN 2 THEN NULL ELSE 'ok' END",
    }
    happened = {
        "namespace": f"'{NAMESPACE}'",
        "event_id": "'v' || n",
        "at_us": "n",
        "kind": "'kind' || (n % 30)",
        "executor": "'e' || (n % 20)",
        "job": "'job' || (n % 200)",
        "run_id": "'r' || n",
        "actor": "''",
        "message": "''",
        "detail": "''",
    }
    with history.database.writing() as connection:
        for table, columns in (("runs", run), ("events", happened)):
            insert = (
                f"INSERT INTO shardsched_{table} ({', '.join(columns)}) "  # noqa: S608 - our own words
                "WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 20000) "
                f"SELECT {', '.join(columns.values())} FROM counter"
            )
            connection.execute(text(insert))
        connection.execute(text("ANALYZE"))
    return history


def test_no_question_reads_all_runs_or_events(large: History) -> None:
    """Each is answered through an index, in its order: nothing is scanned and nothing is sorted."""
    page = large.runs(RunFilter(job="job7"), limit=3).next
    questions: list[Callable[[], object]] = [
        *(
            lambda wanted=wanted: large.runs(replace(wanted, job=wanted.job and "job7"), after=page)
            for wanted in FILTERS
        ),
        *(lambda wanted=wanted: large.runs(wanted) for wanted in FILTERS),
        *(lambda wanted=wanted: large.events(wanted) for wanted in EVENT_FILTERS),
        lambda: large.run("r1"),
        lambda: large.attempts("job7", 7, START),
        lambda: large.last_runs("job7", [7, 17], 5),
        large.running,
    ]
    bad = []
    for ask in questions:
        found = list(plans(large, ask))
        assert found
        for statement, plan in found:
            searched = "SEARCH" in plan or "Index" in plan
            # The few events of one run may be sorted, and PostgreSQL may sort the rows of one stretch.
            may_sort = "run_id=?" in plan or ("Sort" in plan and (">=" in statement or "OFFSET" in statement))
            is_sorted = ("TEMP B-TREE" in plan or "Sort" in plan) and not may_sort
            whole = is_sorted or "SCAN shardsched" in plan or "Seq Scan" in plan
            if not searched or whole:
                bad.append(f"{statement}\n{plan}")
    assert not bad, "\n\n".join(bad)
