"""Every recorded answer of the real schedulers, and croniter as a second opinion."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.cron import Dialect, check_can_fire, parse_cron
from shardsched.errors import CronExpressionError

DATA = Path(__file__).parent.parent / "data"
END = datetime(2100, 1, 1, tzinfo=UTC)


def vectors(name: str) -> list[dict[str, Any]]:
    """Return the vectors of a file that are ours to answer: the number of fields decides the dialect."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    some = [json.loads(line) for line in lines]
    if name == "cron_quartz.jsonl":
        return [v for v in some if len(v["expr"].split()) != 5 and not v["expr"].startswith("@h")]
    return some


def wanted(vector: dict[str, Any]) -> list[datetime]:
    """Return the recorded fires up to 2099."""
    fires = [datetime.fromisoformat(text) for text in vector["next"]]
    return [fire for fire in fires if fire < END]


@pytest.mark.parametrize("name", ["cron_quartz.jsonl", "cron_unix.jsonl"])
def test_cron_of_every_vector_fires_as_recorded(name: str) -> None:
    """The fires after the start are those that were recorded, and no more where the record says so."""
    faults = []
    for vector in vectors(name):
        if vector.get("error"):
            continue
        fires = wanted(vector)
        is_whole = vector.get("end", False) and len(fires) == len(vector["next"])
        got = parse_cron(vector["expr"], vector["tz"]).fires(
            datetime.fromisoformat(vector["start"]), len(fires) + is_whole
        )
        if list(got) != fires:
            faults.append((vector["expr"], vector["tz"], vector["start"], [fire.isoformat() for fire in got]))
    assert faults == []


@pytest.mark.parametrize("name", ["cron_quartz.jsonl", "cron_unix.jsonl"])
def test_cron_of_every_refused_vector_is_refused_with_its_text(name: str) -> None:
    """What must be refused is, with a message that shows the expression."""
    refused = [vector for vector in vectors(name) if vector.get("error")]
    assert len(refused) > 30
    for vector in refused:
        with pytest.raises(CronExpressionError) as error:
            parse_cron(vector["expr"], vector["tz"])
        assert repr(vector["expr"])[:200] in str(error.value)


@pytest.mark.parametrize("name", ["cron_quartz.jsonl", "cron_unix.jsonl"])
def test_cron_of_every_vector_that_never_fires_cannot_be_written(name: str) -> None:
    """An expression without a fire is refused where a job is written."""
    for vector in vectors(name):
        if not vector.get("error") and vector["next"] == []:
            with pytest.raises(CronExpressionError, match="never fires"):
                check_can_fire(parse_cron(vector["expr"], vector["tz"]), datetime.fromisoformat(vector["start"]))


@pytest.mark.parametrize("name", ["cron_quartz.jsonl", "cron_unix.jsonl"])
def test_latest_fire_of_every_vector_is_on_the_same_grid(name: str) -> None:
    """At each recorded fire, and just before the following one, the latest fire is that one."""
    for vector in vectors(name):
        if vector.get("error"):
            continue
        cron = parse_cron(vector["expr"], vector["tz"])
        fires = wanted(vector)
        for fire, following in itertools.pairwise(fires):
            assert cron.latest_fire(fire) == fire, vector
            assert cron.latest_fire(following - timedelta(microseconds=1)) == fire, vector


ZONES = [
    "UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia",
    "Asia/Shanghai", "Africa/Casablanca", "Antarctica/Troll", "America/Sao_Paulo", "GMT+8",
]  # fmt: skip
CHANGES = [datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (
    "2024-03-10", "2024-11-03", "2024-03-31", "2024-10-27", "2011-12-30", "2024-04-06", "2024-10-05", "2018-11-04",
    "2018-02-18", "2009-11-01",
)]  # fmt: skip


