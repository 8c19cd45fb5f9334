"""How the configuration of a job is stored, at ``/jobs/{job}``."""

from __future__ import annotations

from typing import Any

from shardsched.core.codec import Fields, encode, time_text
from shardsched.core.item import MAX_ITEM_COUNT
from shardsched.core.job import (
    MAX_RETRIES,
    MAX_RETRY_BACKOFF,
    MAX_S,
    MAX_STOP_GRACE_S,
    AfterMode,
    AfterOn,
    Isolation,
    JobConfig,
    Misfire,
    Strategy,
)
from shardsched.sentence import Sentence


def encode_job(config: JobConfig) -> bytes:
    """Return the stored form."""
    fields: dict[str, Any] = {name: getattr(config, name) for name in config.__dataclass_fields__}
    fields["armed_at"] = time_text(config.armed_at)
    fields["paused_at"] = time_text(config.paused_at)
    fields["item_params"] = {str(item): value for item, value in sorted(config.item_params.items())}
    fields["labels"] = dict(config.labels)
    fields["task"] = dict(config.task) or None
    for name in ("pause", "after", "disabled_items"):
        fields[name] = list(fields[name]) or None
    return encode(fields)


def decode_job(path: str, name: str, value: bytes) -> JobConfig:
    """Return the configuration stored at ``/jobs/{name}``.

    A cron expression that is not valid is no error here: the job must be shown, held, with its reason.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    try:
        item_params = {int(item): text for item, text in fields.texts("item_params").items()}
    except ValueError:
        raise fields.corrupt(Sentence("'item_params' has a key that is not a number")) from None
    return JobConfig(
        name=name,
        uid=fields.text("uid"),
        handler=fields.text("handler"),
        cron=fields.text("cron"),
        armed_at=fields.time("armed_at"),
        timezone=fields.text("timezone", "UTC"),
        items=fields.integer("items", 1, low=1, high=MAX_ITEM_COUNT),
        item_params=item_params,
        param=fields.text("param", ""),
        pause=fields.text_list("pause"),
        after=fields.text_list("after"),
        after_mode=fields.choice("after_mode", AfterMode, "all"),
        after_on=fields.choice("after_on", AfterOn, "success"),
        task=fields.mapping("task"),
        retries=fields.integer("retries", 0, high=MAX_RETRIES),
        retry_delay_s=fields.number("retry_delay_s", 10.0, high=MAX_S),
        retry_backoff=fields.number("retry_backoff", 2.0, low=1.0, high=MAX_RETRY_BACKOFF),
        retry_max_delay_s=fields.number("retry_max_delay_s", 600.0, high=MAX_S),
        on_failure=fields.text("on_failure", "log"),
        failover=fields.flag("failover", default=True),
        misfire=fields.choice("misfire", Misfire, "once"),
        misfire_grace_s=fields.number("misfire_grace_s", 60.0, high=MAX_S),
        timeout_s=fields.number("timeout_s", high=MAX_S) if fields.has("timeout_s") else None,
        warn_after_s=fields.number("warn_after_s", high=MAX_S) if fields.has("warn_after_s") else None,
        stop_grace_s=fields.number("stop_grace_s", 5.0, high=MAX_STOP_GRACE_S),
        isolation=fields.choice("isolation", Isolation, "process"),
        strategy=fields.choice("strategy", Strategy, "sticky"),
        labels=fields.texts("labels"),
        priority=fields.integer("priority", 0, low=-1000, high=1000),
        description=fields.text("description", ""),
        disabled_items=fields.integers("disabled_items") or (),
        paused=fields.flag("paused", default=False),
        paused_at=fields.time_or_none("paused_at"),
        deleting=fields.flag("deleting", default=False),
    )
