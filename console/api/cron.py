"""When a cron expression fires, before it is saved."""

from __future__ import annotations

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from console.api.base import resource
from console.context import context
from console.cron_text import cron_words
from console.locale import locale
from console.role import role
from shardsched.core.cron import check_can_fire, parse_cron
from shardsched.core.zone import load_zone

blueprint = resource("cron", "Cron expressions")


class PreviewQuery(Schema):
    """An expression, and how much is wanted."""

    cron = fields.String(required=True, validate=validate.Length(max=1000))
    timezone = fields.String(load_default="UTC", validate=validate.Length(max=100))
    after = fields.AwareDateTime(load_default=None, metadata={"description": "Instead of now"})
    count = fields.Integer(load_default=5, strict=True, validate=validate.Range(1, 50))


class PreviewSchema(Schema):
    """What the scheduler makes of an expression."""

    cron = fields.String(required=True)
    timezone = fields.String(required=True)
    dialect = fields.String(required=True, validate=validate.OneOf(["unix", "quartz"]))
    text = fields.String(required=True, allow_none=True, metadata={"description": "In words, where there are some"})
    fires = fields.List(fields.DateTime(), required=True, metadata={"description": "In the given zone"})


@blueprint.route("/cron/preview")
class Preview(MethodView):
    """What an expression means."""

    @blueprint.arguments(PreviewQuery)
    @blueprint.response(200, PreviewSchema)
    @role("viewer")
    def post(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return when it fires next and what it says; 422 with the field at fault if it is refused. Changes nothing."""
        return preview(**given)


def preview(cron: str, timezone: str, after: Any = None, count: int = 5) -> dict[str, Any]:
    """Return what the scheduler makes of an expression.

    Raises:
        CronExpressionError: It is refused, or never fires.
    """
    trigger, begin = parse_cron(cron, timezone), after or context().clock.now()
    check_can_fire(trigger, begin)
    zone = load_zone(timezone)
    return {
        "cron": cron,
        "timezone": timezone,
        "dialect": trigger.dialect.value,
        "text": cron_words(cron, locale()),
        "fires": [fire.astimezone(zone) for fire in trigger.fires(begin, count)],
    }
