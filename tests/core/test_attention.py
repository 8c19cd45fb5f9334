"""Which jobs a spectator reads next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.attention import COLD_S, Attention, listings, next_reading, readings


def seen(at: float, **fields: object) -> Attention:
    """A job that has been listed and read at a moment."""
    attention = Attention(items=10, listed_at=at, read_at=at)
    for name, value in fields.items():
        setattr(attention, name, value)
    return attention


def test_jobs_where_something_happens_are_listed_at_every_look() -> None:
    """Those that were never listed first, then those that wait longest."""
    jobs = {
        "cold": seen(100.0),
        "old": seen(100.0 - COLD_S),
        "new": Attention(items=1),
        "running": seen(99.0, is_running=True),
        "fired": seen(99.5, active_until=105.0),
        "fired-long-ago": seen(99.0, active_until=100.0),
    }
    assert listings(jobs, 100.0, 10) == ["new", "old", "running", "fired"]
    assert listings(jobs, 100.0, 2) == ["new", "old"]


def test_cursors_are_read_on_occasion_first() -> None:
    """Then the oldest, no more than the sweep allows; at least one job even if it is larger than that."""
    jobs = {
        "cold": seen(100.0),
        "old": seen(10.0),
        "older": seen(5.0),
        "oldest": seen(1.0),
        "due": seen(99.0, due_at=99.5),
        "not-yet": seen(99.0, due_at=100.5),
    }
    assert readings(jobs, 100.0, 100, 20) == ["due", "oldest", "older"]
    assert readings(jobs, 100.0, 10, 20) == ["due"]
    assert readings(jobs, 100.0, 100, 5) == ["due", "oldest"]


def test_a_late_fire_is_read_for_ever_more_seldom() -> None:
    """But at least every half minute."""
    assert next_reading(100.0, 0.1) == 101.0
    assert next_reading(100.0, 8.0) == 108.0
    assert next_reading(100.0, 100.0) == 130.0


@given(
    counts=st.lists(st.integers(0, 300), min_size=1, max_size=40),
    limit=st.integers(1, 500),
    sweep=st.integers(1, 200),
)
def test_every_job_gets_its_turn(counts: list[int], limit: int, sweep: int) -> None:
    """However small the limits, all jobs are listed and read in the end, and no look reads far more than it may."""
    jobs = {f"job-{number}": Attention(items=count) for number, count in enumerate(counts)}
    now, listed, read = 0.0, set[str](), set[str]()
    for _ in range(len(jobs)):
        now += 1.0
        for name in listings(jobs, now, 1):
            jobs[name].listed_at = now
            listed.add(name)
        chosen = readings(jobs, now, limit, sweep)
        assert sum(max(jobs[name].items, 1) for name in chosen[1:]) <= limit
        for name in chosen:
            jobs[name].read_at = now
            read.add(name)
    assert listed == read == set(jobs)
