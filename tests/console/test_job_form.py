"""The form of a job: whatever a job may be comes back as it went out, and each fault finds its field."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask
from flask_babel import Babel
from hypothesis import given
from werkzeug.datastructures import MultiDict

from console.job_form import form_values, keep_untouched, read_form, settings_faults, unmasked, with_secrets
from console.job_revision import shown_settings
from shardsched.core.job import JobConfig
from shardsched.core.setting import make_settings
from shardsched.errors import ConfigurationError
from shardsched.testing import FakeClock
from tests.strategies import job_configs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


NOW = FakeClock().now()
TASKS = {
    "@shell": {"argv": ["tar", "a b"], "env": {"LANG": "C"}, "cwd": "/tmp", "ok_codes": [0, 3]},
    "@http": {
        "url": "https://shop.example/{item}",
        "method": "POST",
        "headers": {"Accept": "text/html"},
        "body": "a\nb",
        "expect": "200-299,304",
        "timeout": 2.5,
        "connect_timeout": 5,
        "redirects": 3,
    },
    "@scrapy": {"spider": "shop:Books", "settings": {"DELAY": 1, "NAME": "x", "ONE": "1"}, "args": {"shelf": "a=b"}},
}


@contextlib.contextmanager
def language() -> Iterator[None]:
    """As within a request of somebody who reads English."""
    app = Flask("console")
    Babel(app)
    with app.app_context():
        yield


def sent(values: Mapping[str, Any]) -> MultiDict[str, str]:
    """What a browser sends of a form with these values."""
    form: MultiDict[str, str] = MultiDict()
    for name, value in values.items():
        if name == "item_params":
            for item, text in value:
                form.add("param_item", item)
                form.add("param_value", text)
        elif isinstance(value, bool):
            if value:
                form.add(name, "1")
        else:
            form.add(name, value.replace("\r\n", "\n").replace("\n", "\r\n"))
    return form


def config(**settings: Any) -> JobConfig:
    """A job with some settings."""
    made = make_settings({"handler": "crawl", "cron": "0 * * * *"} | settings)
    return JobConfig(name="books", uid="u", armed_at=NOW, **made)


@given(stored=job_configs())
def test_what_is_only_looked_at_stays_to_the_last_bit(stored: JobConfig) -> None:
    """Opening a job and saving it changes nothing, whatever it holds, also what nobody can type into a field."""
    form = sent(form_values(shown_settings(stored)))
    with language():
        settings, faults = read_form(form)
        kept = keep_untouched(settings, faults, form, stored)
    assert faults == {}
    made = make_settings(kept)
    assert {name: getattr(stored, name) for name in made} == made


@pytest.mark.parametrize("handler", TASKS)
def test_task_is_read_as_it_is_shown(handler: str) -> None:
    """Lines become lists and mappings, numbers become numbers."""
    before = shown_settings(config(handler=handler, task=TASKS[handler], retries=3, timeout=2.5))
    with language():
        settings, faults = read_form(sent(form_values(before)))
    assert faults == {}
    assert settings["task"] == TASKS[handler]
    assert (settings["retries"], settings["timeout"]) == (3, 2.5)


def test_every_fault_is_told_at_its_field() -> None:
    """Several at once, so that nobody mends one to be told of the next."""
    values = form_values(shown_settings(config())) | {
        "handler": "",
        "cron": "99 * * * *",
        "timezone": "Mars/Base",
        "items": "0",
        "retries": "many",
        "misfire_grace": "-1",
        "labels": "zone",
        "disabled_items": "3-1",
        "pause": "25:00-26:00",
        "description": "x" * 2001,
        "item_params": [("0", "a"), ("0", "b")],
    }
    with language():
        settings, faults = read_form(sent(values))
        faults = settings_faults("a b", settings, NOW) | faults
    assert set(faults) == {
        "name",
        "handler",
        "timezone",
        "items",
        "retries",
        "misfire_grace",
        "labels",
        "disabled_items",
        "pause",
        "description",
        "item_params",
    } | ({"cron"} & set(faults))


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"kind": "@shell"}, "task_shell_argv"),
        ({"kind": "@http", "task_http_url": "ftp://x"}, "task_http_url"),
        ({"kind": "@http", "task_http_url": "https://x", "task_http_headers": "a: b\na: c"}, "task_http_headers"),
        ({"kind": "@http", "task_http_url": "https://x", "task_http_timeout": "soon"}, "task_http_timeout"),
        ({"kind": "@scrapy", "task_scrapy_spider": "s", "task_scrapy_args": "item=1"}, "task_scrapy_args"),
        ({"handler": ""}, "handler"),
        ({"on_failure": "shout"}, "on_failure"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"after": "x" * 200}, "after"),
    ],
)
def test_fault_of_a_task_is_told_at_its_field(values: dict[str, str], field: str) -> None:
    """Whoever looks sees which of the many fields it is."""
    with language():
        settings, faults = read_form(sent(form_values(shown_settings(config())) | values))
        faults = settings_faults("books", settings, NOW) | faults
    assert set(faults) == {field}


def test_hidden_secrets_stay_and_new_ones_count() -> None:
    """What is shown as *** is what is stored; where nothing is stored it is asked for."""
    stored = config(handler="@http", task={"url": "https://x", "headers": {"Authorization": "Bearer s3cret"}})
    values = form_values(shown_settings(stored))
    assert "s3cret" not in str(values)
    with language():
        settings, faults = read_form(sent(values | {"task_http_body": "new"}))
        assert with_secrets(settings, stored.task, faults)["task"]["headers"] == {"Authorization": "Bearer s3cret"}
        assert faults == {}
        with_secrets(settings, {}, faults)
    assert set(faults) == {"task_http_headers"}
    with pytest.raises(ConfigurationError, match="hidden"):
        unmasked({"task": {"headers": {"Authorization": "***"}}}, {})
