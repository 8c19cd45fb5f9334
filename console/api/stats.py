"""Statistics, from roll-ups alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from console import statistics_view
from console.api.base import resource
from console.context import context
from console.role import role
from console.statistics_view import RANGES, USUAL
from shardsched.history.figure import Metric, Ranked, Ranking

blueprint = resource("stats", "How well the fleet did")

_RANGE = validate.OneOf(list(RANGES))
_JOB = validate.Length(max=400)
_MAX_STEP_MINUTES = 60 * 24 * 31


class SummaryQuery(Schema):
    """Of which time and job."""

    range = fields.String(load_default=USUAL, validate=_RANGE)
    job = fields.String(load_default=None, validate=_JOB)


class FigureSchema(Schema):
    """A figure, and what it was in the period before."""

    now = fields.Float(required=True, allow_none=True)
    before = fields.Float(required=True, allow_none=True)


class SummarySchema(Schema):
    """One period."""

    since = fields.DateTime(required=True)
    counts = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    figures = fields.Dict(keys=fields.String(), values=fields.Nested(FigureSchema), required=True)


class SeriesQuery(Schema):
    """Which figure over which time."""

    metric = fields.String(required=True, validate=validate.OneOf([metric.value for metric in Metric]))
    step = fields.Integer(
        load_default=60,
        validate=validate.Range(1, _MAX_STEP_MINUTES),
        metadata={"description": "Minutes that each point stands for; minutes are kept for three days"},
    )
    begin = fields.AwareDateTime(load_default=None, data_key="from")
    end = fields.AwareDateTime(load_default=None, data_key="to")
    job = fields.String(load_default=None, validate=_JOB)


class PointSchema(Schema):
    """One point."""

    at = fields.DateTime(required=True)
    value = fields.Float(required=True, allow_none=True)


class SeriesSchema(Schema):
    """A figure over time."""

    metric = fields.String(required=True)
    points = fields.List(fields.Nested(PointSchema), required=True)


class TopQuery(Schema):
    """Which ranking."""

    by = fields.String(load_default="failing", validate=validate.OneOf([by.value for by in Ranking]))
    of = fields.String(load_default="jobs", validate=validate.OneOf([of.value for of in Ranked]))
    n = fields.Integer(load_default=10, validate=validate.Range(1, 100))
    range = fields.String(load_default=USUAL, validate=_RANGE)


class StandingSchema(Schema):
    """A job or executor in a ranking."""

    name = fields.String(required=True)
    value = fields.Float(required=True)
    runs = fields.Integer(required=True, attribute="total.runs")
    failed = fields.Integer(required=True, attribute="total.failed")
    success_rate = fields.Float(required=True, allow_none=True, attribute="total.success_rate")


class TopSchema(Schema):
    """A ranking."""

    items = fields.List(fields.Nested(StandingSchema), required=True)


@blueprint.route("/stats/summary")
class Summary(MethodView):
    """A period that ends now."""

    @blueprint.arguments(SummaryQuery, location="query")
    @blueprint.response(200, SummarySchema)
    @role("viewer")
    def get(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return its figures, beside those of the period before."""
        found = statistics_view.summary(RANGES[query["range"]].span, query["job"])
        return {"since": found.since, "counts": found.now.counts, "figures": found.changes()}


@blueprint.route("/stats/series")
class Series(MethodView):
    """A figure over time."""

    @blueprint.arguments(SeriesQuery, location="query")
    @blueprint.response(200, SeriesSchema)
    @role("viewer")
    def get(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return it, of the last 24 hours unless told."""
        end = query["end"] or context().clock.now()
        begin = query["begin"] or end - timedelta(hours=24)
        step = timedelta(minutes=query["step"])
        points = context().history.series(Metric(query["metric"]), step, begin, end, query["job"])
        return {"metric": query["metric"], "points": points}


@blueprint.route("/stats/top")
class Top(MethodView):
    """Who leads a ranking."""

    @blueprint.arguments(TopQuery, location="query")
    @blueprint.response(200, TopSchema)
    @role("viewer")
    def get(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return the first of it."""
        since = context().clock.now() - RANGES[query["range"]].span
        return {"items": statistics_view.ranking(Ranking(query["by"]), Ranked(query["of"]), query["n"], since)}
