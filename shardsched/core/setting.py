"""Settings of a job as people and code give them, made into those of its configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from shardsched.core.codec import FORMAT, time_text
from shardsched.core.item import make_item_params
from shardsched.core.job import SETTINGS, JobConfig
from shardsched.core.job_check import CHOICES, change_job, check_job
from shardsched.core.job_record import decode_job, encode_job
from shardsched.errors import CorruptNodeError, JobConfigError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from enum import StrEnum

PUBLIC_NAMES: Mapping[str, str] = {setting: setting.removesuffix("_s") for setting in SETTINGS}
"""By setting, the name that people use: that of the decorator's argument."""

_BY_NAME = {name: setting for setting, name in PUBLIC_NAMES.items()} | {setting: setting for setting in SETTINGS}
_LISTS = {"pause", "after", "disabled_items"}
_ARMING = {"cron", "timezone", "pause", "paused"}


def make_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by the configuration's own names, texts made into what they stand for.

    Args:
        given: By the decorator's names or the configuration's; item parameters may be text such as ``0=a,1=b``.

    Raises:
        JobConfigError: There is no such setting, or one is not of its kind.
        ItemParameterError: The text of item parameters is not valid.
    """
    settings: dict[str, Any] = {}
    for name, value in given.items():
        setting = _BY_NAME.get(name)
        if setting is None:
            message = Sentence(
                "there is no setting %(unknown)r; the settings are %(settings)s",
                unknown=name,
                settings=", ".join(PUBLIC_NAMES.values()),
            )
            raise JobConfigError(message, setting=name)
        settings[setting] = _made(setting, value)
    return settings


def _made(setting: str, value: Any) -> Any:
    if setting in CHOICES:
        return _choice(setting, value)
    if setting in _MADE:
        return _MADE[setting](value)
    if setting == "labels":
        if value is not None and not isinstance(value, Mapping):
            raise JobConfigError(
                Sentence("labels are not a mapping of texts; write them such as zone=eu"), setting="labels"
            )
        return dict(value or {})
    if setting in {"failover", "paused"} and not isinstance(value, bool):
        raise JobConfigError(
            Sentence("%(setting)s is %(value)r; give true or false", setting=setting, value=value), setting=setting
        )
    if setting in {"handler", "cron", "timezone"} and not isinstance(value, str):
        raise JobConfigError(
            Sentence("%(setting)s is %(value)r; give a text", setting=setting, value=value), setting=setting
        )
    return value


def _choice(setting: str, value: Any) -> StrEnum:
    kind = CHOICES[setting]
    try:
        return kind(value)
    except ValueError:
        raise JobConfigError(
            Sentence(
                "%(setting)s is %(value)r; give one of %(known)s", setting=setting, value=value, known=", ".join(kind)
            ),
            setting=setting,
        ) from None


def _list(setting: str, value: Any) -> tuple[Any, ...]:
    """Return a list's values; a text stands for a list of one, None for none."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, Mapping):
        raise JobConfigError(
            Sentence("%(setting)s is %(value)r; give a list", setting=setting, value=str(value)[:80]), setting=setting
        )
    return tuple(value)


def _task(value: Any) -> dict[str, Any]:
    """Return a built-in handler's task as JSON gives it back."""
    if value is not None and not isinstance(value, Mapping):
        raise JobConfigError(Sentence("task is not a mapping; give the keys that its kind takes"), setting="task")
    try:
        task: dict[str, Any] = json.loads(json.dumps(dict(value or {}), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise JobConfigError(
            Sentence("task holds what JSON does not know; give texts, numbers and lists"), setting="task"
        ) from None
    return task


_MADE: Mapping[str, Callable[[Any], Any]] = {
    "item_params": make_item_params,
    "task": _task,
    **{setting: partial(_list, setting) for setting in _LISTS},
}


def new_job(name: str, uid: str, settings: Mapping[str, Any], now: datetime) -> JobConfig:
    """Return the checked configuration of a job that begins now.

    Raises:
        JobConfigError: The handler is missing, or a setting is unknown or refused.
        CronExpressionError: The expression is not valid, or never fires.
        ItemParameterError: Parameters for items that do not exist.
    """
    made = make_settings(settings)
    if "handler" not in made:
        raise JobConfigError(Sentence("job %(name)r has no handler; give one", name=name), setting="handler")
    return check_job(JobConfig(name=name, uid=uid, armed_at=now, **{"cron": "", **made}), now)


def differing_settings(first: JobConfig, second: JobConfig) -> tuple[str, ...]:
    """Return the settings that differ, by the configuration's names."""
    return tuple(setting for setting in SETTINGS if getattr(first, setting) != getattr(second, setting))


def public_settings(config: JobConfig) -> dict[str, Any]:
    """Return the settings by the names that people use, as JSON takes them."""
    settings = {name: getattr(config, setting) for setting, name in PUBLIC_NAMES.items()}
    settings["item_params"] = {str(item): text for item, text in sorted(config.item_params.items())}
    settings["labels"] = dict(config.labels)
    settings["task"] = dict(config.task)
    for name in sorted(_LISTS):
        settings[name] = list(settings[name])
    return settings


def merged_settings(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with a merge patch (RFC 7396) applied: None stands for the default, or takes a key away.

    Args:
        base: Settings by the names that people use, as JSON.
        patch: Likewise; mappings in it are merged into those of the base.
    """
    merged = dict(base)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            before = merged.get(name)
            merged[name] = merged_settings(before if isinstance(before, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def mended_job(path: str, name: str, value: bytes, changes: Mapping[str, Any], now: datetime) -> JobConfig:
    """Return the configuration of a record that cannot be read as it is, with settings replaced.

    So a record with one bad field is repaired by giving that setting anew; the others stay.

    Args:
        path: The record's path.
        name: The job's name.
        value: The stored record.
        changes: Settings by the configuration's names.
        now: The time; a job whose arming time cannot be read is armed now.

    Raises:
        CorruptNodeError: It still cannot be read: other fields are bad, or it is not a record of ours at all.
        ConfigurationError: A setting is refused.
    """
    try:
        record = json.loads(value.decode())
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise CorruptNodeError(path=path, reason=Sentence("it is not a JSON object; delete the job and create it anew"))
    blank = JobConfig(name=name, uid="-", handler="-", cron="@hourly", armed_at=now)
    written = json.loads(encode_job(replace(blank, **changes)))
    patched = {key: field for key, field in record.items() if key not in changes}
    patched |= {key: written[key] for key in changes if key in written}
    patched.setdefault("format", FORMAT)
    if _ARMING & set(changes):
        patched["armed_at"] = time_text(now)
    return check_job(decode_job(path, name, json.dumps(patched).encode()), now)


def changed_job(path: str, name: str, value: bytes, changes: Mapping[str, Any], now: datetime) -> JobConfig:
    """Return a stored configuration with settings changed, mended where that makes it readable again.

    Raises:
        CorruptNodeError: The record cannot be read, also with these changes.
        ConfigurationError: A setting is refused.
    """
    try:
        config = decode_job(path, name, value)
    except CorruptNodeError:
        return mended_job(path, name, value, changes, now)
    return change_job(config, changes, now)
