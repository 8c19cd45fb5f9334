"""Fires against two independent readings: croniter's, and a plain scan over the minutes around clock changes."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from croniter import croniter
from hypothesis import given, settings
from hypothesis import strategies as st

from shardsched.core.cron import parse_cron

ANY_SPEED = settings(deadline=None)
"""A busy machine is no fault of the engine."""
MINUTE = timedelta(minutes=1)
AROUND = timedelta(hours=36)
"""How far a scan reaches before and after a change."""
CHANGES = [
    ("America/New_York", "2024-03-10"), ("America/New_York", "2024-11-03"),
    ("Europe/Dublin", "2025-03-30"), ("Europe/Dublin", "2025-10-26"),
    ("Australia/Lord_Howe", "2024-10-05"), ("Australia/Lord_Howe", "2024-04-06"),  # half an hour
    ("Antarctica/Troll", "2024-03-31"), ("Antarctica/Troll", "2024-10-27"),  # two hours
    ("America/Sao_Paulo", "2018-11-04"), ("America/Sao_Paulo", "2018-02-18"),  # at midnight
    ("America/St_Johns", "2010-03-14"), ("America/St_Johns", "2009-11-01"),  # at one past midnight
    ("Africa/Casablanca", "2024-04-14"), ("Africa/Casablanca", "2024-03-10"),  # backwards in its summer
    ("Asia/Shanghai", "1991-04-14"), ("Asia/Shanghai", "1991-09-15"),
    ("Pacific/Apia", "2011-12-30"),  # a whole day lost
    ("Asia/Kathmandu", "2024-05-01"), ("UTC", "2024-02-29"),  # none
]  # fmt: skip
ZONES = sorted({zone for zone, _ in CHANGES} | {"GMT+8", "Africa/Monrovia"})


def moment(text: str) -> datetime:
    """Return midnight of a day in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def moments() -> st.SearchStrategy[datetime]:
    """Instants around changes of clocks, and any others."""
    near = st.builds(
        lambda change, seconds: moment(change[1]) + timedelta(seconds=seconds),
        st.sampled_from(CHANGES),
        st.floats(-40 * 3600, 40 * 3600),
    )
    anywhere = st.datetimes(datetime(1965, 1, 1), datetime(2105, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - made aware
    return near | anywhere


@st.composite
def unix_expressions(draw: st.DrawFn) -> str:
    """Expressions of five fields, in the part of the language that croniter reads like Debian's cron."""
    minute = draw(st.sampled_from(["*", "*/7", "*/15", "0", "30", "1,31", "10-20", "5-50/9"]))
    hour = draw(st.sampled_from(["*", "*/2", "*/5", "0", "2", "1-3", "23"]))
    day = draw(st.sampled_from(["*", "1", "15", "29-31", "1-15/3"]))
    month = draw(st.sampled_from(["*", "2", "3-5", "jan,nov"]))
    week_day = draw(st.sampled_from(["*", "0", "1-5", "sat", "2,4"]))
    return f"{minute} {hour} {day} {month} {week_day}"


QUARTZ_DAYS = {
    # day of month and of week as Quartz and as croniter write them
    ("?", "*"): ("*", "*"), ("*", "?"): ("*", "*"), ("1,15", "?"): ("1,15", "*"), ("29-31", "?"): ("29-31", "*"),
    ("L", "?"): ("L", "*"), ("15W", "?"): ("15W", "*"), ("1W", "?"): ("1W", "*"), ("?", "MON-FRI"): ("*", "MON-FRI"),
    ("?", "1"): ("*", "0"), ("?", "6#3"): ("*", "5#3"), ("?", "2#5"): ("*", "1#5"), ("?", "6L"): ("*", "L5"),
    ("?", "7,2"): ("*", "6,1"),
}  # fmt: skip


@st.composite
def quartz_expressions(draw: st.DrawFn) -> tuple[str, str]:
    """Expressions of six and seven fields, each as Quartz writes it and as croniter does."""
    second = draw(st.sampled_from(["*", "0", "0/15", "10-20", "59"]))
    minute = draw(st.sampled_from(["*", "0", "0/20", "1,31", "7/13"]))
    hour = draw(st.sampled_from(["*", "0", "2", "9-17/4", "*/5"]))
    (day, week_day), (their_day, their_week_day) = draw(st.sampled_from(list(QUARTZ_DAYS.items())))
    month = draw(st.sampled_from(["*", "2", "MAR-MAY", "1,11"]))
    year = draw(st.sampled_from(["", " *", " 2015-2060", " 2024/4"]))
    time = f"{second} {minute} {hour}"
    return f"{time} {day} {month} {week_day}{year}", f"{time} {their_day} {month} {their_week_day}{year}"


@ANY_SPEED
@given(unix_expressions(), st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)))  # noqa: DTZ001 - croniter's are naive
def test_unix_fires_where_no_clock_changes_agree_with_croniter(expression: str, at: datetime) -> None:
    """An independent engine gives the same fires."""
    expected = croniter(expression, at.replace(microsecond=0), max_years_between_matches=180)
    for fire in parse_cron(expression).fires(at.replace(tzinfo=UTC), 5):
        assert fire.replace(tzinfo=None) == expected.get_next(datetime)


