"""What a job's configuration may say."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given

from shardsched.core.job import SETTINGS, JobConfig, Misfire
from shardsched.core.job_check import MAX_CONFIG_BYTES, change_job, check_job
from shardsched.core.job_record import decode_job, encode_job
from shardsched.errors import (
    ConfigurationError,
    CorruptNodeError,
    CronExpressionError,
    ItemParameterError,
    JobConfigError,
)
from shardsched.sentence import Sentence, sentence_of
from tests.strategies import ANY_SPEED, job_configs

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)

CONFIG = JobConfig(name="books", uid="u", handler="crawl", cron="0 * * * *", armed_at=NOW, items=3)


def short(value: object) -> str:
    """Return the beginning of a value as the name of a case."""
    return ascii(value)[:30]


@ANY_SPEED
@given(job_configs())
def test_check_job_any_valid_configuration_passes_unchanged(config: JobConfig) -> None:
    """What is within the rules is returned as it is."""
    assert check_job(config, NOW) is config


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *(("name", name) for name in ("", ".", "..", "a/b", "a" * 129, "a\n", "\ud800", "a b", 3, None)),
        *(("items", count) for count in (0, -1, 1.5, 10_001, "3", True, None, 10**30, float("nan"))),
        *(("priority", value) for value in (-1001, 1001, 0.5, "0", False, None)),
        *(("misfire_grace_s", value) for value in (-1, 30 * 86_400 + 1, "60", True, None, float("nan"), float("inf"))),
        *(("timeout_s", value) for value in (0, 0.05, -1, 1e12, "5", True, float("nan"), float("inf"))),
        *(("warn_after_s", value) for value in (0, -1, 1e12, "5", False, float("nan"))),
        *(("stop_grace_s", value) for value in (-1, 61, None, "5", float("nan"))),
        *(("handler", value) for value in ("", None, 3, "h" * 513, "\ud800", "a\0")),
        *(("cron", value) for value in (None, 3, b"* * * * *", ["*"])),
        *(("timezone", value) for value in (None, 8)),
        *(("pause", value) for value in (None, "sat,sun", ["sat"], ("",), ("25:00-26:00",), (3,), ("sat",) * 65)),
        ("pause", ("00:00-12:00", "12:00-24:00")),
        *(("on_failure", value) for value in (None, "", "mourn", "a:b:c", "a.:b", ":f", "a:", "a b:c", "os.path:x()")),
        *(("retries", value) for value in (-1, 101, 0.5, True, None)),
        *(("retry_delay_s", value) for value in (-1, 30 * 86_400 + 1, "5", None, float("nan"))),
        *(("retry_backoff", value) for value in (0.5, 11, "2", None, float("nan"))),
        *(("disabled_items", value) for value in ((-1,), (10_000,), ("0",), (True,))),
        *(("failover", value) for value in ("no", 0, None)),
        *(("paused", value) for value in ("yes", 1, None)),
        *(("misfire", value) for value in ("never", "", None, 3, ["once"])),
        *(("isolation", value) for value in ("fork", None)),
        *(("strategy", value) for value in ("STICKY", "round_robin", None)),
        *(("param", value) for value in (None, 3, "p" * 65_537, "\udc80", "\0")),
        *(("description", value) for value in (None, b"x", "d" * 2001)),
        *(("labels", value) for value in (None, "zone=eu", ["zone"], {"zone": 1}, {1: "eu"}, {"zone": "\ud800"})),
        ("labels", {"z" * 129: "eu"}),
        ("labels", {"zone": "e" * 257}),
        ("item_params", {0: "p" * 65_537}),
        ("item_params", {0: "\ud800"}),
    ],
    ids=short,
)
def test_check_job_bad_setting_is_refused(setting: str, value: Any) -> None:
    """A value of another kind or out of range is refused in one short sentence, by one error class."""
    with pytest.raises(JobConfigError) as caught:
        check_job(replace(CONFIG, **{setting: value}), NOW)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)
    assert isinstance(sentence_of(caught.value), Sentence)


@pytest.mark.parametrize(
    "params", [{3: "x"}, {-1: "x"}, {"0": "x"}, {True: "x"}, {0: None}, {0: 3}, "0=x", None, ["x"]]
)
def test_check_job_parameters_of_no_item_are_refused(params: Any) -> None:
    """Item parameters belong to items that exist, and are texts."""
    with pytest.raises(ItemParameterError):
        check_job(replace(CONFIG, item_params=params), NOW)


@pytest.mark.parametrize(
    "fields",
    [
        {"cron": " "},
        {"cron": "x" * 257},
        {"cron": "61 * * * *"},
        {"cron": "0 0 31 2 *"},
        {"cron": "0 0 12 1 1 ? 2025"},
        {"timezone": "Mars/Olympus"},
        {"timezone": ""},
    ],
    ids=str,
)
def test_check_job_cron_that_cannot_fire_is_refused(fields: dict[str, Any]) -> None:
    """An expression that is not valid, names no zone, or has no fire left is refused when written."""
    with pytest.raises(CronExpressionError):
        check_job(replace(CONFIG, **fields), NOW)


def test_check_job_larger_than_a_node_may_be_is_refused() -> None:
    """Parameters that are each allowed, but too much together, are refused before anything is written."""
    params = dict.fromkeys(range(5), "p" * 60_000)
    with pytest.raises(JobConfigError, match=f"{MAX_CONFIG_BYTES} are allowed"):
        check_job(replace(CONFIG, items=5, item_params=params), NOW)


@pytest.mark.parametrize(
    ("config", "changes", "is_armed_anew"),
    [
        (CONFIG, {"cron": "5 * * * *"}, True),
        (CONFIG, {"timezone": "Europe/Paris"}, True),
        (CONFIG, {"cron": ""}, True),
        (CONFIG, {"pause": ("sat,sun",)}, True),
        (replace(CONFIG, pause=("sat,sun",)), {"pause": ()}, True),
        (replace(CONFIG, pause=("sat,sun",)), {"pause": ("sat,sun",)}, False),
        (CONFIG, {"disabled_items": (0,)}, False),
        (replace(CONFIG, disabled_items=(0,)), {"disabled_items": ()}, False),
        (CONFIG, {"cron": "0 * * * *"}, False),
        (CONFIG, {"items": 9, "param": "x", "misfire": Misfire.ALL}, False),
        (CONFIG, {"paused": True}, False),
        (replace(CONFIG, paused=True), {"paused": False}, True),
        (replace(CONFIG, paused=True), {"param": "x"}, False),
        (replace(CONFIG, paused=True), {"paused": True}, False),
        (CONFIG, {"paused": False}, False),
    ],
)
def test_change_job_is_armed_anew_by_resume_and_new_times_only(
    config: JobConfig, changes: dict[str, Any], is_armed_anew: bool
) -> None:
    """A resume and a new rule of times start from now; no other edit makes a fire due or undue."""
    changed = change_job(config, changes, LATER)
    assert changed.armed_at == (LATER if is_armed_anew else NOW)
    assert {name: getattr(changed, name) for name in changes} == changes


def test_change_job_editing_a_paused_job_leaves_it_paused() -> None:
    """Only a change of the pause itself resumes."""
    assert change_job(replace(CONFIG, paused=True), {"cron": "5 * * * *"}, LATER).paused


@pytest.mark.parametrize("setting", ["uid", "name", "armed_at", "deleting", "item", ""])
def test_change_job_what_is_no_setting_is_refused(setting: str) -> None:
    """What people may not set is refused with the list of what they may."""
    with pytest.raises(JobConfigError, match="the settings are handler, cron"):
        change_job(CONFIG, {setting: "x"}, LATER)


def test_change_job_fewer_items_with_parameters_for_more_is_refused() -> None:
    """A smaller count must not leave parameters behind for items that go."""
    config = replace(CONFIG, item_params={2: "x"})
    with pytest.raises(ItemParameterError, match="no item 2"):
        change_job(config, {"items": 2}, LATER)
    assert change_job(config, {"items": 2, "item_params": {}}, LATER).items == 2


def test_settings_are_fields_of_the_configuration() -> None:
    """Every setting is one that a configuration has."""
    assert set(SETTINGS) < set(JobConfig.__dataclass_fields__)


def test_item_param_is_empty_where_none_is_given() -> None:
    """An item without a parameter of its own has an empty one."""
    config = replace(CONFIG, item_params={1: "x"})
    assert [config.item_param(item) for item in range(3)] == ["", "x", ""]


@ANY_SPEED
@given(job_configs())
def test_decode_job_whatever_may_be_written_can_be_read(config: JobConfig) -> None:
    """A configuration that passes the check never becomes an unreadable record."""
    assert decode_job("/j", config.name, encode_job(check_job(config, NOW))) == config


def test_decode_job_bad_cron_is_no_error() -> None:
    """A job with an expression that is not valid can be read, to be shown with its reason."""
    stored = json.loads(encode_job(CONFIG)) | {"cron": "no cron", "timezone": "nowhere"}
    config = decode_job("/j", "books", json.dumps(stored).encode())
    assert (config.cron, config.timezone) == ("no cron", "nowhere")
    with pytest.raises(ConfigurationError):
        config.schedule()


@pytest.mark.parametrize(
    "fields",
    [
        {"uid": None},
        {"handler": 3},
        {"armed_at": "2026-01-01T00:00:00"},
        {"items": 0},
        {"items": 10_001},
        {"items": "3"},
        {"item_params": {"first": "x"}},
        {"item_params": ["x"]},
        {"misfire": "never"},
        {"misfire_grace_s": -1},
        {"misfire_grace_s": 1e12},
        {"timeout_s": 1e12},
        {"warn_after_s": 1e12},
        {"stop_grace_s": 1e6},
        {"labels": {"zone": 3}},
        {"priority": 1001},
        {"paused": "yes"},
        {"failover": 1},
    ],
    ids=str,
)
def test_decode_job_value_that_nobody_could_have_set_is_refused(fields: dict[str, Any]) -> None:
    """What the check would refuse is refused when read too: a deadline beyond reason would break who waits for it."""
    stored = json.loads(encode_job(CONFIG)) | fields
    with pytest.raises(CorruptNodeError):
        decode_job("/j", "books", json.dumps(stored).encode())
