"""What people did, for admins."""

from __future__ import annotations

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from console.api.base import decode_cursor, encode_cursor, resource
from console.api.schema import CursorQuery
from console.context import context
from console.role import role
from shardsched.people.audit import AuditFilter, Result

blueprint = resource("audit", "What people did, and what was refused them")

_RESULT = validate.OneOf([result.value for result in Result])


class AuditQuery(CursorQuery):
    """Which entries are wanted."""

    actor = fields.String(load_default="", validate=validate.Length(max=64))
    action = fields.String(load_default="", validate=validate.Length(max=64))
    kind = fields.String(load_default="", validate=validate.Length(max=32))
    object = fields.String(load_default="", validate=validate.Length(max=128))
    result = fields.String(load_default="", validate=validate.OneOf(["", *(result.value for result in Result)]))
    since = fields.AwareDateTime(load_default=None)
    until = fields.AwareDateTime(load_default=None)


class EntrySchema(Schema):
    """One thing that somebody did."""

    id = fields.Integer(required=True)
    at = fields.DateTime(required=True)
    actor = fields.String(required=True)
    token = fields.String(required=True)
    address = fields.String(required=True)
    action = fields.String(required=True)
    kind = fields.String(required=True)
    object = fields.String(required=True)
    before = fields.Raw(required=True, allow_none=True)
    after = fields.Raw(required=True, allow_none=True)
    reason = fields.String(required=True)
    request_id = fields.String(required=True)
    result = fields.String(required=True, validate=_RESULT)
    message = fields.String(required=True)


class EntryListSchema(Schema):
    """Entries, the newest first."""

    items = fields.List(fields.Nested(EntrySchema), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "Cursor of the next page, or null"})


@blueprint.route("/audit")
class Entries(MethodView):
    """The audit."""

    @blueprint.arguments(AuditQuery, location="query")
    @blueprint.response(200, EntryListSchema)
    @role("admin")
    def get(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return entries, the newest first."""
        place, limit = decode_cursor(query.pop("cursor", None), int), query.pop("limit")
        before = place[0] if place else None
        entries = context().people.audit.page(AuditFilter(**query), before_id=before, limit=limit + 1)
        shown = entries[:limit]
        return {"items": shown, "next": encode_cursor(shown[-1].id) if len(entries) > limit else None}
