"""Whether the configuration of a job may be written, and what a change makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shardsched.core.item import MAX_ITEM_COUNT, check_item_params
from shardsched.core.job import (
    MAX_RETRIES,
    MAX_RETRY_BACKOFF,
    MAX_S,
    MAX_STOP_GRACE_S,
    SETTINGS,
    AfterMode,
    AfterOn,
    Isolation,
    JobConfig,
    Misfire,
    OnFailure,
    Strategy,
    is_function_place,
)
from shardsched.core.job_record import encode_job
from shardsched.core.name import check_job_name, check_text
from shardsched.core.schedule import check_schedule
from shardsched.core.task import check_task
from shardsched.errors import JobConfigError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from datetime import datetime
    from enum import StrEnum

MAX_CONFIG_BYTES = 256 * 1024
"""Largest stored configuration; half of what a node may hold, so that a reader never meets the limit."""
MAX_LIST_LENGTH = 64
"""Most upstream jobs, and most pause windows, of one job."""

CHOICES: Mapping[str, type[StrEnum]] = {
    "misfire": Misfire,
    "isolation": Isolation,
    "strategy": Strategy,
    "after_mode": AfterMode,
    "after_on": AfterOn,
}
"""The settings that are one of few words."""


def check_job(config: JobConfig, now: datetime) -> JobConfig:
    """Return the configuration if it may be written.

    Raises:
        JobConfigError: A setting is refused, or the pause windows leave no fire; the message names it and the cure.
        CronExpressionError: The expression is not valid, or has no fire after now.
        ItemParameterError: Parameters for items that do not exist.
    """
    check_job_name(config.name)
    _check_kinds(config)
    _check_counts(config)
    check_item_params(config.item_params, config.items)
    _check_seconds(config)
    _check_backoff(config)
    _check_texts(config)
    _check_lists(config)
    check_task(config.handler, config.task)
    check_schedule(config.schedule(), now)
    _check_upstream(config)
    size = len(encode_job(config))
    if size > MAX_CONFIG_BYTES:
        message = Sentence(
            "the configuration has %(size)s bytes, %(most)s are allowed; shorten the parameters",
            size=size,
            most=MAX_CONFIG_BYTES,
        )
        raise JobConfigError(message, setting="item_params")
    return config


def _check_kinds(config: JobConfig) -> None:
    kinds: tuple[tuple[str, type, str], ...] = (
        ("failover", bool, Sentence("true or false")),
        ("paused", bool, Sentence("true or false")),
        ("cron", str, Sentence("a text")),
        ("timezone", str, Sentence("a text")),
    )
    for setting, kind, what in kinds:
        value = getattr(config, setting)
        if not isinstance(value, kind):
            raise JobConfigError(
                Sentence("%(setting)s is %(value)r; give %(what)s", setting=setting, value=value, what=what),
                setting=setting,
            )


def _check_counts(config: JobConfig) -> None:
    bounds: tuple[tuple[str, Any, int, int], ...] = (
        ("items", config.items, 1, MAX_ITEM_COUNT),
        ("priority", config.priority, -1000, 1000),
        ("retries", config.retries, 0, MAX_RETRIES),
    )
    for setting, value, low, high in bounds:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            message = Sentence(
                "%(setting)s is %(value)r; give a whole number from %(low)s to %(high)s",
                setting=setting,
                value=value,
                low=low,
                high=high,
            )
            raise JobConfigError(message, setting=setting)


def _check_lists(config: JobConfig) -> None:
    for setting in ("pause", "after"):
        values: Any = getattr(config, setting)
        if not isinstance(values, tuple) or len(values) > MAX_LIST_LENGTH:
            message = Sentence(
                "%(setting)s is %(values)r; give a list of at most %(most)s texts",
                setting=setting,
                values=str(values)[:80],
                most=MAX_LIST_LENGTH,
            )
            raise JobConfigError(message, setting=setting)
        for text in values:
            check_text(text, Sentence("a value of %(setting)s", setting=setting), JobConfigError, 128)
    check_text(config.on_failure, "on_failure", JobConfigError, 512)
    if config.on_failure not in set(OnFailure) and not is_function_place(config.on_failure):
        message = Sentence(
            "on_failure is %(on_failure)r; give %(known)s, or module:function",
            on_failure=config.on_failure[:80],
            known=", ".join(OnFailure),
        )
        raise JobConfigError(message, setting="on_failure")
    items: Any = config.disabled_items
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int) or not 0 <= item < MAX_ITEM_COUNT:
            raise JobConfigError(
                Sentence("disabled_items has %(item)r; give numbers of items", item=item), setting="disabled_items"
            )


def _check_upstream(config: JobConfig) -> None:
    for name in config.after:
        check_job_name(name)
    if config.name in config.after:
        message = Sentence("job %(name)r would wait for itself; leave it out of 'after'", name=config.name)
        raise JobConfigError(message, setting="after")


def _check_seconds(config: JobConfig) -> None:
    bounds: tuple[tuple[str, Any, float, float], ...] = (
        ("misfire_grace", config.misfire_grace_s, 0.0, MAX_S),
        ("timeout", config.timeout_s, 0.1, MAX_S),
        ("warn_after", config.warn_after_s, 0.1, MAX_S),
        ("stop_grace", config.stop_grace_s, 0.0, MAX_STOP_GRACE_S),
        ("retry_delay", config.retry_delay_s, 0.0, MAX_S),
        ("retry_max_delay", config.retry_max_delay_s, 0.0, MAX_S),
    )
    for setting, value, low, high in bounds:
        if value is None and setting in {"timeout", "warn_after"}:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            message = Sentence(
                "%(setting)s is %(value)r; give seconds from %(low)g to %(high)g",
                setting=setting,
                value=value,
                low=low,
                high=high,
            )
            raise JobConfigError(message, setting=setting)


def _check_backoff(config: JobConfig) -> None:
    factor: Any = config.retry_backoff
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1.0 <= factor <= MAX_RETRY_BACKOFF:
        message = Sentence(
            "retry_backoff is %(factor)r; give a factor from 1 to %(most)g",
            factor=factor,
            most=MAX_RETRY_BACKOFF,
        )
        raise JobConfigError(message, setting="retry_backoff")


def _check_texts(config: JobConfig) -> None:
    for setting, kind in CHOICES.items():
        value = getattr(config, setting)
        if not isinstance(value, str) or value not in set(kind):
            message = Sentence(
                "%(setting)s is %(value)r; give one of %(known)s", setting=setting, value=value, known=", ".join(kind)
            )
            raise JobConfigError(message, setting=setting)
    if not config.handler:
        raise JobConfigError(
            Sentence("handler is empty; give the name of a handler that an executor hosts"), setting="handler"
        )
    check_text(config.handler, "handler", JobConfigError, 512)
    if config.isolation != config.run_isolation:
        message = Sentence(
            "isolation is %(isolation)r; %(handler)s runs in a process only, leave isolation out",
            isolation=config.isolation,
            handler=config.handler,
        )
        raise JobConfigError(message, setting="isolation")
    check_text(config.description, "description", JobConfigError, 2_000)
    check_text(config.param, "param", JobConfigError, 64 * 1024)
    for item, param in config.item_params.items():
        check_text(param, Sentence("the parameter of item %(item)s", item=item), JobConfigError, 64 * 1024)
    labels: Any = config.labels
    if not isinstance(labels, Mapping):
        raise JobConfigError(
            Sentence("labels are not a mapping of texts; write them such as zone=eu"), setting="labels"
        )
    for label, text in labels.items():
        check_text(label, Sentence("a label's name"), JobConfigError, 128)
        check_text(text, Sentence("the value of label %(label)r", label=label), JobConfigError, 256)


def change_job(config: JobConfig, changes: Mapping[str, Any], now: datetime) -> JobConfig:
    """Return the configuration with settings changed, armed anew where the change makes it so, and checked.

    Editing a paused job leaves it paused; only a change of ``paused`` resumes it.

    Raises:
        JobConfigError: A setting is unknown or refused.
        CronExpressionError: The expression is not valid, or has no fire after now.
        ItemParameterError: Parameters for items that do not exist.
    """
    unknown = sorted(set(changes) - set(SETTINGS))
    if unknown:
        raise JobConfigError(
            Sentence(
                "there is no setting %(unknown)r; the settings are %(settings)s",
                unknown=unknown[0],
                settings=", ".join(SETTINGS),
            )
        )
    changed = replace(config, **changes)
    is_resumed = config.paused and not changed.paused
    if config.paused != changed.paused:
        changed = replace(changed, paused_at=now if changed.paused else None)
    # A window that is taken away must not leave its fires to be made up for, as if they had been missed.
    when = [(one.cron, one.timezone, one.pause) for one in (config, changed)]
    if is_resumed or when[0] != when[1]:
        changed = replace(changed, armed_at=now)
    return check_job(changed, now)
