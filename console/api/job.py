"""Jobs: the list, and one with its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import g, url_for
from flask.views import MethodView

from console import job_action, job_text, job_view
from console.api.base import idempotent, resource
from console.api.job_schema import (
    DeleteQuery,
    FiresQuery,
    FiresSchema,
    JobListSchema,
    JobPatchSchema,
    JobPutSchema,
    JobQuery,
    JobSchema,
    NewJobSchema,
    RemovalSchema,
)
from console.context import context
from console.job_form import unmasked
from console.job_list import Wanted, wanted_rows
from console.job_revision import shown_settings, tag_of
from console.role import role
from console.sentence_text import said
from shardsched.core.setting import merged_settings, public_settings
from shardsched.errors import ConflictError, CorruptNodeError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.job_list import Row
    from shardsched.admin.status import JobStatus
    from shardsched.core.view import JobEntry

blueprint = resource("jobs", "Jobs: what runs, when, and over how many items")


@blueprint.route("/jobs")
class Jobs(MethodView):
    """All jobs."""

    @blueprint.arguments(JobQuery, location="query")
    @blueprint.response(200, JobListSchema)
    @blueprint.paginate(page_size=50, max_page_size=200)
    @role("viewer")
    def get(self, query: dict[str, Any], pagination_parameters: Any) -> dict[str, Any]:
        """Return those that a filter takes."""
        parts = context()
        rates = parts.rates.by_job()
        rows = wanted_rows(parts.jobs.rows(parts.fleet.sight()), Wanted.of(query), rates)
        pagination_parameters.item_count = len(rows)
        first, last = pagination_parameters.first_item, pagination_parameters.last_item
        return {"items": [_summary(row, rates) for row in rows[first : last + 1]]}

    @idempotent(blueprint)
    @blueprint.arguments(NewJobSchema)
    @blueprint.response(201, JobSchema, headers={"Location": {"schema": {"type": "string"}}})
    @role("operator")
    def post(self, given: dict[str, Any]) -> tuple[dict[str, Any], int, dict[str, str]]:
        """Make one."""
        g.fault_base = "/settings"
        settings = unmasked(given["settings"], {})
        entry = job_action.create(given["name"], settings, must_be_hosted=given["must_be_hosted"])
        job_action.refresh()
        return one_document(entry.name), 201, {"Location": url_for("api_jobs.One", name=entry.name)}


@blueprint.route("/jobs/<string:name>")
class One(MethodView):
    """One job."""

    @blueprint.etag
    @blueprint.response(200, JobSchema)
    @role("viewer")
    def get(self, name: str) -> dict[str, Any]:
        """Return one; its ETag is the version that a change must be decided on."""
        entry = job_action.find(name).entry
        blueprint.set_etag(_tag(entry))
        return one_document(name)

    @blueprint.etag
    @blueprint.arguments(JobPutSchema)
    @blueprint.response(200, JobSchema)
    @role("operator")
    def put(self, given: dict[str, Any], name: str) -> dict[str, Any]:
        """Set all settings; what is left out has its default."""
        entry = job_action.find(name).entry
        blueprint.check_etag(_tag(entry))
        return _changed(entry, merged_settings({}, given["settings"]))

    @blueprint.etag
    @blueprint.arguments(JobPatchSchema, content_type="application/merge-patch+json")
    @blueprint.response(200, JobSchema)
    @role("operator")
    def patch(self, given: dict[str, Any], name: str) -> dict[str, Any]:
        """Change some settings, as a merge patch."""
        entry = job_action.find(name).entry
        blueprint.check_etag(_tag(entry))
        if entry.config is None:
            raise CorruptNodeError(
                path=f"job {name}", reason=Sentence("%(held)s; put all of its settings", held=entry.held)
            )
        return _changed(entry, merged_settings(public_settings(entry.config), given["settings"]))

    @blueprint.etag
    @blueprint.arguments(DeleteQuery, location="query")
    @blueprint.response(200, RemovalSchema)
    @role("admin", proof=True)
    def delete(self, query: dict[str, bool], name: str) -> dict[str, Any]:
        """Delete one with all that is stored of it; 409 while items of it run, unless they are to be stopped."""
        admin, entry = job_action.find(name)
        blueprint.check_etag(_tag(entry))
        if not query["stop"] and any(item.marker is not None for item in admin.job_status(name).items):
            message = Sentence(
                "items of job %(name)r run; wait until they have ended, or delete it with stop=true", name=name
            )
            raise ConflictError(message)
        removal = job_action.delete(name)
        job_action.refresh()
        return {"is_done": removal.is_done, "running": removal.running}


@blueprint.route("/jobs/<string:name>/next-fires")
class NextFires(MethodView):
    """When it fires next."""

    @blueprint.arguments(FiresQuery, location="query")
    @blueprint.response(200, FiresSchema)
    @role("viewer")
    def get(self, query: dict[str, int], name: str) -> dict[str, Any]:
        """Return its next fires, pauses left out; none for a job that fires only when it is triggered."""
        config = job_action.find(name).entry.config
        fires = job_view.next_fires(config, query["n"]) if config is not None else []
        return {"fires": [fire.at for fire in fires], "paused": config is not None and config.paused}


def one_document(name: str) -> dict[str, Any]:
    """Return one job as it stands now."""
    status = context().fleet.admin().job_status(name)
    return {**_state(status), "owners": status.owners, "running": [one.item for one in status.items if one.marker]}


def _state(status: JobStatus) -> dict[str, Any]:
    config = status.entry.config
    return {
        "name": status.entry.name,
        "state": str(status.state),
        "reasons": [said(reason) for reason in status.reasons],
        "settings": shown_settings(config) if config else None,
        "next_fire": status.next_fire,
    }


def _summary(row: Row, rates: Mapping[str, float]) -> dict[str, Any]:
    config = row.status.entry.config
    return {
        "name": row.name,
        "state": str(row.status.state),
        "reasons": [said(reason) for reason in row.status.reasons],
        "kind": row.kind,
        "handler": config.handler if config else None,
        "cron": config.cron if config else None,
        "timezone": config.timezone if config else None,
        "text": job_text.schedule_words(config),
        "items": len(row.codes),
        "states": dict(job_view.state_counts(row.codes)),
        "next_fire": row.status.next_fire,
        "success_rate": rates.get(row.name),
    }


def _changed(entry: JobEntry, settings: dict[str, Any]) -> dict[str, Any]:
    g.fault_base = "/settings"
    stored = entry.config.task if entry.config else {}
    wanted = unmasked(settings, stored)
    changes = job_action.changes_of(entry, wanted)
    if changes:
        job_action.update(entry.name, changes, tag_of(entry))
        job_action.refresh()
    blueprint.set_etag(_tag(job_action.find(entry.name).entry))
    return one_document(entry.name)


def _tag(entry: JobEntry) -> list[int]:
    return [entry.created_id, entry.version]
