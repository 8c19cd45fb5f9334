"""Which names are zones, and which offset they have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shardsched.core.zone import load_zone
from shardsched.errors import ConfigurationError

MOMENT = datetime(2024, 7, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "minutes"),
    [
        ("UTC", 0),
        ("GMT", 0),
        ("GMT+8", 480),
        ("GMT+08", 480),
        ("GMT+8:00", 480),
        ("GMT+08:00", 480),
        ("GMT+0800", 480),
        ("UTC+8", 480),
        ("UTC-0", 0),
        ("GMT-3:30", -210),
        ("UTC+05:45", 345),
        ("GMT+18", 1080),
        ("Etc/GMT+8", -480),
        ("Asia/Shanghai", 480),
        ("Europe/Paris", 120),
        ("US/Eastern", -240),
    ],
)
def test_zone_by_name_has_the_offset_that_it_reads(name: str, minutes: int) -> None:
    """``GMT+8`` is eight hours ahead, unlike the ``Etc/GMT+8`` of the zone database."""
    assert MOMENT.astimezone(load_zone(name)).utcoffset() == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "Mars/Olympus",
        "CST",
        "Z",
        "gmt+8",
        "GMT+19",
        "GMT+18:30",
        "GMT+8:60",
        "GMT+",
        "+08:00",
        "GMT+\u0668",
        "Europe",
        "Europe/Paris ",
        "Europe//Paris",
        "../etc/passwd",
        "/etc/localtime",
        "Etc/GMT+8\0",
        "e" * 200,
        "\u4e2d\u56fd",
        "\ud800",
        "tzdata.zi",
    ],
)
def test_zone_unknown_is_refused_with_the_cure(name: str) -> None:
    """No name is read as another zone or as a path, and the message says what to write."""
    with pytest.raises(ConfigurationError, match="there is no such zone; write an IANA name such as Europe/Paris"):
        load_zone(name)


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory", "right/UTC", "posix/Europe/Paris"])
def test_zone_of_the_machine_or_with_leap_seconds_is_refused(name: str) -> None:
    """What a machine's zone database holds besides zones never decides when a job fires."""
    with pytest.raises(ConfigurationError, match="there is no such zone"):
        load_zone(name)


def test_zone_asked_for_twice_is_one_object() -> None:
    """A fire time costs no reading of zone files."""
    assert load_zone("Europe/Paris") is load_zone("Europe/Paris")
