"""Which executors may own a job's items, and why none may."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from shardsched.core.eligibility import eligible_executors, is_eligible, unowned_reason
from shardsched.core.executor import DrainMark, ExecutorRecord
from shardsched.core.job import JobConfig
from shardsched.core.view import FleetView
from tests.strategies import ANY_SPEED, fleet_views

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG = JobConfig(name="books", uid="u", handler="crawl", cron="0 * * * *", armed_at=NOW)
LABELLED = replace(CONFIG, labels={"zone": "eu", "disk": "ssd"})
MARK = DrainMark(at=NOW)


def executor(name: str, **fields: Any) -> ExecutorRecord:
    """Return an executor that hosts the handler, unless told otherwise."""
    record = ExecutorRecord(
        name=name, incarnation="i", host="h", ip="", pid=1, process_start="", started_at=NOW, version=""
    )
    return replace(record, **({"handlers": {"crawl": "shop:crawl"}} | fields))


def fleet(*members: ExecutorRecord, drained: tuple[str, ...] = ()) -> FleetView:
    """Return a fleet with these executors."""
    return FleetView(executors={one.name: one for one in members}, drained=dict.fromkeys(drained, MARK))


@pytest.mark.parametrize(
    ("config", "fields", "answer"),
    [
        (CONFIG, {}, True),
        (CONFIG, {"labels": {"zone": "eu"}}, True),
        (CONFIG, {"handlers": {}}, False),
        (CONFIG, {"handlers": {"Crawl": "shop:crawl"}}, False),
        (CONFIG, {"unfit": "its clock is 75 s ahead"}, False),
        (CONFIG, {"unfit": ""}, False),
        (LABELLED, {"labels": {"zone": "eu", "disk": "ssd", "more": "x"}}, True),
        (LABELLED, {"labels": {"zone": "eu"}}, False),
        (LABELLED, {"labels": {"zone": "eu", "disk": "hdd"}}, False),
        (LABELLED, {}, False),
    ],
)
def test_is_eligible_needs_handler_labels_and_fitness(config: JobConfig, fields: dict[str, Any], answer: bool) -> None:
    """An executor must host the handler, have every label with its value, and take items at all."""
    assert is_eligible(config, executor("e1", **fields), {}) is answer


def test_is_eligible_drained_is_refused_for_its_own_name_only() -> None:
    """A drain takes the items of the executor that it names."""
    assert not is_eligible(CONFIG, executor("e1"), {"e1": MARK})
    assert is_eligible(CONFIG, executor("e1"), {"e2": MARK})


def test_eligible_executors_are_sorted_whatever_the_order_of_the_fleet() -> None:
    """The names come sorted, those that may not own anything left out."""
    members = (executor("e3"), executor("e1"), executor("e2", handlers={}), executor("e10"))
    assert eligible_executors(CONFIG, fleet(*members)) == ("e1", "e10", "e3")
    assert eligible_executors(CONFIG, fleet(*reversed(members))) == ("e1", "e10", "e3")


@pytest.mark.parametrize(
    ("config", "members", "reason"),
    [
        (CONFIG, fleet(), "no executor is running"),
        (CONFIG, fleet(drained=("e1",)), "no executor is running"),
        (CONFIG, fleet(executor("e1", handlers={})), "no executor hosts the handler 'crawl' (hosted: none)"),
        (
            CONFIG,
            fleet(executor("e1", handlers={"b": "m:b"}), executor("e2", handlers={"a": "m:a", "b": "m:b"})),
            "no executor hosts the handler 'crawl' (hosted: a, b)",
        ),
        (LABELLED, fleet(executor("e1")), "no executor that hosts 'crawl' has the labels disk=ssd, zone=eu"),
        (
            CONFIG,
            fleet(executor("e2"), executor("e1"), executor("e3", handlers={}), drained=("e1", "e2")),
            "all executors that may run it are drained (e1, e2)",
        ),
        (
            CONFIG,
            fleet(
                executor("e2", unfit="its clock is 75 s ahead"),
                executor("e3", unfit="x"),
                executor("e1"),
                drained=("e1",),
            ),
            "executor e2 takes no items: its clock is 75 s ahead",
        ),
        (CONFIG, fleet(executor("e1", unfit="x"), executor("e2")), None),
        (CONFIG, fleet(executor("e1"), executor("e2"), drained=("e1",)), None),
    ],
)
def test_unowned_reason_names_the_first_thing_in_the_way(
    config: JobConfig, members: FleetView, reason: str | None
) -> None:
    """The reason is one sentence on what would have to change, with what is there instead."""
    assert unowned_reason(config, members) == reason


def test_unowned_reason_many_names_are_cut() -> None:
    """A large fleet gives ten names and the number of the rest."""
    members = [executor(f"e{index:02}") for index in range(13)]
    reason = unowned_reason(CONFIG, fleet(*members, drained=tuple(one.name for one in members)))
    assert reason is not None
    assert reason.endswith("(e00, e01, e02, e03, e04, e05, e06, e07, e08, e09 and 3 more)")


@ANY_SPEED
@given(fleet_views())
def test_unowned_reason_is_there_exactly_when_nobody_is_eligible(members: FleetView) -> None:
    """Whoever is told no reason has an executor, and whoever has none is told why."""
    for entry in members.jobs.values():
        assert entry.config is not None
        assert (unowned_reason(entry.config, members) is None) == bool(eligible_executors(entry.config, members))
