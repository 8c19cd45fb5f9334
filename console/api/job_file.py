"""Many jobs at once: one thing done to all, files in and out."""

from __future__ import annotations

from typing import Any

from flask.views import MethodView
from werkzeug.exceptions import UnprocessableEntity

from console import job_action, job_bulk, job_exchange
from console.api.base import idempotent, resource
from console.api.job_command_schema import (
    BulkResultsSchema,
    BulkSchema,
    ExportQuery,
    ExportSchema,
    ImportResultSchema,
    ImportSchema,
)
from console.context import actor
from console.job_list import Wanted
from console.role import role
from console.sentence_text import said
from console.text import gettext as _
from shardsched.people.role import Role

blueprint = resource("job-files", "Many jobs at once")


@blueprint.route("/jobs:bulk")
class Bulk(MethodView):
    """One thing done to many jobs."""

    @idempotent(blueprint)
    @blueprint.arguments(BulkSchema)
    @blueprint.response(200, BulkResultsSchema)
    @role("operator")
    def post(self, given: dict[str, Any]) -> dict[str, Any]:
        """Do it to each by itself, and say what became of each; 409 if other jobs match than were expected."""
        action, is_dry = given["action"], given["dry_run"]
        actor().require(Role.ADMIN if action == "delete" else Role.OPERATOR)
        names = _names(given)
        if is_dry:
            results = [job_bulk.Result(name, is_done=False, is_changed=False, message="") for name in names]
        else:
            results = list(job_bulk.act(action, names).results)
            job_action.refresh()
        return {"dry_run": is_dry, "items": [one._asdict() | {"message": said(one.message)} for one in results]}


@blueprint.route("/jobs:import")
class Import(MethodView):
    """A file of jobs coming in."""

    @idempotent(blueprint)
    @blueprint.arguments(ImportSchema)
    @blueprint.response(200, ImportResultSchema)
    @role("operator")
    def post(self, given: dict[str, Any]) -> dict[str, Any]:
        """Say what an import would do, or do it; 409 if one job keeps all from being written."""
        is_dry, text, form = given.pop("dry_run"), given.pop("text"), given.pop("format")
        plan, unhosted = job_exchange.plan_import(text, form=form, **given)
        steps = list(plan.steps) if is_dry else job_exchange.carry_out(plan)
        if not is_dry:
            job_action.refresh()
        documents = [job_exchange.step_document(step) for step in steps]
        return {"format": plan.form, "is_written": not is_dry, "items": documents, "unhosted": unhosted}


@blueprint.route("/jobs:export")
class Export(MethodView):
    """Jobs going out as a file."""

    @blueprint.arguments(ExportQuery, location="query")
    @blueprint.response(200, ExportSchema)
    @role("viewer")
    def get(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return jobs as a file that an import takes; secrets of tasks are written as ``***``."""
        return job_exchange.export_document(query["names"])


def _names(given: dict[str, Any]) -> list[str]:
    if ("names" in given) == ("filter" in given):
        raise UnprocessableEntity(_("Give either names or a filter."))
    if "names" in given:
        return list(dict.fromkeys(given["names"]))
    if "expect_count" not in given:
        raise UnprocessableEntity(_("A filter needs expect_count: how many jobs you saw."))
    return job_bulk.matching(Wanted.of(given["filter"]), given["expect_count"])