@ANY_SPEED
@given(quartz_expressions(), st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)))  # noqa: DTZ001 - croniter's are naive
def test_quartz_fires_where_no_clock_changes_agree_with_croniter(expression: tuple[str, str], at: datetime) -> None:
    """An independent engine, told the same in its own words, gives the same fires."""
    ours, theirs = expression
    expected = croniter(theirs, at.replace(microsecond=0), second_at_beginning=True, max_years_between_matches=180)
    for fire in parse_cron(ours).fires(at.replace(tzinfo=UTC), 5):
        assert fire.replace(tzinfo=None) == expected.get_next(datetime)


@ANY_SPEED
@given(unix_expressions() | quartz_expressions().map(lambda both: both[0]), st.sampled_from(ZONES), moments())
def test_cron_fires_increase_and_agree_in_both_directions(expression: str, zone: str, at: datetime) -> None:
    """Fires strictly increase, in UTC and whole seconds, and next and latest walk one grid."""
    cron = parse_cron(expression, zone)
    fires = cron.fires(at, 5)
    before = at
    for fire in fires:
        assert fire > before
        assert (fire.tzinfo, fire.microsecond) == (UTC, 0)
        assert cron.latest_fire(fire) == fire
        before = fire
    latest = cron.latest_fire(at)
    assert cron.next_fire(latest or moment("1960-01-01")) == (fires[0] if fires else None)
    if latest is not None:
        assert latest <= at
        assert cron.next_fire(latest - timedelta(microseconds=1)) == latest


def matches(text: str, count: int) -> set[int]:
    """Return what one of the few forms of a field used below stands for."""
    step = text.partition("/")[2]
    if step or text == "*":
        return set(range(0, count, int(step or 1)))
    return {int(part) for part in text.split(",")}


@lru_cache
def walk(zone: str, day: str) -> list[tuple[datetime, datetime, int, tuple[datetime, ...]]]:
    """Return each minute around a day: the instant, the wall time, its pass, and the wall times lost just before it."""
    place = ZoneInfo(zone)
    steps = []
    at = moment(day) - AROUND
    shown = at.astimezone(place).replace(tzinfo=None)
    while at < moment(day) + AROUND:
        local = at.astimezone(place)
        wall = local.replace(tzinfo=None, fold=0)
        lost = [shown + MINUTE * number for number in range(int((wall - shown) / MINUTE))]
        steps.append((at, wall, local.fold, tuple(lost)))
        at, shown = at + MINUTE, wall + MINUTE
    return steps


