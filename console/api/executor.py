"""Executors: who lives, how they fare, and taking items from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from console import executor_action, executor_view
from console.api.base import idempotent, resource
from console.context import context
from console.role import role
from console.sentence_text import said

if TYPE_CHECKING:
    from shardsched.admin.executor_status import ExecutorStatus

blueprint = resource("executors", "Executors of the fleet")

_STATE = validate.OneOf(executor_view.STATES)


class LoadSchema(Schema):
    """What an executor last reported of itself."""

    at = fields.DateTime(required=True)
    running = fields.Integer(required=True)
    queued = fields.Integer(required=True)
    cpu = fields.Float(required=True, metadata={"description": "Share of one core"})
    memory_mb = fields.Float(required=True)
    drift_s = fields.Float(required=True)


class ExecutorSchema(Schema):
    """One executor."""

    name = fields.String(required=True)
    state = fields.String(required=True, validate=_STATE)
    reason = fields.String(required=True, allow_none=True)
    is_leader = fields.Boolean(required=True)
    items = fields.Integer(required=True)
    running = fields.Integer(required=True)
    host = fields.String(required=True, allow_none=True)
    pid = fields.Integer(required=True, allow_none=True)
    started_at = fields.DateTime(required=True, allow_none=True)
    version = fields.String(required=True, allow_none=True)
    slots = fields.Integer(required=True, allow_none=True)
    labels = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    last_load = fields.Nested(LoadSchema, required=True, allow_none=True)


class ExecutorListSchema(Schema):
    """All executors, by name."""

    items = fields.List(fields.Nested(ExecutorSchema), required=True)


class OwnedSchema(Schema):
    """What it owns of one job."""

    job = fields.String(required=True)
    items = fields.String(required=True, metadata={"description": "Such as 0-3,7"})
    count = fields.Integer(required=True, attribute="mine")
    of = fields.Integer(required=True)


class WholeExecutorSchema(ExecutorSchema):
    """One executor with what it owns and its last hour."""

    owned = fields.List(fields.Nested(OwnedSchema), required=True)
    last_hour = fields.List(fields.Nested(LoadSchema), required=True)
    last_hour_since = fields.DateTime(required=True, allow_none=True)


class ExecutorQuery(Schema):
    """Which executors are wanted."""

    q = fields.String(
        load_default="", validate=validate.Length(max=200), metadata={"description": "In its name, host or labels"}
    )
    state = fields.String(load_default="", validate=validate.OneOf(["", *executor_view.STATES]))


class ReasonSchema(Schema):
    """Why."""

    reason = fields.String(load_default="", validate=validate.Length(max=500))


class ChangedSchema(Schema):
    """Whether anything changed: doing it twice is doing it once."""

    changed = fields.Boolean(required=True)


@blueprint.route("/executors")
class Executors(MethodView):
    """All executors."""

    @blueprint.etag
    @blueprint.arguments(ExecutorQuery, location="query")
    @blueprint.response(200, ExecutorListSchema)
    @role("viewer")
    def get(self, query: dict[str, str]) -> dict[str, Any]:
        """Return those that live, and those whose drain mark outlived them."""
        sight = context().fleet.sight()
        if sight.status is None:
            context().fleet.admin()
        executors = sight.status.executors if sight.status else ()
        return {"items": [_document(one) for one in executor_view.shown(executors, query["q"], query["state"])]}


@blueprint.route("/executors/<name>")
class One(MethodView):
    """One executor."""

    @blueprint.etag
    @blueprint.response(200, WholeExecutorSchema)
    @role("viewer")
    def get(self, name: str) -> dict[str, Any]:
        """Return one with what it owns and its last hour, as far as the console has looked."""
        one, status, loads = executor_action.find(name), context().fleet.sight().status, context().loads
        owned = executor_view.owned(status, name)[0] if status else []
        return _document(one) | {"owned": owned, "last_hour": loads.reports(name), "last_hour_since": loads.since}


@blueprint.route("/executors/<name>/drain")
class Drain(MethodView):
    """Taking its items away."""

    @idempotent(blueprint)
    @blueprint.arguments(ReasonSchema)
    @blueprint.response(202, ChangedSchema)
    @role("operator")
    def post(self, given: dict[str, str], name: str) -> dict[str, bool]:
        """Take its items away until it is undrained; what runs finishes."""
        return {"changed": executor_action.drain(name, reason=given["reason"])}


@blueprint.route("/executors/<name>/failover")
class Failover(MethodView):
    """Taking its items away at once."""

    @idempotent(blueprint)
    @blueprint.arguments(ReasonSchema)
    @blueprint.response(202, ChangedSchema)
    @role("operator")
    def post(self, given: dict[str, str], name: str) -> dict[str, bool]:
        """Take its items away; what runs is stopped and run elsewhere."""
        return {"changed": executor_action.drain(name, now=True, reason=given["reason"])}


@blueprint.route("/executors/<name>/undrain")
class Undrain(MethodView):
    """Giving it items again."""

    @idempotent(blueprint)
    @blueprint.response(202, ChangedSchema)
    @role("operator")
    def post(self, name: str) -> dict[str, bool]:
        """Give it items again."""
        return {"changed": executor_action.undrain(name)}


@blueprint.route("/executors/<name>/forget")
class Forget(MethodView):
    """Removing what is left of one that is gone."""

    @idempotent(blueprint)
    @blueprint.response(204)
    @role("operator")
    def post(self, name: str) -> None:
        """Remove the mark of one that is gone; 409 if it lives."""
        executor_action.forget(name)


def _document(one: ExecutorStatus) -> dict[str, Any]:
    record = one.record
    of_record = {
        name: None if record is None else getattr(record, name)
        for name in ("host", "pid", "started_at", "version", "slots")
    }
    of_status = {name: getattr(one, name) for name in ("name", "state", "reason", "is_leader", "items", "running")}
    of_status["reason"] = said(one.reason) if one.reason else None
    return of_status | of_record | {"labels": dict(record.labels) if record else {}, "last_load": one.load}
