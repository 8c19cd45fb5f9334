"""The shapes of what is asked of jobs, and of many at once, in the API."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from console.api.job_schema import JobQuery
from console.api.schema import CursorQuery
from console.job_bulk import ACTIONS, MAX_JOBS
from console.job_exchange import FORMS, ON_CONFLICT
from shardsched.core.sight import ItemSight


class ChangeSchema(Schema):
    """What a change did."""

    changed = fields.List(fields.String(), required=True, metadata={"description": "Settings with another value"})


class JobTriggerSchema(Schema):
    """What is to run."""

    items = fields.List(
        fields.Integer(strict=True, validate=validate.Range(0, 9_999)),
        load_default=None,
        allow_none=True,
        metadata={"description": "null for all that are enabled"},
    )
    param = fields.String(load_default=None, allow_none=True, validate=validate.Length(max=65_536))


class ParamSchema(Schema):
    """With which parameter one item is to run."""

    param = fields.String(load_default=None, allow_none=True, validate=validate.Length(max=65_536))


class ReceiptSchema(Schema):
    """What a trigger runs."""

    number = fields.Integer(required=True, metadata={"description": "Which trigger of the job it is"})
    owners = fields.Dict(keys=fields.String(), values=fields.List(fields.Integer()), required=True)
    waiting = fields.List(fields.Integer(), required=True, metadata={"description": "Items that wait for an owner"})


class ResetSchema(Schema):
    """Which items are to begin anew."""

    items = fields.List(
        fields.Integer(strict=True, validate=validate.Range(0, 9_999)),
        load_default=None,
        allow_none=True,
        metadata={"description": "null for all"},
    )


class ClearedSchema(Schema):
    """Which items had saved something that is cleared."""

    items = fields.List(fields.Integer(), required=True)


class JobStoppedSchema(Schema):
    """What a stop concerns."""

    running = fields.List(fields.Integer(), required=True)


class SwitchSchema(Schema):
    """On or off."""

    enabled = fields.Boolean(required=True)


class ItemSchema(Schema):
    """One item."""

    item = fields.Integer(required=True)
    state = fields.String(
        required=True,
        validate=validate.OneOf([str(sight) for sight in ItemSight]),
        metadata={"description": "What it looks like, as on the shard map"},
    )
    owner = fields.String(required=True, allow_none=True)
    param = fields.String(required=True)
    fire = fields.AwareDateTime(required=True, allow_none=True, metadata={"description": "What it last handled"})
    attempt = fields.Integer(required=True)
    executor = fields.String(required=True, allow_none=True, metadata={"description": "Who ran it last, or runs it"})
    run_id = fields.String(required=True, allow_none=True)
    message = fields.String(required=True)
    reason = fields.String(required=True, allow_none=True)


class ItemListSchema(Schema):
    """Items of a job."""

    items = fields.List(fields.Nested(ItemSchema), required=True)


class RevisionQuery(CursorQuery):
    """Which revisions."""


class RevisionSchema(Schema):
    """What a job looked like from some time on."""

    number = fields.Integer(required=True)
    at = fields.AwareDateTime(required=True)
    actor = fields.String(required=True, metadata={"description": "Empty for a change made elsewhere"})
    settings = fields.Raw(required=True, allow_none=True, metadata={"description": "null where it was deleted"})


class RevisionListSchema(Schema):
    """Revisions, the newest first."""

    items = fields.List(fields.Nested(RevisionSchema), required=True)
    next = fields.String(required=True, allow_none=True)


class BulkSchema(Schema):
    """One thing to be done to many jobs."""

    action = fields.String(required=True, validate=validate.OneOf(list(ACTIONS)))
    names = fields.List(fields.String(validate=validate.Length(1, 300)), validate=validate.Length(1, MAX_JOBS))
    filter = fields.Nested(JobQuery, metadata={"description": "In place of names; needs expect_count"})
    expect_count = fields.Integer(strict=True, validate=validate.Range(0, MAX_JOBS))
    dry_run = fields.Boolean(load_default=False)


class BulkResultSchema(Schema):
    """What became of one job."""

    name = fields.String(required=True)
    is_done = fields.Boolean(required=True)
    is_changed = fields.Boolean(required=True)
    message = fields.String(required=True)


class BulkResultsSchema(Schema):
    """What became of each."""

    dry_run = fields.Boolean(required=True)
    items = fields.List(fields.Nested(BulkResultSchema), required=True)


class ImportSchema(Schema):
    """A file of jobs."""

    text = fields.String(required=True, validate=validate.Length(max=900_000))
    format = fields.String(load_default="auto", validate=validate.OneOf(FORMS))
    on_conflict = fields.String(load_default="fail", validate=validate.OneOf(ON_CONFLICT))
    handler = fields.String(load_default="", validate=validate.Length(max=512))
    timezone = fields.String(load_default="", validate=validate.Length(max=64))
    prefix = fields.String(load_default="", validate=validate.Length(max=64))
    dry_run = fields.Boolean(load_default=True)


class ChangeLineSchema(Schema):
    """One setting that differs."""

    setting = fields.String(required=True)
    old = fields.Raw(required=True, allow_none=True)
    new = fields.Raw(required=True, allow_none=True)


class StepSchema(Schema):
    """What is done about one job of a file."""

    name = fields.String(required=True)
    place = fields.String(required=True)
    action = fields.String(required=True)
    reason = fields.String(required=True)
    changes = fields.List(fields.Nested(ChangeLineSchema), required=True)


class ImportResultSchema(Schema):
    """What an import does, or did."""

    format = fields.String(required=True)
    is_written = fields.Boolean(required=True)
    items = fields.List(fields.Nested(StepSchema), required=True)
    unhosted = fields.List(fields.String(), required=True)


class ExportQuery(Schema):
    """Which jobs."""

    names = fields.List(fields.String(), load_default=list, metadata={"description": "Empty for all"})


class ExportSchema(Schema):
    """A file of jobs."""

    format = fields.Integer(required=True)
    jobs = fields.Dict(keys=fields.String(), values=fields.Raw(), required=True)
