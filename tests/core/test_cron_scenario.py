"""Faults that users of other schedulers met, each with the right outcome."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from shardsched.core.cron import check_can_fire, parse_cron
from shardsched.core.zone import load_zone
from shardsched.errors import CronExpressionError

if TYPE_CHECKING:
    from collections.abc import Iterator


def at(text: str) -> datetime:
    """Return an aware time."""
    moment = datetime.fromisoformat(text)
    assert moment.tzinfo is not None
    return moment


def fires(expression: str, zone: str, after: str, count: int) -> list[str]:
    """Return the first fires as their zone's clocks show them, to the minute."""
    place = load_zone(zone)
    found = parse_cron(expression, zone).fires(at(after), count)
    return [fire.astimezone(place).isoformat(timespec="minutes") for fire in found]


def test_daily_fire_after_the_autumn_change_keeps_its_hour() -> None:
    """The second day is not an hour late, also when each fire is computed anew from a stored UTC time."""
    wanted = ["2022-10-30T20:00+01:00", "2022-10-31T20:00+01:00", "2022-11-01T20:00+01:00"]
    assert fires("0 20 * * *", "Europe/Paris", "2022-10-30T00:00+02:00", 3) == wanted
    stored = "2022-10-30T00:00+02:00"
    for fire in wanted:
        following = parse_cron("0 20 * * *", "Europe/Paris").next_fire(at(stored))
        assert following == at(fire)
        stored = following.isoformat()


def test_latest_and_next_fire_across_a_change_keep_the_hour() -> None:
    """Both directions find 08:00 on either side of the change, and come back to the same fire."""
    cron = parse_cron("0 8 * * 1-5", "America/New_York")
    now = at("2018-11-04T05:00-05:00")
    latest = cron.latest_fire(now)
    following = cron.next_fire(now)
    assert latest == at("2018-11-02T08:00-04:00")
    assert following == at("2018-11-05T08:00-05:00")
    assert cron.latest_fire(following) == following
    assert cron.latest_fire(following - timedelta(microseconds=1)) == latest


def test_midnight_fire_on_the_day_of_the_spring_change_is_the_next_midnight() -> None:
    """The day of 23 hours does not move midnight to 01:00."""
    assert fires("0 0 * * *", "Europe/Warsaw", "2017-03-26T00:00+01:00", 1) == ["2017-03-27T00:00+02:00"]


def test_hourly_fire_from_within_the_repeated_hour_goes_on() -> None:
    """Seen from the second pass, the fires strictly increase, an hour apart."""
    after = datetime(2017, 10, 29, 3, 45, tzinfo=load_zone("Europe/Helsinki"), fold=1)
    wanted = ["2017-10-29T04:30+02:00", "2017-10-29T05:30+02:00", "2017-10-29T06:30+02:00"]
    assert list(parse_cron("30 * * * *", "Europe/Helsinki").fires(after, 3)) == [at(text) for text in wanted]


def test_fixed_fire_in_the_gap_comes_once_at_its_end() -> None:
    """A wall time that the clocks skip is no answer; the first one after it is."""
    wanted = ["2013-03-10T03:00-04:00", "2013-03-11T02:00-04:00"]
    assert fires("0 2 * * *", "US/Eastern", "2013-03-10T01:00-05:00", 2) == wanted
    assert fires("30 2 * * *", "US/Eastern", "2013-03-10T01:00-05:00", 2) == [
        "2013-03-10T03:00-04:00",
        "2013-03-11T02:30-04:00",
    ]


def test_fire_every_15_seconds_never_pauses_in_the_repeated_hour() -> None:
    """Two hours of elapsed time have 480 fires, each 15 s after the one before."""
    cron = parse_cron("*/15 * * * * ?", "Europe/Berlin")
    begin = at("2016-10-30T00:00+00:00")
    found = cron.fires(begin - timedelta(seconds=1), 480)
    assert found[0] == begin
    assert {later - earlier for earlier, later in pairwise(found)} == {timedelta(seconds=15)}
    assert cron.next_fire(found[-1]) == begin + timedelta(hours=2)


def test_daily_fire_days_after_the_change_is_not_skipped() -> None:
    """The change does not reach beyond its day."""
    assert fires("30 2 * * *", "Europe/Amsterdam", "2025-04-01T02:00+02:00", 1) == ["2025-04-01T02:30+02:00"]


def test_weekly_fire_after_the_autumn_change_comes_once() -> None:
    """Noon on Monday is one fire, at noon."""
    wanted = ["2013-10-28T12:00+01:00", "2013-11-04T12:00+01:00"]
    assert fires("0 12 * * 1", "Europe/Amsterdam", "2013-10-27T00:00+02:00", 2) == wanted


