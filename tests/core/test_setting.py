"""Settings as people and code give them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.job import SETTINGS, JobConfig, Misfire
from shardsched.core.job_record import decode_job, encode_job
from shardsched.core.setting import (
    PUBLIC_NAMES,
    changed_job,
    differing_settings,
    make_settings,
    mended_job,
    new_job,
    public_settings,
)
from shardsched.errors import ConfigurationError, CorruptNodeError, JobConfigError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
CONFIG = JobConfig(name="books", uid="u", handler="crawl", cron="0 * * * *", armed_at=NOW, items=3, param="p")


def test_make_settings_takes_both_names_and_texts() -> None:
    """Settings may be given by the decorator's names or the stored ones, item parameters as text."""
    made = make_settings({"misfire_grace": 5, "timeout_s": 9, "item_params": "0=a", "misfire": "skip", "labels": None})
    assert made == {
        "misfire_grace_s": 5,
        "timeout_s": 9,
        "item_params": {0: "a"},
        "misfire": Misfire.SKIP,
        "labels": {},
    }


def test_make_settings_unknown_name_lists_the_settings() -> None:
    """A slip of the pen is told the names there are."""
    with pytest.raises(JobConfigError, match="misfire_grace, timeout") as caught:
        make_settings({"retrys": 3})
    assert caught.value.setting == "retrys"


def test_new_job_without_handler_is_refused() -> None:
    """A job needs code."""
    with pytest.raises(JobConfigError, match="handler"):
        new_job("books", "u", {"cron": "@daily"}, NOW)


def test_new_job_without_cron_never_fires_by_itself() -> None:
    """A job needs no trigger of its own: people or other jobs may run it."""
    config = new_job("books", "u", {"handler": "crawl"}, NOW)
    assert (config.cron, config.schedule().next_fire(NOW)) == ("", None)


def test_public_settings_are_taken_back_unchanged() -> None:
    """What is shown of a job can be given to make the same job."""
    shown = json.loads(json.dumps(public_settings(CONFIG)))
    shown["item_params"] = {int(item): text for item, text in shown["item_params"].items()}
    assert new_job("books", "u", shown, NOW) == CONFIG
    assert set(shown) == set(PUBLIC_NAMES.values())
    assert set(PUBLIC_NAMES) == set(SETTINGS)


def test_differing_settings_names_exactly_those() -> None:
    """Only settings count, not identity or arming."""
    other = new_job("books", "v", {"handler": "crawl", "cron": "0 * * * *", "items": 4, "param": "p"}, LATER)
    assert differing_settings(CONFIG, other) == ("items",)


@pytest.mark.parametrize(
    ("damage", "changes"),
    [
        ({"items": 0}, {"items": 2}),
        ({"items": "many"}, {"items": 2}),
        ({"misfire": "never"}, {"misfire": Misfire.ALL}),
        ({"timeout_s": "x"}, {"timeout_s": None}),
        ({"item_params": {"x": "y"}}, {"item_params": {0: "a"}}),
        ({"cron": None}, {"cron": "@daily"}),
        ({"labels": [1]}, {"labels": {}}),
    ],
)
def test_changed_job_bad_field_given_anew_is_mended(damage: dict[str, Any], changes: dict[str, Any]) -> None:
    """A record with one bad field is readable again when that setting is given; the others stay."""
    record = json.dumps(json.loads(encode_job(CONFIG)) | damage).encode()
    with pytest.raises(CorruptNodeError):
        decode_job("/jobs/books", "books", record)
    mended = changed_job("/jobs/books", "books", record, changes, LATER)
    assert {name: getattr(mended, name) for name in changes} == changes
    assert (mended.uid, mended.param) == ("u", "p")
    assert mended.armed_at == (LATER if "cron" in changes else NOW)


def test_changed_job_other_field_bad_stays_refused() -> None:
    """Giving one setting does not hide that another is bad."""
    record = json.dumps(json.loads(encode_job(CONFIG)) | {"items": 0}).encode()
    with pytest.raises(CorruptNodeError, match="items"):
        changed_job("/jobs/books", "books", record, {"param": "x"}, LATER)


@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: json.dumps({"format": 1, "uid": text}).encode()))
def test_mended_job_any_bytes_give_a_checked_job_or_an_error_of_ours(value: bytes) -> None:
    """Whatever is stored, mending ends in a valid job or in one of the promised errors."""
    try:
        config = mended_job("/jobs/books", "books", value, {"handler": "h", "cron": "@daily", "paused": True}, NOW)
    except (CorruptNodeError, ConfigurationError):
        return
    assert decode_job("/jobs/books", "books", encode_job(config)) == config
