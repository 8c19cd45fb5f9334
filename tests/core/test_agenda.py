"""When each job is looked at next, and how seldom the cron is asked."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.agenda import Agenda, FireTable
from shardsched.core.cron import Cron
from shardsched.core.schedule import make_schedule
from tests.core.scene import at
from tests.strategies import ANY_SPEED

SECONDS = st.integers(0, 50)


def test_agenda_pops_due_jobs_in_order() -> None:
    """Jobs whose moment has come are returned earliest first, and only once."""
    agenda = Agenda()
    for job, second in (("c", 30), ("a", 10), ("b", 20)):
        agenda.schedule(job, at(f"12:00:{second}"))
    assert agenda.head() == at("12:00:10")
    assert agenda.pop_due(at("12:00:20")) == ["a", "b"]
    assert agenda.pop_due(at("12:00:20")) == []
    assert agenda.jobs() == ("c",)


@pytest.mark.parametrize("moment", ["12:00:05", "12:00:50", None])
def test_agenda_schedules_anew(moment: str | None) -> None:
    """A job has one moment: a new one, earlier, later or none, replaces the old."""
    agenda = Agenda()
    agenda.schedule("a", at("12:00:10"))
    agenda.schedule("a", at(moment) if moment else None)
    assert agenda.head() == (at(moment) if moment else None)
    assert agenda.pop_due(at("12:00:10")) == (["a"] if moment == "12:00:05" else [])


def test_agenda_goes_back_to_an_earlier_moment() -> None:
    """A moment that was replaced and is set again counts once."""
    agenda = Agenda()
    for second in (10, 20, 10):
        agenda.schedule("a", at(f"12:00:{second}"))
    assert agenda.pop_due(at("12:00:30")) == ["a"]
    assert agenda.head() is None


@ANY_SPEED
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.none() | SECONDS)), SECONDS)
def test_agenda_is_a_mapping_of_moments(changes: list[tuple[str, int | None]], second: int) -> None:
    """Whatever was scheduled, what is due is what a plain mapping says."""
    agenda, moments = Agenda(), {}
    for job, offset in changes:
        moment = None if offset is None else at("12:00:00") + timedelta(seconds=offset)
        agenda.schedule(job, moment)
        moments[job] = moment
    now = at("12:00:00") + timedelta(seconds=second)
    standing = {job: moment for job, moment in moments.items() if moment is not None}
    assert agenda.head() == min(standing.values(), default=None)
    due = sorted((moment, job) for job, moment in standing.items() if moment <= now)
    assert agenda.pop_due(now) == [job for _, job in due]


# Fire times


class Counter:
    """Counts how often any cron is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        latest_fire, next_fire = Cron.latest_fire, Cron.next_fire

        def latest(cron: Cron, moment: datetime) -> datetime | None:
            self.count += 1
            return latest_fire(cron, moment)

        def following(cron: Cron, moment: datetime) -> datetime | None:
            self.count += 1
            return next_fire(cron, moment)

        monkeypatch.setattr(Cron, "latest_fire", latest)
        monkeypatch.setattr(Cron, "next_fire", following)


def test_fire_table_asks_once_a_span(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two fires the cron is asked once for all jobs that share it; the following span costs one question."""
    counter, table, cron = Counter(monkeypatch), FireTable(), make_schedule("*/10 * * * * ?")
    for second in ("11", "15", "19.9"):
        assert table.around(cron, at(f"12:00:{second}")) == (at("12:00:10"), at("12:00:20"))
    assert counter.count == 2
    assert table.around(cron, at("12:00:20")) == (at("12:00:20"), at("12:00:30"))
    assert counter.count == 3


@ANY_SPEED
@given(st.lists(st.integers(-100_000, 100_000), min_size=1, max_size=10))
def test_fire_table_tells_what_the_cron_says(offsets: list[int]) -> None:
    """In whatever order it is asked, clock steps in both directions among them, it tells the cron's own answer."""
    table, cron = FireTable(), make_schedule("0 7/20 * * * ?", "Europe/Berlin")
    for offset in offsets:
        now = at("12:00:00") + timedelta(seconds=offset)
        assert table.around(cron, now) == (cron.latest_fire(now), cron.next_fire(now))


def test_fire_table_without_fires_says_none() -> None:
    """A trigger that is over, or has not begun, has no following or latest fire; both are remembered."""
    table = FireTable()
    over, to_come = make_schedule("0 0 0 1 1 ? 2020"), make_schedule("0 0 0 1 1 ? 2030")
    for second in ("10", "20"):
        assert table.around(over, at(f"12:00:{second}"))[1] is None
        assert table.around(to_come, at(f"12:00:{second}"))[0] is None


def test_fire_table_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """It forgets rather than grow without bound, and goes on telling the truth."""
    monkeypatch.setattr(FireTable, "_MAX_SCHEDULES", 2)
    table = FireTable()
    for minute in range(5):
        cron = make_schedule(f"0 {minute} * * * ?")
        assert table.around(cron, at("12:30:00"))[0] == at(f"12:0{minute}:00")
        assert len(table._spans) <= 2
