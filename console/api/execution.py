"""Runs: all of them by filters, one with its attempts and its output, and doing one again."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from flask.views import MethodView
from marshmallow import Schema, ValidationError, fields, validate
from werkzeug.exceptions import RequestedRangeNotSatisfiable

from console import execution_action
from console.api.base import idempotent, resource
from console.api.schema import CursorQuery
from console.context import context
from console.label import OUTCOMES
from console.log_view import log_bytes, log_size
from console.role import role
from shardsched.history.filter import RunFilter
from shardsched.history.log_shelf import MAX_BLOCK_BYTES

blueprint = resource("executions", "Runs of items, as they were and as they are")

_NAME = validate.Length(max=400)
_LAST = 10_000
_FAR = 2**53


class Codes(fields.String):
    """Several codes with commas between them."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        codes = frozenset(filter(None, text.split(",")))
        if len(codes) > len(OUTCOMES):
            raise ValidationError("too many of them")
        return codes


class RunQuery(CursorQuery):
    """Which runs are wanted; all conditions hold together."""

    job = fields.String(load_default=None, validate=_NAME)
    item = fields.Integer(load_default=None, validate=validate.Range(0, 2**31))
    executor = fields.String(load_default=None, validate=_NAME)
    outcome = Codes(
        load_default=frozenset(),
        validate=lambda codes: validate.ContainsOnly(OUTCOMES)(sorted(codes)),
        metadata={"description": f"With commas between them, of: {', '.join(OUTCOMES)}"},
    )
    cause = Codes(load_default=frozenset(), metadata={"description": "Likewise: schedule, misfire, manual and so on"})
    since = fields.AwareDateTime(load_default=None, metadata={"description": "Claimed then or later"})
    until = fields.AwareDateTime(load_default=None, metadata={"description": "Claimed before"})
    min_duration_s = fields.Float(load_default=None, validate=validate.Range(0, 1e12))


class RunSchema(Schema):
    """One attempt at one item of one fire."""

    run_id = fields.String(required=True)
    job = fields.String(required=True)
    item = fields.Integer(required=True)
    items = fields.Integer(required=True)
    fire = fields.DateTime(required=True)
    cause = fields.String(required=True)
    by = fields.String(required=True)
    attempt = fields.Integer(required=True)
    executor = fields.String(required=True)
    token = fields.Integer(required=True)
    queued_at = fields.DateTime(required=True)
    started_at = fields.DateTime(required=True, allow_none=True)
    ended_at = fields.DateTime(required=True, allow_none=True)
    outcome = fields.String(required=True, allow_none=True, metadata={"description": "null while it runs"})
    message = fields.String(required=True)
    exit_code = fields.Integer(required=True, allow_none=True)
    signal = fields.Integer(required=True, allow_none=True)
    peak_memory_kb = fields.Integer(required=True)
    cpu_s = fields.Float(required=True)
    duration_s = fields.Float(required=True)
    dropped_bytes = fields.Integer(required=True)
    param = fields.String(required=True)
    job_param = fields.String(required=True)
    stats = fields.Dict(keys=fields.String(), required=True)


class RunListSchema(Schema):
    """Runs, the newest first."""

    items = fields.List(fields.Nested(RunSchema), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "Cursor of the next page, or null"})


class WholeRunSchema(RunSchema):
    """A run with its error and all attempts at its item of its fire."""

    traceback = fields.String(required=True)
    attempts = fields.List(fields.Nested(RunSchema), required=True)


class LogQuery(Schema):
    """Which part of an output."""

    offset = fields.Integer(
        load_default=None,
        validate=validate.Range(-_FAR, _FAR),
        metadata={"description": "First byte; counted from the end where negative; the last `limit` bytes unless told"},
    )
    limit = fields.Integer(load_default=65_536, validate=validate.Range(1, MAX_BLOCK_BYTES))


class RerunSchema(Schema):
    """What is to be run again."""

    items = fields.List(
        fields.Integer(validate=validate.Range(0, 2**31)),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, _LAST),
        metadata={"description": "Items of the job; that of the run unless told"},
    )
    with_param = fields.Boolean(
        load_default=False, metadata={"description": "With the job's parameter as the run had it"}
    )


