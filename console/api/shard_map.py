"""The fleet at a glance, and what changed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Response
from flask.views import MethodView
from marshmallow import Schema, fields, validate

from console.api.base import resource
from console.context import context
from console.live_text import live_text
from console.role import role
from shardsched.errors import RegistryUnavailableError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = resource("shard-map", "Who runs what, and what changed")


class MapQuery(Schema):
    """What the asker has seen."""

    since = fields.String(
        load_default=None,
        validate=validate.Length(max=64),
        metadata={"description": "`version` of the last answer; without it, or if it is too old, all is given"},
    )


class MapJobSchema(Schema):
    """One job of the map."""

    name = fields.String(required=True)
    state = fields.String(required=True)
    reason = fields.String(required=True, allow_none=True)
    cron = fields.String(required=True, allow_none=True)
    timezone = fields.String(required=True, allow_none=True)
    failover = fields.Boolean(required=True, allow_none=True)
    items = fields.String(
        required=True,
        metadata={
            "description": "A letter for each item: r running, v running after a failover, k done, f failed, "
            "s stopped, l lost, m missed, y waits for a retry, w never ran, p paused, d disabled, u unowned, "
            "h held, x unreadable"
        },
    )
    owners = fields.List(
        fields.Integer(), required=True, metadata={"description": "Number of the executor of each item, 0 for nobody"}
    )
    next_fire = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Seconds since 1970, or null where it fires no more"}
    )
    version = fields.Integer(required=True)


class MapSchema(Schema):
    """The map, or what changed of it."""

    version = fields.String(required=True)
    full = fields.Boolean(required=True, metadata={"description": "Whether this is all, and not only what changed"})
    at = fields.DateTime(required=True, allow_none=True, metadata={"description": "When the registry last answered"})
    fault = fields.String(required=True, allow_none=True, metadata={"description": "Why there is nothing newer"})
    filled = fields.Boolean(required=True, metadata={"description": "Whether all items have been read once"})
    executors = fields.List(fields.Dict(), required=True, allow_none=True, metadata={"description": "If they changed"})
    removed = fields.List(fields.String(), required=True, metadata={"description": "Jobs that are gone"})
    jobs = fields.List(fields.Nested(MapJobSchema), required=True)
    said = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        metadata={"description": "Each `reason`, and `fault`, in your language where that is not English"},
    )
    words = fields.Dict(
        keys=fields.String(), values=fields.String(), required=True, metadata={"description": "Schedules in words"}
    )


@blueprint.route("/shard-map")
class ShardMap(MethodView):
    """The shard map."""

    @blueprint.arguments(MapQuery, location="query")
    @blueprint.response(200, MapSchema)
    @blueprint.alt_response(304, description="Nothing changed")
    @role("viewer")
    def get(self, query: dict[str, Any]) -> ResponseReturnValue:
        """Return all items with their states and owners, or what changed since an earlier answer."""
        sight = context().fleet.sight()
        if sight.picture is None:
            raise RegistryUnavailableError(sight.fault or Sentence("the registry has not answered yet; try again"))
        if query["since"] == sight.picture.version:
            return Response(status=304)
        return Response(live_text(sight.picture, query["since"]), mimetype="application/json")
