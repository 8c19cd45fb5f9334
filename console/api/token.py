"""Tokens of everybody, for admins."""

from __future__ import annotations

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from console import account
from console.api.base import resource
from console.api.schema import ROLE
from console.context import context
from console.role import role
from shardsched.people.token import DEFAULT_DAYS, MAX_DAYS, Token

blueprint = resource("tokens", "Tokens of the API")


class TokenSchema(Schema):
    """A token; its secret is known to its holder only."""

    id = fields.String(required=True)
    owner = fields.String(required=True)
    name = fields.String(required=True)
    role = fields.String(required=True, validate=ROLE)
    scope = fields.String(required=True, metadata={"description": "Pattern of the jobs that it may change; empty: all"})
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True)
    used_at = fields.DateTime(required=True, allow_none=True)
    revoked_at = fields.DateTime(required=True, allow_none=True)


class TokenListSchema(Schema):
    """Tokens."""

    items = fields.List(fields.Nested(TokenSchema), required=True)


class NewTokenSchema(Schema):
    """A token to be made."""

    name = fields.String(required=True, validate=validate.Length(1, 64))
    role = fields.String(required=True, validate=ROLE)
    days = fields.Integer(load_default=DEFAULT_DAYS, strict=True, validate=validate.Range(1, MAX_DAYS))
    scope = fields.String(load_default="", validate=validate.Length(max=128))


@blueprint.route("/tokens")
class Tokens(MethodView):
    """All tokens."""

    @blueprint.response(200, TokenListSchema)
    @role("admin")
    def get(self) -> dict[str, Any]:
        """Return them, the newest first."""
        return {"items": context().people.tokens.list()}


@blueprint.route("/tokens/<string:identity>/revoke")
class Revocation(MethodView):
    """The end of a token."""

    @blueprint.response(200, TokenSchema)
    @role("viewer")
    def post(self, identity: str) -> Token:
        """Revoke a token, one's own or any as an admin; doing it twice is doing it once."""
        return account.revoke_token(identity)
