"""Every recorded answer of the real schedulers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import pytest

from shardsched.core.cron import Dialect, check_can_fire, parse_cron
from shardsched.core.zone import load_zone
from shardsched.errors import CronExpressionError

DATA = Path(__file__).parent.parent / "data"
END = datetime(2100, 1, 1, tzinfo=UTC)
RECORDED = datetime(2026, 1, 1, tzinfo=UTC)
"""What clocks show after it was a forecast: the releases 2025b and 2026f differ for Casablanca and Havana."""
FILES = {"cron_quartz.jsonl": (776, Dialect.QUARTZ), "cron_unix.jsonl": (491, Dialect.UNIX)}
UNIX_TEXTS = ("* * * * *", "@hourly")
"""Refused by Quartz itself, and therefore among its vectors; the number of fields makes them Unix here."""

every_file = pytest.mark.parametrize("name", FILES)


def vectors(name: str) -> list[dict[str, Any]]:
    """Return the vectors of a file whose dialect is the file's."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    some = [json.loads(line) for line in lines]
    return [v for v in some if name != "cron_quartz.jsonl" or v["expr"] not in UNIX_TEXTS]


def wanted(vector: dict[str, Any]) -> list[datetime]:
    """Return the recorded fires up to 2099, and up to where a later zone database tells another future."""
    fires = [datetime.fromisoformat(text) for text in vector["next"]]
    return list(takewhile(lambda fire: fire < END and not is_redecided(fire, vector["tz"]), fires))


def is_redecided(fire: datetime, zone: str) -> bool:
    """Return whether the installed zone database has another offset for a future time than the recorded one."""
    return fire > RECORDED and fire.astimezone(load_zone(zone)).utcoffset() != fire.utcoffset()


def is_wrong_as_a_whole(expression: str) -> bool:
    """Return whether no single field is at fault: it is the count, a macro, or a character."""
    return len(expression.split()) not in {5, 6, 7} or not expression.isascii()


@every_file
def test_vectors_of_a_file_are_all_there(name: str) -> None:
    """The other tests look at every line but the two that are not of the file's dialect, and at nearly all fires."""
    left_out = len(UNIX_TEXTS) if name == "cron_quartz.jsonl" else 0
    some = vectors(name)
    assert len(some) == FILES[name][0] - left_out
    redecided = [v for v in some if any(is_redecided(datetime.fromisoformat(t), v["tz"]) for t in v.get("next", ()))]
    assert len(redecided) < 0.05 * len(some)


@every_file
def test_cron_of_every_vector_fires_as_recorded(name: str) -> None:
    """The fires after the start are those that were recorded, and no more where the record says so."""
    faults = []
    for vector in vectors(name):
        if vector.get("error"):
            continue
        fires = wanted(vector)
        is_whole = vector.get("end", False) and len(fires) == len(vector["next"])
        cron = parse_cron(vector["expr"], vector["tz"])
        got = cron.fires(datetime.fromisoformat(vector["start"]), len(fires) + is_whole)
        if list(got) != fires or cron.dialect is not FILES[name][1]:
            faults.append((vector["expr"], vector["tz"], vector["start"], [fire.isoformat() for fire in got]))
    assert faults == []


@every_file
def test_cron_of_every_refused_vector_is_refused_with_its_text_and_field(name: str) -> None:
    """What must be refused is, with a message that shows the expression, and the field where one is at fault."""
    refused = [vector for vector in vectors(name) if vector.get("error")]
    assert len(refused) > 30
    for vector in refused:
        with pytest.raises(CronExpressionError) as error:
            parse_cron(vector["expr"], vector["tz"])
        assert repr(vector["expr"])[:200] in str(error.value)
        assert (error.value.field is None) == is_wrong_as_a_whole(vector["expr"]), str(error.value)


@every_file
def test_cron_of_every_vector_that_never_fires_cannot_be_written(name: str) -> None:
    """An expression without a fire is refused where a job is written."""
    silent = [vector for vector in vectors(name) if vector.get("next") == []]
    assert silent
    for vector in silent:
        with pytest.raises(CronExpressionError, match="never fires"):
            check_can_fire(parse_cron(vector["expr"], vector["tz"]), datetime.fromisoformat(vector["start"]))


@every_file
def test_latest_fire_of_every_vector_is_on_the_same_grid(name: str) -> None:
    """At each recorded fire, and just before the following one, the latest fire is that one."""
    for vector in vectors(name):
        if vector.get("error"):
            continue
        cron = parse_cron(vector["expr"], vector["tz"])
        for fire, following in pairwise(wanted(vector)):
            assert cron.latest_fire(fire) == fire, vector
            assert cron.latest_fire(following - timedelta(microseconds=1)) == fire, vector
