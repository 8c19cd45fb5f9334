"""The shapes of jobs in the API. What a setting may be is decided by the scheduler, not here."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from console.job_list import PROBLEMS, SORTS
from shardsched.core.job import AfterMode, AfterOn, Isolation, Misfire, Strategy
from shardsched.core.reason import JobState


def _text(length: int, **more: Any) -> fields.String:
    return fields.String(validate=validate.Length(max=length), **more)


def _one_of(kind: Any) -> fields.String:
    return fields.String(validate=validate.OneOf([str(value) for value in kind]))


def _number(**more: Any) -> fields.Float:
    return fields.Float(allow_nan=False, **more)


def _fields() -> dict[str, Any]:
    """Return a field for each setting, by the name that people use."""
    texts = fields.Dict(keys=fields.String(), values=fields.String())
    return {
        "handler": fields.String(validate=validate.Length(1, 512)),
        "cron": _text(256),
        "timezone": _text(64),
        "items": fields.Integer(strict=True),
        "item_params": fields.Dict(keys=fields.String(), values=fields.String()),
        "param": _text(65_536),
        "pause": fields.List(_text(128)),
        "after": fields.List(_text(128)),
        "after_mode": _one_of(AfterMode),
        "after_on": _one_of(AfterOn),
        "task": fields.Dict(keys=fields.String(), values=fields.Raw(allow_none=True)),
        "retries": fields.Integer(strict=True),
        "retry_delay": _number(),
        "retry_backoff": _number(),
        "retry_max_delay": _number(),
        "on_failure": _text(512),
        "failover": fields.Boolean(),
        "misfire": _one_of(Misfire),
        "misfire_grace": _number(),
        "timeout": _number(allow_none=True),
        "warn_after": _number(allow_none=True),
        "stop_grace": _number(),
        "isolation": _one_of(Isolation),
        "strategy": _one_of(Strategy),
        "labels": texts,
        "priority": fields.Integer(strict=True),
        "description": _text(2_000),
        "disabled_items": fields.List(fields.Integer(strict=True)),
        "paused": fields.Boolean(),
    }


SettingsSchema: Any = Schema.from_dict(_fields(), name="JobSettings")
"""Settings; those that are left out have their defaults. Secrets of tasks read as ``***``, which keeps them."""


def _patched() -> dict[str, Any]:
    patched = _fields()
    for field in patched.values():
        field.allow_none = True
    for name in ("item_params", "labels"):
        patched[name].value_field.allow_none = True
    return patched


SettingsPatchSchema: Any = Schema.from_dict(_patched(), name="JobSettingsPatch")
"""Settings to be changed, as a merge patch: null means the default, or takes a key out of a mapping."""


class JobQuery(Schema):
    """Which jobs are wanted."""

    q = fields.String(load_default="", validate=validate.Length(max=128), metadata={"description": "In its texts"})
    state = fields.String(load_default="", validate=validate.OneOf(["", "running", *map(str, JobState)]))
    kind = fields.String(load_default="", validate=validate.Length(max=64))
    executor = fields.String(load_default="", validate=validate.Length(max=128))
    problem = fields.String(load_default="", validate=validate.OneOf(["", "any", *PROBLEMS]))
    sort = fields.String(load_default="name", validate=validate.OneOf([*SORTS, *(f"-{name}" for name in SORTS)]))


class JobSummarySchema(Schema):
    """A job in a list."""

    name = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf([str(state) for state in JobState]))
    reasons = fields.List(fields.String(), required=True)
    kind = fields.String(required=True)
    handler = fields.String(required=True, allow_none=True)
    cron = fields.String(required=True, allow_none=True)
    timezone = fields.String(required=True, allow_none=True)
    text = fields.String(required=True, metadata={"description": "When it fires, in words"})
    items = fields.Integer(required=True)
    states = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": "Items by their state"}
    )
    next_fire = fields.AwareDateTime(required=True, allow_none=True)
    success_rate = fields.Float(required=True, allow_none=True, metadata={"description": "Of 24 hours, from 0 to 1"})


class JobListSchema(Schema):
    """Jobs on one page; the header ``X-Pagination`` has the counts."""

    items = fields.List(fields.Nested(JobSummarySchema), required=True)


class JobSchema(Schema):
    """One job."""

    name = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf([str(state) for state in JobState]))
    reasons = fields.List(fields.String(), required=True)
    settings = fields.Nested(
        SettingsSchema, required=True, allow_none=True, metadata={"description": "null where they cannot be read"}
    )
    next_fire = fields.AwareDateTime(required=True, allow_none=True)
    owners = fields.Dict(keys=fields.String(), values=fields.List(fields.Integer()), required=True)
    running = fields.List(fields.Integer(), required=True, metadata={"description": "Items that run"})


class NewJobSchema(Schema):
    """A job to be made."""

    name = fields.String(required=True, validate=validate.Length(1, 128))
    settings = fields.Nested(SettingsSchema, required=True)
    must_be_hosted = fields.Boolean(
        load_default=True, metadata={"description": "Whether a living executor must host its handler"}
    )


class JobPutSchema(Schema):
    """All settings of a job."""

    settings = fields.Nested(SettingsSchema, required=True)


class JobPatchSchema(Schema):
    """Some settings of a job."""

    settings = fields.Nested(SettingsPatchSchema, required=True)


class DeleteQuery(Schema):
    """How a job is deleted."""

    stop = fields.Boolean(load_default=False, metadata={"description": "Also while items of it run; they are stopped"})


class RemovalSchema(Schema):
    """How far a deletion came."""

    is_done = fields.Boolean(required=True)
    running = fields.List(fields.Integer(), required=True, metadata={"description": "Items that it waits for"})


class FiresQuery(Schema):
    """How many fires."""

    n = fields.Integer(load_default=5, validate=validate.Range(1, 50))


class FiresSchema(Schema):
    """When a job fires next."""

    fires = fields.List(fields.AwareDateTime(), required=True, metadata={"description": "In the job's zone"})
    paused = fields.Boolean(required=True, metadata={"description": "If so, they are not started"})