def test_fixed_fire_in_the_repeated_hour_comes_in_the_first_pass_only() -> None:
    """A daily job runs once on that day, also for an executor that started in the second pass."""
    wanted = ["2024-11-03T01:30-04:00", "2024-11-04T01:30-05:00"]
    assert fires("30 1 * * *", "America/New_York", "2024-11-03T00:00-04:00", 2) == wanted
    assert fires("30 1 * * *", "America/New_York", "2024-11-03T01:10-05:00", 1) == wanted[1:]


def test_latest_fire_on_a_leap_day_before_its_time_is_four_years_back() -> None:
    """The 29th of February is found backwards, too."""
    cron = parse_cron("15 22 29 2 *")
    assert cron.latest_fire(at("2024-02-29T00:00+00:00")) == at("2020-02-29T22:15+00:00")


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 0 31 2 ?", "0 0 12 1 1 ? 2020"])
def test_cron_of_a_date_that_never_comes_has_no_fire_and_is_refused(expression: str) -> None:
    """A date that no month has, or a year that is past, gives no fire; never another one."""
    cron = parse_cron(expression)
    assert cron.next_fire(at("2024-01-01T00:00+00:00")) is None
    with pytest.raises(CronExpressionError, match="never fires"):
        check_can_fire(cron, at("2024-01-01T00:00+00:00"))


@pytest.mark.parametrize(
    ("week_days", "days"),
    [
        ("mon-sun", "Sun Mon Tue Wed Thu Fri Sat"),
        ("sun-tue", "Sun Mon Tue"),
        ("5-7", "Sun Fri Sat"),
        ("6-7,0-1", "Sun Mon Sat"),
        ("sat,sun,mon", "Sun Mon Sat"),
        ("7", "Sun"),
        ("0", "Sun"),
    ],
)
def test_unix_week_days_reach_over_sunday(week_days: str, days: str) -> None:
    """Sunday begins a range and ends it, by name and by both numbers."""
    found = parse_cron(f"0 0 * * {week_days}").fires(at("2024-01-06T12:00+00:00"), len(days.split()))
    assert " ".join(f"{fire:%a}" for fire in found) == days


def test_unix_range_that_runs_backwards_is_refused_where_quartz_wraps() -> None:
    """Debian's cron takes ``sat-mon`` and never runs the job; it is refused, and Quartz reads it as it looks."""
    with pytest.raises(CronExpressionError, match="write two ranges, 6-7,0-1"):
        parse_cron("0 0 * * sat-mon")
    found = parse_cron("0 0 0 ? * SAT-MON").fires(at("2024-01-05T00:00+00:00"), 3)
    assert [f"{fire:%a}" for fire in found] == ["Sat", "Sun", "Mon"]


def test_sunday_as_7_in_a_list_fires_on_sunday() -> None:
    """The list ``1,7`` is Monday and Sunday."""
    wanted = ["2019-12-22T10:15+00:00", "2019-12-22T12:15+00:00", "2019-12-23T10:15+00:00"]
    assert fires("15 10,12 * * 1,7", "UTC", "2019-12-22T00:00+00:00", 3) == wanted


@pytest.mark.parametrize(
    "expression", ["0 0 * * 7L", "0 0 * * 5L", "0 0 * * L5", "0 0 * * L7", "0 0 LW * *", "0 0 L-3 * *", "0 0 * * fri#2"]
)
def test_unix_expression_with_a_quartz_day_is_refused_with_the_quartz_spelling(expression: str) -> None:
    """Five fields have no ``L``, ``W`` or ``#``, whose week days would be other ones; the message shows six."""
    with pytest.raises(CronExpressionError, match=r"'0 0 12 \? \* 6L' for the last Friday") as error:
        parse_cron(expression)
    assert error.value.field in {"day of month", "day of week"}
    assert repr(expression.split()[4 if error.value.field == "day of week" else 2]) in str(error.value)


@pytest.mark.parametrize("expression", ["59/15 * * * *", "59/15 0 * * * ?"])
def test_step_from_the_last_value_fires_at_that_value_alone(expression: str) -> None:
    """``59/15`` is 59, not every quarter."""
    found = parse_cron(expression).fires(at("2024-01-01T00:00+00:00"), 5)
    unit = "minute" if expression.count(" ") == 4 else "second"
    assert {getattr(fire, unit) for fire in found} == {59}
    assert {later - earlier for earlier, later in pairwise(found)} == {timedelta(hours=1)}


