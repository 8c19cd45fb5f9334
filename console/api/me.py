"""Who one is, one's password and one's tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from console import account
from console.api.base import resource
from console.api.schema import ROLE
from console.api.token import NewTokenSchema, TokenListSchema, TokenSchema
from console.context import actor, context
from console.limit import limit_password
from console.role import role
from console.sign_in import begin_sign_in
from shardsched.people.role import Role

if TYPE_CHECKING:
    from shardsched.people.token import Token

blueprint = resource("me", "Who one is")


class MeSchema(Schema):
    """Who asks."""

    name = fields.String(required=True)
    role = fields.String(required=True, validate=ROLE, metadata={"description": "What this token or sign-in may do"})
    token = fields.String(required=True, allow_none=True, metadata={"description": "Identity of the token used"})
    scope = fields.String(required=True, metadata={"description": "Pattern of the jobs that it may change"})
    language = fields.String(required=True)
    zone = fields.String(required=True)


class PasswordSchema(Schema):
    """A change of one's password."""

    old = fields.String(required=True, validate=validate.Length(max=1000))
    new = fields.String(required=True, validate=validate.Length(max=1000))


class SecretSchema(TokenSchema):
    """A new token."""

    secret = fields.String(required=True, metadata={"description": "Shown this once"})


@blueprint.route("/me")
class Me(MethodView):
    """Who asks."""

    @blueprint.response(200, MeSchema)
    @role("viewer")
    def get(self) -> dict[str, Any]:
        """Return who asks, and what they may do."""
        who = actor()
        return {
            "name": who.name,
            "role": who.role.value,
            "token": who.token.id if who.token else None,
            "scope": who.token.scope if who.token else "",
            "language": who.user.language,
            "zone": who.user.zone,
        }


@blueprint.route("/me/password")
class Password(MethodView):
    """One's password."""

    @limit_password
    @blueprint.arguments(PasswordSchema)
    @blueprint.response(204)
    @role("viewer")
    def post(self, given: dict[str, str]) -> None:
        """Change it; whatever else is signed in ends, and tokens go on."""
        user = account.change_own_password(given["old"], given["new"])
        if actor().session is not None:
            begin_sign_in(user)


@blueprint.route("/me/tokens")
class MyTokens(MethodView):
    """One's tokens."""

    @blueprint.response(200, TokenListSchema)
    @role("viewer")
    def get(self) -> dict[str, Any]:
        """Return them, the newest first."""
        return {"items": context().people.tokens.list(actor().user)}

    @blueprint.arguments(NewTokenSchema)
    @blueprint.response(201, SecretSchema)
    @role("viewer", proof=True)
    def post(self, given: dict[str, Any]) -> dict[str, Any]:
        """Make one; its secret is shown this once."""
        secret, token = account.create_token(given["name"], Role(given["role"]), given["days"], given["scope"])
        return {**_fields_of(token), "secret": secret}


def _fields_of(token: Token) -> dict[str, Any]:
    return {name: getattr(token, name) for name in token.__dataclass_fields__}