@st.composite
def unix_expressions(draw: st.DrawFn) -> str:
    """Expressions of five fields, in the part of the language that croniter reads like us."""
    minute = draw(st.sampled_from(["*", "*/7", "*/15", "0", "30", "1,31", "10-20", "5-50/9"]))
    hour = draw(st.sampled_from(["*", "*/2", "*/5", "0", "2", "1-3", "23"]))
    day = draw(st.sampled_from(["*", "1", "15", "29-31", "1-15/3"]))
    month = draw(st.sampled_from(["*", "2", "3-5", "jan,nov"]))
    week_day = draw(st.sampled_from(["*", "0", "1-5", "sat", "2,4"]))
    return f"{minute} {hour} {day} {month} {week_day}"


def moments() -> st.SearchStrategy[datetime]:
    """Instants around changes of daylight saving, and any others."""
    near = st.builds(
        lambda change, seconds: change + timedelta(seconds=seconds),
        st.sampled_from(CHANGES),
        st.integers(-40 * 3600, 40 * 3600),
    )
    anywhere = st.datetimes(datetime(1975, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - aware
    return near | anywhere


QUARTZ = [
    "* * * * * ?", "0/15 * * * * ?", "0 30 2 * * ?", "0 0/20 1-3 * * ?", "0 0 0 L * ?", "0 0 12 ? * 6#3",
    "0 0 0 1W * ?", "30 59 23 ? * 1L", "45-15/10 0 0 * * ?",
]  # fmt: skip


@given(unix_expressions() | st.sampled_from(QUARTZ), st.sampled_from(ZONES), moments())
def test_cron_fires_increase_exist_and_agree_in_both_directions(expression: str, zone: str, at: datetime) -> None:
    """Fires strictly increase, are wall times that exist, and next and latest walk one grid."""
    cron = parse_cron(expression, zone)
    fires = cron.fires(at, 5)
    assert all(earlier < later for earlier, later in zip((at, *fires), fires, strict=False))
    for fire in fires:
        assert fire.tzinfo is UTC
        assert fire.microsecond == 0
        assert cron.latest_fire(fire) == fire
    latest = cron.latest_fire(at)
    if latest is not None:
        assert latest <= at
        assert cron.next_fire(latest - timedelta(seconds=1)) == latest
        following = cron.next_fire(latest)
        assert following is None or following > at


@given(unix_expressions(), st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)))  # noqa: DTZ001 - naive for croniter
def test_cron_without_daylight_saving_agrees_with_croniter(expression: str, at: datetime) -> None:
    """Where no clock changes, an independent engine gives the same fires."""
    at = at.replace(microsecond=0)
    expected = croniter(expression, at, max_years_between_matches=180)
    for fire in parse_cron(expression).fires(at.replace(tzinfo=UTC), 5):
        assert fire.replace(tzinfo=None) == expected.get_next(datetime)


@pytest.mark.parametrize("zone", ["America/New_York", "Australia/Lord_Howe", "Europe/Dublin"])
@pytest.mark.parametrize("expression", ["*/20 * * * *", "30 1,2 * * *", "0 0/30 * * * ?", "15 30 2 * * ?"])
def test_cron_across_a_year_agrees_with_a_scan_of_wall_times(expression: str, zone: str) -> None:
    """A plain scan over every wall time of the days around each change finds the same fires."""
    cron = parse_cron(expression, zone)
    scanned = _scan(expression, zone)
    begin, end = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 12, 31, tzinfo=UTC)
    fires, at = [], begin
    while (fire := cron.next_fire(at)) is not None and fire <= end:
        fires.append(fire)
        at = fire
    assert fires == [fire for fire in scanned if begin < fire <= end]