@pytest.mark.parametrize("expression", ["R R * * *", "H H * * *", "H/5 * * * *", "0 R(0-5) * * * ?", "h * * * *"])
def test_random_field_is_refused(expression: str) -> None:
    """Every executor would compute other times, so none may."""
    with pytest.raises(CronExpressionError, match="random"):
        parse_cron(expression)


def test_fire_after_a_jump_over_months_is_at_midnight() -> None:
    """The change of clocks on the way does not shift it by an hour."""
    assert fires("* * * */3 *", "America/New_York", "2015-02-15T00:00-05:00", 1) == ["2015-04-01T00:00-04:00"]


@pytest.fixture(params=["Australia/Sydney", "Asia/Shanghai"])
def machine_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Puts the machine in a zone of its own."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


def test_cron_without_a_zone_is_utc_on_every_machine(machine_zone: str) -> None:
    """The zone of the machine has no part in it, not even on the night that its clocks change."""
    assert time.tzname[0] in {"AEST", "CST"}, machine_zone
    cron = parse_cron("0 * * * *")
    assert cron.timezone == "UTC"
    wanted = (at("2025-10-05T03:00+00:00"), at("2025-10-05T04:00+00:00"))
    assert cron.fires(at("2025-10-05T02:00+00:00"), 2) == wanted


def test_unix_day_of_month_and_of_week_are_joined_by_or() -> None:
    """Either day is enough when both are restricted."""
    found = parse_cron("0 0 13 * 5").fires(at("2024-09-01T00:00+00:00"), 4)
    assert [f"{fire:%m-%d}" for fire in found] == ["09-06", "09-13", "09-20", "09-27"]
    friday = parse_cron("0 0 13 * 5").fires(at("2024-10-12T00:00+00:00"), 1)
    assert friday == (at("2024-10-13T00:00+00:00"),)


def test_one_shot_fires_once_and_is_over() -> None:
    """A full date names one instant, which stays the latest fire for ever."""
    cron = parse_cron("3 15 2 1 12 ? 2026")
    fire = at("2026-12-01T02:15:03+00:00")
    assert cron.fires(at("2026-12-01T02:15:00+00:00"), 5) == (fire,)
    assert cron.next_fire(fire) is None
    assert cron.latest_fire(fire - timedelta(microseconds=1)) is None
    assert cron.latest_fire(at("2090-01-01T00:00+00:00")) == fire


@pytest.mark.parametrize(
    ("spring", "unix"),
    [("0 0 12 * * *", "0 12 * * *"), ("0 */5 * * * *", "*/5 * * * *"), ("0 30 8 * * *", "30 8 * * *")],
)
def test_six_fields_with_a_star_in_both_days_fire_every_day(spring: str, unix: str) -> None:
    """The form that Spring users write means what it says."""
    after = at("2024-02-27T23:00+00:00")
    assert parse_cron(spring).fires(after, 20) == parse_cron(unix).fires(after, 20)


@pytest.mark.parametrize(
    ("expression", "autumn", "spring"),
    [
        # fires from 01:00 to 01:59 on the day with two such hours, and from 02:00 to 03:00 on the day with no 02:xx
        ("*/20 1,2 * * *", 6, 0),
        ("5 */1 * * *", 2, 0),
        ("0 */20 1,2 * * ?", 6, 0),
        ("0 /20 1,2 * * ?", 6, 0),
        ("0 0/20 1,2 * * ?", 6, 0),
        ("0 5 0/1 * * ?", 2, 0),
        ("0 5 /1 * * ?", 2, 0),
        ("0/20 1,2 * * *", 3, 1),
        ("0-59/20 1,2 * * *", 3, 1),
        ("0,20,40 1,2 * * *", 3, 1),
        ("5 0-23 * * *", 1, 1),
        ("0 0-59/20 1,2 * * ?", 3, 1),
        ("0 00/20 1,2 * * ?", 3, 1),
        ("0 1/20 1,2 * * ?", 3, 1),
        ("*/30 5 1,2 * * ?", 2, 1),
    ],
)
def test_interval_is_told_by_how_minute_and_hour_begin(expression: str, autumn: int, spring: int) -> None:
    """A star, or in Quartz a step from zero, follows elapsed time; other spellings of the same are fixed times."""
    cron = parse_cron(expression, "America/New_York")

    def count(begin: str, end: str) -> int:
        return sum(at(begin) <= fire < at(end) for fire in cron.fires(at(begin) - timedelta(seconds=1), 30))

    assert count("2024-11-03T01:00-04:00", "2024-11-03T02:00-05:00") == autumn
    assert count("2024-03-10T03:00-04:00", "2024-03-10T03:01-04:00") == spring
