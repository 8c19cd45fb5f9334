"""What a trigger is, and its limits."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from shardsched.core.cron import Cron, Dialect, check_can_fire, parse_cron
from shardsched.core.cron_unix import MACROS

NOW = datetime(2026, 12, 1, 2, 15, 30, 250_000, tzinfo=UTC)


def test_dialect_is_told_by_the_count_of_fields_alone() -> None:
    """Five fields and macros are Unix, six and seven are Quartz, and neither is tried for the other."""
    assert parse_cron("0 12 * * 1").dialect is Dialect.UNIX
    assert parse_cron("@hourly").dialect is Dialect.UNIX
    assert parse_cron("0 0 12 ? * 1").dialect is Dialect.QUARTZ
    assert parse_cron("0 0 12 ? * 1 2030").dialect is Dialect.QUARTZ
    monday = parse_cron("0 12 * * 1").next_fire(datetime(2024, 9, 1, tzinfo=UTC))
    sunday = parse_cron("0 0 12 ? * 1").next_fire(datetime(2024, 9, 1, tzinfo=UTC))
    assert (monday, sunday) == (datetime(2024, 9, 2, 12, tzinfo=UTC), datetime(2024, 9, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize(("macro", "fields"), MACROS.items())
def test_macro_fires_like_its_fields_in_any_case(macro: str, fields: str) -> None:
    """A macro is nothing but another way to write five fields."""
    assert parse_cron(f" {macro.upper()}\t").fires(NOW, 10) == parse_cron(fields).fires(NOW, 10)


def test_cron_keeps_the_text_as_written() -> None:
    """Blanks and case come back as they were given."""
    cron = parse_cron("  0 12\t* * mon ", "Europe/Paris")
    assert cron == Cron("  0 12\t* * mon ", "Europe/Paris", Dialect.UNIX)


def test_cron_pickled_is_equal_and_fires_alike() -> None:
    """A trigger crosses processes as three texts."""
    cron = parse_cron("0 0/5 9-17 ? * MON-FRI", "Asia/Shanghai")
    stored = pickle.dumps(cron)
    copy = pickle.loads(stored)  # noqa: S301 - our own bytes
    assert (copy, hash(copy)) == (cron, hash(cron))
    assert copy.fires(NOW, 3) == cron.fires(NOW, 3)
    assert len(stored) < 300


def test_cron_used_by_many_threads_gives_each_its_own_fires() -> None:
    """Threads that begin in different years at once do not disturb each other."""
    crons = [parse_cron(text, zone) for text in ("0 30 2 L * ?", "*/7 1-3 * * *") for zone in ("Europe/Paris", "UTC")]
    starts = [datetime(year, 3, 1, tzinfo=UTC) for year in range(1990, 2050)]
    alone = [cron.fires(start, 20) for start in starts for cron in crons]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda start: [cron.fires(start, 20) for cron in crons], starts))
    assert [fires for some in together for fires in some] == alone


def test_fires_of_no_count_are_none() -> None:
    """Asked for none, it gives none."""
    assert parse_cron("* * * * *").fires(NOW, 0) == ()


def test_fire_is_strictly_after_and_latest_at_or_before() -> None:
    """A fraction of a second decides on which side of a fire a time is."""
    cron = parse_cron("* * * * * ?")
    second = NOW.replace(microsecond=0)
    assert cron.next_fire(second) == second + timedelta(seconds=1)
    assert cron.next_fire(NOW) == second + timedelta(seconds=1)
    assert cron.next_fire(second - timedelta(microseconds=1)) == second
    assert cron.latest_fire(second) == second
    assert cron.latest_fire(NOW) == second
    assert cron.latest_fire(second - timedelta(microseconds=1)) == second - timedelta(seconds=1)


def test_fire_from_a_wall_time_that_the_zone_skips_is_after_it() -> None:
    """02:30 in the gap is the instant 03:30, and what lies before that is past."""
    skipped = datetime(2024, 3, 10, 2, 30, tzinfo=ZoneInfo("America/New_York"))
    cron = parse_cron("15 3 * * *", "America/New_York")
    assert cron.next_fire(skipped) == datetime(2024, 3, 11, 7, 15, tzinfo=UTC)
    assert cron.latest_fire(skipped) == datetime(2024, 3, 10, 7, 15, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Shanghai", "UTC", "GMT+18", "GMT-18"])
def test_fires_end_with_2099_and_begin_with_1970_for_any_time_at_all(zone: str) -> None:
    """A stored time far out, up to the last one that can be written, is answered like any other."""
    cron = parse_cron("59 59 23 * * ?", zone)
    first, last = cron.next_fire(datetime.min.replace(tzinfo=UTC)), cron.latest_fire(datetime.max.replace(tzinfo=UTC))
    assert first is not None
    assert last is not None
    place = timedelta(hours=24)
    assert abs(first - datetime(1970, 1, 1, 23, 59, 59, tzinfo=UTC)) < place
    assert abs(last - datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC)) < place
    assert cron.latest_fire(datetime.min.replace(tzinfo=UTC)) is None
    assert cron.next_fire(datetime.max.replace(tzinfo=UTC)) is None
    assert cron.next_fire(last) is None
    assert cron.latest_fire(first - timedelta(microseconds=1)) is None


def test_fire_at_a_naive_time_is_refused() -> None:
    """A time without a zone would be read in the machine's."""
    cron = parse_cron("* * * * *")
    naive = NOW.replace(tzinfo=None)
    for ask in (cron.next_fire, cron.latest_fire, lambda at: cron.fires(at, 1), lambda at: check_can_fire(cron, at)):
        with pytest.raises(ValueError, match="is in no zone; give an aware one"):
            ask(naive)


def test_check_can_fire_of_a_trigger_with_a_fire_left_passes() -> None:
    """One fire ahead is enough."""
    check_can_fire(parse_cron("0 0 0 31 12 ? 2099"), NOW)