def scan(minute: str, hour: str, second: int, change: tuple[str, str]) -> list[datetime]:
    """Return the fires around a change by looking at every minute, with the rule applied by hand."""
    is_interval = minute.startswith(("*", "0/")) or hour.startswith(("*", "0/"))
    minutes, hours = matches(minute, 60), matches(hour, 24)
    fires = set()
    for at, wall, fold, lost in walk(*change):
        if not is_interval and len(lost) <= 180 and any(gone.minute in minutes and gone.hour in hours for gone in lost):
            fires.add(at)
        if wall.minute in minutes and wall.hour in hours and (is_interval or fold == 0):
            fires.add(at + timedelta(seconds=second))
    return sorted(fires)


@ANY_SPEED
@given(
    st.sampled_from(["*", "0", "30", "1,59", "0/20", "*/7", "15,45"]),
    st.sampled_from(["*", "0", "1", "2", "0,23", "*/2", "1,2,3"]),
    st.sampled_from([None, 0, 15]),
    st.sampled_from(CHANGES),
    st.floats(-30 * 3600, 30 * 3600),
)
def test_cron_around_a_change_of_clocks_agrees_with_a_scan(
    minute: str, hour: str, second: int | None, change: tuple[str, str], seconds: float
) -> None:
    """Looking at every minute finds the same fires, from any instant, in both directions."""
    if second is None:
        minute, hour = minute.replace("0/", "*/"), hour.replace("0/", "*/")  # in five fields 0/20 is a fixed time
    expression = f"{minute} {hour} * * *" if second is None else f"{second} {minute} {hour} * * ?"
    cron = parse_cron(expression, change[0])
    wanted = scan(minute, hour, second or 0, change)
    at = moment(change[1]) + timedelta(seconds=seconds)
    place = bisect_right(wanted, at)
    rest = wanted[place : place + 20]
    assert list(cron.fires(at, len(rest))) == rest
    if place:
        assert cron.latest_fire(at) == wanted[place - 1]


@lru_cache
def daylight_zones() -> list[tuple[str, tuple[datetime, ...]]]:
    """Return the zones that change their clocks in 2024, one of each kind, with the days before changes."""
    kinds: dict[object, tuple[str, tuple[datetime, ...]]] = {}
    for name in sorted(available_timezones() - {"localtime", "Factory"}):
        place = ZoneInfo(name)
        days = [moment("2024-01-01") + timedelta(days=day) for day in range(366)]
        offsets = [day.astimezone(place).utcoffset() for day in days]
        changes = tuple(day for day, one, two in zip(days, offsets, offsets[1:], strict=False) if one != two)
        kinds.setdefault((changes, tuple(offsets)), (name, changes))
    return [(name, changes) for name, changes in kinds.values() if changes]


EVERY_SORT = [
    "* * * * *", "*/15 * * * *", "30 * * * *", "0 */2 * * *", "30 0 * * *", "30 1 * * *", "30 2 * * *", "0 3 * * *",
    "0,30 1-3 * * *", "59 23 * * *", "0 0 * * 0", "@hourly", "@daily", "0 0/5 * * * ?", "0/10 30 2 * * ?", "0 30 1 ? * SUN",
    "0 0 0 ? * 1", "0 0 2 L * ?", "45 59 0-4 * * ?", "0 0 2 ? 3,10,11 1L",
]  # fmt: skip


def test_cron_in_every_zone_on_both_change_days_goes_on() -> None:
    """No zone's change stops, repeats or turns back any sort of expression, from either pass of a repeated hour."""
    zones = daylight_zones()
    assert len(zones) > 20
    for zone, changes in zones:
        for expression in EVERY_SORT:
            cron = parse_cron(expression, zone)
            for day in changes:
                for hour in range(0, 25, 4):
                    at = day + timedelta(hours=hour, minutes=31)
                    fire = cron.next_fire(at)
                    assert fire is not None
                    assert fire > at
                    assert cron.latest_fire(fire) == fire
                    latest = cron.latest_fire(at)
                    assert latest is not None
                    assert cron.next_fire(latest) == fire