class TriggerSchema(Schema):
    """What was triggered."""

    job = fields.String(required=True)
    number = fields.Integer(required=True)
    owners = fields.Dict(keys=fields.String(), values=fields.List(fields.Integer()), required=True)
    waiting = fields.List(fields.Integer(), required=True)


class StoppedSchema(Schema):
    """What is being stopped."""

    job = fields.String(required=True)
    running = fields.List(fields.Integer(), required=True)


@blueprint.route("/executions")
class Executions(MethodView):
    """All runs."""

    @blueprint.arguments(RunQuery, location="query")
    @blueprint.response(200, RunListSchema)
    @role("viewer")
    def get(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return runs, the last claimed first; a page may have few, or none, and yet go on."""
        after, limit = query.pop("cursor", None) or None, query.pop("limit")
        wanted = RunFilter(outcomes=query.pop("outcome"), causes=query.pop("cause"), **query)
        page = context().history.runs(wanted, after=after, limit=limit)
        return {"items": page.rows, "next": page.next}


@blueprint.route("/executions/<run_id>")
class One(MethodView):
    """One run."""

    @blueprint.etag
    @blueprint.response(200, WholeRunSchema)
    @role("viewer")
    def get(self, run_id: str) -> dict[str, Any]:
        """Return one, whole."""
        run = execution_action.find(run_id)
        attempts = context().history.attempts(run.job, run.item, run.fire)
        shown = {name: getattr(run, name) for name in WholeRunSchema._declared_fields if name != "attempts"}  # noqa: SLF001 - marshmallow has no other name for it
        return shown | {"attempts": attempts}


@blueprint.route("/executions/<run_id>/log")
class Log(MethodView):
    """The output of one run."""

    @blueprint.arguments(LogQuery, location="query")
    @blueprint.response(200, content_type="text/plain")
    @blueprint.alt_response(206, description="A part of it, as a Range header asked for", content_type="text/plain")
    @blueprint.alt_response(416, description="There is no such part")
    @role("viewer")
    def get(self, query: dict[str, Any], run_id: str) -> Response:
        """Return a part of the output as it is; X-Log-Size has its size, X-Log-Source where it comes from.

        A Range header does the same with bytes. `history` as the source says that only the end is kept.
        """
        run = execution_action.find(run_id)
        source, size = log_size(run)
        begin, end, is_range = _wanted(query, size)
        response = Response(b"".join(log_bytes(run, begin, end)), 206 if is_range else 200, mimetype="text/plain")
        if is_range:
            response.headers["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"
        response.headers |= {
            "Accept-Ranges": "bytes",
            "X-Log-Size": size,
            "X-Log-Offset": begin,
            "X-Log-Source": source,
        }
        return response


@blueprint.route("/executions/<run_id>/rerun")
class Rerun(MethodView):
    """Running it again."""

    @idempotent(blueprint)
    @blueprint.arguments(RerunSchema)
    @blueprint.response(202, TriggerSchema)
    @role("operator")
    def post(self, given: dict[str, Any], run_id: str) -> Any:
        """Have its item, or others of its job, run once now."""
        run = execution_action.find(run_id)
        return execution_action.rerun(run, items=given["items"], has_param=given["with_param"])


@blueprint.route("/executions/<run_id>/stop")
class Stop(MethodView):
    """Stopping it."""

    @idempotent(blueprint)
    @blueprint.response(202, StoppedSchema)
    @role("operator")
    def post(self, run_id: str) -> Any:
        """Stop all running items of its job; 409 if it is over."""
        return execution_action.stop(execution_action.find(run_id))


def _wanted(query: dict[str, Any], size: int) -> tuple[int, int, bool]:
    """Return which bytes are wanted, and whether a Range header says so.

    Raises:
        RequestedRangeNotSatisfiable: There are no such.
    """
    if request.range is not None:
        found = request.range.range_for_length(size)
        if found is None:
            raise RequestedRangeNotSatisfiable(size)
        begin, end = found
        return begin, min(end, begin + MAX_BLOCK_BYTES), True
    limit, offset = query["limit"], query["offset"]
    begin = -limit if offset is None else offset
    begin = min(max(size + begin if begin < 0 else begin, 0), size)
    return begin, min(begin + limit, size), False
