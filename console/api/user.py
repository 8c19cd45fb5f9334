"""Users, for admins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import url_for
from flask.views import MethodView
from marshmallow import Schema, fields, validate

from console import account
from console.api.base import idempotent, resource
from console.api.schema import ROLE
from console.context import context
from console.page_number import MAX_ID
from console.role import role
from shardsched.people.role import Role

if TYPE_CHECKING:
    from shardsched.people.user import User

blueprint = resource("users", "Users of the console")

_PASSWORD_LENGTH = validate.Length(max=1000)


class UserSchema(Schema):
    """A user."""

    id = fields.Integer(required=True)
    name = fields.String(required=True)
    role = fields.String(required=True, validate=ROLE)
    created_at = fields.DateTime(required=True)
    signed_in_at = fields.DateTime(required=True, allow_none=True)


class UserListSchema(Schema):
    """Users on one page; the header ``X-Pagination`` has the counts."""

    items = fields.List(fields.Nested(UserSchema), required=True)


class NewUserSchema(Schema):
    """A user to be made."""

    name = fields.String(required=True, validate=validate.Length(2, 64))
    role = fields.String(required=True, validate=ROLE)
    password = fields.String(required=True, validate=_PASSWORD_LENGTH, load_only=True)


class UserChangeSchema(Schema):
    """What of a user is to be another; what is left out stays."""

    role = fields.String(validate=ROLE)
    password = fields.String(validate=_PASSWORD_LENGTH, load_only=True)


@blueprint.route("/users")
class Users(MethodView):
    """All users."""

    @blueprint.response(200, UserListSchema)
    @blueprint.paginate(page_size=50, max_page_size=200)
    @role("admin")
    def get(self, pagination_parameters: Any) -> dict[str, Any]:
        """Return them by name."""
        first, size = pagination_parameters.first_item, pagination_parameters.page_size
        users, pagination_parameters.item_count = context().people.users.page(offset=first, limit=size)
        return {"items": users}

    @idempotent(blueprint)
    @blueprint.arguments(NewUserSchema)
    @blueprint.response(201, UserSchema, headers={"Location": {"schema": {"type": "string"}}})
    @role("admin", proof=True)
    def post(self, given: dict[str, str]) -> tuple[User, int, dict[str, str]]:
        """Make one."""
        user = account.create_user(given["name"], Role(given["role"]), given["password"])
        return user, 201, {"Location": url_for("api_users.One", user_id=user.id)}


@blueprint.route(f"/users/<int(max={MAX_ID}):user_id>")
class One(MethodView):
    """One user."""

    @blueprint.etag
    @blueprint.response(200, UserSchema)
    @role("admin")
    def get(self, user_id: int) -> User:
        """Return one."""
        user = account.find_user(user_id)
        blueprint.set_etag(_tag(user))
        return user

    @blueprint.etag
    @blueprint.arguments(UserChangeSchema)
    @blueprint.response(200, UserSchema)
    @role("admin", proof=True)
    def patch(self, given: dict[str, str], user_id: int) -> User:
        """Change a role or a password: their sign-ins end, and with a new password their tokens too."""
        before = account.find_user(user_id)
        blueprint.check_etag(_tag(before))
        chosen = Role(given["role"]) if "role" in given else None
        user = account.change_user(
            user_id, role=chosen, password=given.get("password"), expected_version=before.version
        )
        blueprint.set_etag(_tag(user))
        return user

    @blueprint.etag
    @blueprint.response(204)
    @role("admin", proof=True)
    def delete(self, user_id: int) -> None:
        """Remove one, with their sign-ins and tokens."""
        before = account.find_user(user_id)
        blueprint.check_etag(_tag(before))
        account.delete_user(user_id, expected_version=before.version)


def _tag(user: User) -> list[int]:
    return [user.id, user.version]