def _scan(expression: str, zone: str) -> list[datetime]:
    """Return the fires of 2024 by walking all minutes of real time, with the rule applied by hand."""
    from zoneinfo import ZoneInfo

    place = ZoneInfo(zone)
    fields = expression.split()
    second = int(fields[0]) if len(fields) == 6 else 0
    minute_text, hour_text = fields[-5], fields[-4]
    minutes = _matches(minute_text, 60)
    hours = _matches(hour_text, 24)
    is_interval = minute_text.startswith(("*", "0/")) or hour_text.startswith("*")
    fires: set[datetime] = set()
    at = datetime(2023, 12, 31, 12, tzinfo=UTC)
    offset = at.astimezone(place).utcoffset()
    while at < datetime(2025, 1, 1, tzinfo=UTC):
        local = at.astimezone(place)
        if local.utcoffset() != offset and not is_interval:
            # The clock jumped: what lies between, if it jumped forwards, fires once, now.
            before = (at - timedelta(minutes=1)).astimezone(place).replace(tzinfo=None) + timedelta(minutes=1)
            while before < local.replace(tzinfo=None):
                if before.minute in minutes and before.hour in hours:
                    fires.add(at)
                before += timedelta(minutes=1)
        offset = local.utcoffset()
        if local.minute in minutes and local.hour in hours and (is_interval or local.fold == 0):
            fires.add(at + timedelta(seconds=second))
        at += timedelta(minutes=1)
    return sorted(fires)


def _matches(text: str, count: int) -> set[int]:
    if text == "*":
        return set(range(count))
    if "/" in text:
        return set(range(0, count, int(text.partition("/")[2])))
    return {int(part) for part in text.split(",")}


def test_dialect_is_told_by_the_count_of_fields_alone() -> None:
    """Five fields and macros are Unix, six and seven are Quartz, and neither is tried for the other."""
    assert parse_cron("0 12 * * 1").dialect is Dialect.UNIX
    assert parse_cron("@hourly").dialect is Dialect.UNIX
    assert parse_cron("0 0 12 ? * 1").dialect is Dialect.QUARTZ
    monday = parse_cron("0 12 * * 1").next_fire(datetime(2024, 9, 1, tzinfo=UTC))
    sunday = parse_cron("0 0 12 ? * 1").next_fire(datetime(2024, 9, 1, tzinfo=UTC))
    assert (monday, sunday) == (datetime(2024, 9, 2, 12, tzinfo=UTC), datetime(2024, 9, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("expression", "cure"),
    [
        ("0 0 12 * * MONDAY", "write '?' in the day of month"),
        ("0 0 12 ? * MONDAY", "use MON"),
        ("0 0 12 1 * *", "write '?' in the day of week"),
        ("0 0 12 1 * 2", "put '?' in one"),
        ("0 0 ? * *", "begins with the seconds"),
        ("60 * * * *", "minute: '60': 60 is out of range 0-59"),
        ("0 0 12 ? * 0", "1 = Sunday, 7 = Saturday"),
        ("0 0 12 * * \uff1f", "U+FF1F"),
        ("R R * * *", "random"),
        ("H H * * *", "random"),
        ("@reboot", "no such macro"),
        ("* * *", "it has 3 fields"),
        ("0 0 * * fri-mon", "runs backwards"),
        ("0 0 12 1, * ?", "remove the comma"),
        ("*" * 257, "256 are allowed"),
    ],
)
def test_cron_that_is_refused_says_the_cure(expression: str, cure: str) -> None:
    """The message names what is wrong and what to write."""
    with pytest.raises(CronExpressionError) as error:
        parse_cron(expression)
    assert cure in str(error.value)


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "", "GMT+19", "../etc/passwd", "Etc/GMT+8\0", "e" * 200, "\u4e2d\u56fd"]
)
def test_zone_that_does_not_exist_is_refused(zone: str) -> None:
    """An unknown zone is refused, never read as another."""
    with pytest.raises(CronExpressionError, match="no such zone"):
        parse_cron("0 12 * * *", zone)


@pytest.mark.parametrize(
    ("zone", "hour"), [("GMT+8", 4), ("GMT+08:00", 4), ("UTC+8", 4), ("GMT-3:30", 15), ("UTC", 12)]
)
def test_zone_as_an_offset_reads_as_written(zone: str, hour: int) -> None:
    """``GMT+8`` is eight hours ahead, unlike ``Etc/GMT+8``."""
    fire = parse_cron("0 12 * * *", zone).next_fire(datetime(2024, 5, 1, tzinfo=UTC))
    assert fire is not None
    assert fire.hour == hour
