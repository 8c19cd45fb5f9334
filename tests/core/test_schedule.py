"""A schedule's fires are its cron's, less those in a pause window: against a plain look at every fire."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.cron import Cron, parse_cron
from shardsched.core.pause_window import parse_pause_window
from shardsched.core.schedule import MAX_JUMPS, check_schedule, make_schedule
from shardsched.errors import CronExpressionError, JobConfigError
from tests.strategies import ANY_SPEED

CRONS = ("*/15 * * * *", "*/30 * * * *", "0 * * * *", "17 2 * * *", "0 30 1,2,3 * * ?", "0 0/20 1-3 * * ?")
WINDOWS = (
    "22:00-06:00", "01:30-02:30", "02:15-02:45", "02:00-03:00", "03:00-04:00", "01:00-02:00", "sat,sun",
    "mon-fri 02:00-12:00", "sun 00:00-02:30", "03/28-04/01", "10/25", "12/24-01/02 12:00-18:00", "11/02-11/03", "23:59-00:01",
)  # fmt: skip
PLACES = (
    ("Europe/Berlin", datetime(2026, 3, 28, 12, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 10, 24, 12, tzinfo=UTC)),
    ("America/New_York", datetime(2024, 3, 9, 18, tzinfo=UTC)),
    ("America/New_York", datetime(2024, 11, 2, 12, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 4, 4, 6, tzinfo=UTC)),
    ("Asia/Shanghai", datetime(2026, 12, 31, 0, tzinfo=UTC)),
    ("Pacific/Apia", datetime(2011, 12, 29, 12, tzinfo=UTC)),
    ("America/Havana", datetime(2026, 10, 31, 12, tzinfo=UTC)),
)
SPAN = timedelta(days=1.5)


def plain_fires(cron: Cron, zone: str, windows: list[str], begin: datetime) -> list[datetime]:
    """Return the fires of a span that lie in no window, one after the other."""
    parsed = [parse_pause_window(text) for text in windows]
    fires: list[datetime] = []
    fire = cron.next_fire(begin)
    while fire is not None and fire <= begin + SPAN:
        wall = fire.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        if not any(window.span_at(wall) for window in parsed):
            fires.append(fire)
        fire = cron.next_fire(fire)
    return fires


@ANY_SPEED
@given(
    st.sampled_from(CRONS),
    st.lists(st.sampled_from(WINDOWS), min_size=1, max_size=3),
    st.sampled_from(PLACES),
    st.integers(0, 36 * 3600),
)
def test_schedule_agrees_with_a_look_at_every_fire(
    expression: str, windows: list[str], place: tuple[str, datetime], second: int
) -> None:
    """Next and latest fires are those of the cron outside of all windows, also where the clocks change."""
    zone, begin = place
    schedule = make_schedule(expression, zone, tuple(windows))
    wanted = plain_fires(parse_cron(expression, zone), zone, windows, begin)
    found: list[datetime] = []
    fire = schedule.next_fire(begin)
    while fire is not None and fire <= begin + SPAN:
        found.append(fire)
        fire = schedule.next_fire(fire)
    assert found == wanted
    at = begin + timedelta(seconds=second)
    before = [one for one in wanted if one <= at]
    latest = schedule.latest_fire(at)
    assert latest == before[-1] if before else latest is None or latest <= begin
    for fire in wanted[::9]:
        assert schedule.latest_fire(fire) == fire


@ANY_SPEED
@given(st.lists(st.sampled_from(WINDOWS), min_size=1, max_size=3), st.sampled_from(PLACES), st.integers(0, 2 * 1440))
def test_schedule_opens_at_the_first_minute_outside_of_all_windows(
    windows: list[str], place: tuple[str, datetime], minute: int
) -> None:
    """A pause ends at the first instant that lies in no window."""
    zone, begin = place
    schedule = make_schedule("", zone, tuple(windows))
    parsed = [parse_pause_window(text) for text in windows]
    at = begin + timedelta(minutes=minute, seconds=1)
    looked_at = at
    for _ in range(5 * 1440):
        wall = looked_at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        if not any(window.span_at(wall) for window in parsed):
            break
        looked_at = (looked_at + timedelta(minutes=1)).replace(second=0)
    else:
        assert schedule.opens_at(at) > looked_at - timedelta(minutes=1)
        return
    assert schedule.opens_at(at) == looked_at


def test_schedule_jumps_over_windows_and_not_fires(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cron of every second in a window of eight hours costs a few looks, not 28,800."""
    asked = 0
    next_fire, latest_fire = Cron.next_fire, Cron.latest_fire

    def count_next(cron: Cron, at: datetime) -> datetime | None:
        nonlocal asked
        asked += 1
        return next_fire(cron, at)

    def count_latest(cron: Cron, at: datetime) -> datetime | None:
        nonlocal asked
        asked += 1
        return latest_fire(cron, at)

    monkeypatch.setattr(Cron, "next_fire", count_next)
    monkeypatch.setattr(Cron, "latest_fire", count_latest)
    schedule = make_schedule("* * * * * ?", "UTC", ("22:00-06:00", "12/24-01/02"))
    at = datetime(2026, 3, 1, 22, 0, 5, tzinfo=UTC)
    assert schedule.next_fire(at) == datetime(2026, 3, 2, 6, tzinfo=UTC)
    assert schedule.latest_fire(at) == datetime(2026, 3, 1, 21, 59, 59, tzinfo=UTC)
    assert asked < 8
    at = datetime(2026, 12, 24, 1, tzinfo=UTC)
    assert schedule.next_fire(at) == datetime(2027, 1, 3, 6, tzinfo=UTC)
    assert schedule.latest_fire(at) == datetime(2026, 12, 23, 21, 59, 59, tzinfo=UTC)
    assert asked < 40


