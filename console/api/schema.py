"""The shapes of the API's documents that more than one resource has."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from shardsched.people.role import Role

ROLE = validate.OneOf([role.value for role in Role])


class FaultSchema(Schema):
    """A field at fault."""

    pointer = fields.String(required=True, metadata={"description": "JSON pointer to it"})
    code = fields.String(required=True)
    detail = fields.String(required=True)


class ProblemSchema(Schema):
    """What went wrong, after RFC 9457."""

    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True, metadata={"description": "For people, in the language asked for"})
    code = fields.String(required=True, metadata={"description": "Stable, for programs"})
    request_id = fields.String(required=True)
    errors = fields.List(fields.Nested(FaultSchema))


class CursorQuery(Schema):
    """Which part of a list that has no count."""

    cursor = fields.String(metadata={"description": "What `next` said on the page before"})
    limit = fields.Integer(load_default=50, validate=validate.Range(1, 200))