def test_schedule_without_cron_never_fires() -> None:
    """A job that only people and other jobs run has no fire, before or after."""
    schedule, now = make_schedule("", "Europe/Paris", ("sat,sun",)), datetime(2026, 3, 1, tzinfo=UTC)
    assert (schedule.next_fire(now), schedule.latest_fire(now), schedule.fires(now, 3)) == (None, None, ())
    check_schedule(schedule, now)


@pytest.mark.parametrize(
    ("expression", "windows"),
    [
        ("* * * * *", ("00:00-24:00",)),
        ("* * * * * ?", ("mon-fri", "sat,sun")),
        ("0 3 * * *", ("22:00-06:00",)),
        ("* * * * *", tuple(f"{hour:02}:00-{hour + 1:02}:00" for hour in range(24))),
        ("0 0 1 1 *", ("12/24-01/02",)),
    ],
)
def test_schedule_that_windows_leave_no_fire_is_refused(expression: str, windows: tuple[str, ...]) -> None:
    """A job that would never fire is refused, with the windows named as the cause, and found out in a moment."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    with pytest.raises(JobConfigError, match="pause windows leave"):
        check_schedule(make_schedule(expression, "Europe/Berlin", windows), now)
    assert make_schedule(expression, "Europe/Berlin", windows).latest_fire(now) is None


def test_schedule_whose_cron_has_no_fire_says_so() -> None:
    """Where the trigger itself is at fault the windows are not blamed."""
    with pytest.raises(CronExpressionError, match="never fires"):
        check_schedule(make_schedule("0 0 30 2 *", "UTC", ("sat,sun",)), datetime(2026, 3, 1, tzinfo=UTC))


def test_schedule_far_behind_windows_is_found() -> None:
    """Windows that leave one day in four years do not hide it."""
    schedule = make_schedule("0 12 * * *", "UTC", ("03/01-02/28",))
    fires = schedule.fires(datetime(2026, 3, 1, tzinfo=UTC), 2)
    assert fires == (datetime(2028, 2, 29, 12, tzinfo=UTC), datetime(2032, 2, 29, 12, tzinfo=UTC))
    assert MAX_JUMPS > 8 * 366


def test_schedules_of_equal_texts_are_equal() -> None:
    """What is remembered of one serves the other."""
    first, second = (make_schedule("* * * * *", "UTC", ("sat,sun", "22:00-06:00")) for _ in range(2))
    make_schedule.cache_clear()
    third = make_schedule("* * * * *", "UTC", ("sat,sun", "22:00-06:00"))
    assert first is second
    assert (first, hash(first)) == (third, hash(third))
    assert all(a != b for a, b in itertools.combinations([first, make_schedule("* * * * *"), make_schedule("")], 2))
