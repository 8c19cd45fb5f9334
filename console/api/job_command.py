"""What is asked of jobs and their items, and their revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask.views import MethodView

from console import job_action
from console.api.base import decode_cursor, encode_cursor, idempotent, resource
from console.api.job_command_schema import (
    ChangeSchema,
    ClearedSchema,
    ItemListSchema,
    ItemSchema,
    JobStoppedSchema,
    JobTriggerSchema,
    ParamSchema,
    ReceiptSchema,
    ResetSchema,
    RevisionListSchema,
    RevisionQuery,
    SwitchSchema,
)
from console.context import context
from console.job_revision import restorable, tag_of
from console.page_number import MAX_ID
from console.role import role
from console.sentence_text import said
from shardsched.errors import ItemParameterError, JobNotFoundError, NotFoundError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from shardsched.admin import JobChange
    from shardsched.admin.command import TriggerReceipt
    from shardsched.admin.status import ItemStatus
    from shardsched.core.job import JobConfig
    from shardsched.people.revision import Revision

blueprint = resource("job-commands", "What is asked of jobs: to run, to stop, to pause")


@blueprint.route("/jobs/<string:name>/trigger")
class Trigger(MethodView):
    """Running it once now."""

    @idempotent(blueprint)
    @blueprint.arguments(JobTriggerSchema)
    @blueprint.response(202, ReceiptSchema)
    @role("operator")
    def post(self, given: dict[str, Any], name: str) -> dict[str, Any]:
        """Have it run once now, also a paused one; 409 if it would not run."""
        return _receipt(job_action.trigger(name, only=given["items"], param=given["param"]))


@blueprint.route("/jobs/<string:name>/stop")
class Stop(MethodView):
    """Stopping what runs."""

    @idempotent(blueprint)
    @blueprint.response(202, JobStoppedSchema)
    @role("operator")
    def post(self, name: str) -> dict[str, Any]:
        """Stop its running items; its next fire starts as ever."""
        return {"running": job_action.stop(name).running}


@blueprint.route("/jobs/<string:name>/reset")
class Reset(MethodView):
    """What its items have saved."""

    @idempotent(blueprint)
    @blueprint.arguments(ResetSchema)
    @blueprint.response(200, ClearedSchema)
    @role("operator")
    def post(self, given: dict[str, Any], name: str) -> dict[str, Any]:
        """Clear the checkpoints of items that do not run, so that their next runs begin anew; 409 while they run."""
        return {"items": job_action.reset(name, only=given["items"]).items}


@blueprint.route("/jobs/<string:name>/pause")
class Pause(MethodView):
    """Pausing it."""

    @idempotent(blueprint)
    @blueprint.response(200, ChangeSchema)
    @role("operator")
    def post(self, name: str) -> dict[str, Any]:
        """Have it start no scheduled fire; what runs goes on."""
        return _change(job_action.pause(name))


@blueprint.route("/jobs/<string:name>/resume")
class Resume(MethodView):
    """Resuming it."""

    @idempotent(blueprint)
    @blueprint.response(200, ChangeSchema)
    @role("operator")
    def post(self, name: str) -> dict[str, Any]:
        """Have it fire again, from its next fire on."""
        return _change(job_action.resume(name))


@blueprint.route("/jobs/<string:name>/failover")
class Failover(MethodView):
    """Its failover."""

    @blueprint.arguments(SwitchSchema)
    @blueprint.response(200, ChangeSchema)
    @role("operator")
    def put(self, given: dict[str, bool], name: str) -> dict[str, Any]:
        """Say whether others run again what a dead executor left."""
        return _change(job_action.set_failover(name, is_on=given["enabled"]))


@blueprint.route("/jobs/<string:name>/items")
class Items(MethodView):
    """Its items."""

    @blueprint.response(200, ItemListSchema)
    @role("viewer")
    def get(self, name: str) -> dict[str, Any]:
        """Return all, with what each last handled."""
        status = context().fleet.admin().job_status(name)
        return {"items": [_item(one, status.entry.config) for one in status.items]}


@blueprint.route("/jobs/<string:name>/items/<int(max=9999):item>")
class Item(MethodView):
    """One item."""

    @blueprint.response(200, ItemSchema)
    @role("viewer")
    def get(self, name: str, item: int) -> dict[str, Any]:
        """Return it."""
        status = context().fleet.admin().job_status(name)
        for one in status.items:
            if one.item == item:
                return _item(one, status.entry.config)
        raise _no_item(name, item)


@blueprint.route("/jobs/<string:name>/items/<int(max=9999):item>/trigger")
class TriggerItem(MethodView):
    """Running one item."""

    @idempotent(blueprint)
    @blueprint.arguments(ParamSchema)
    @blueprint.response(202, ReceiptSchema)
    @role("operator")
    def post(self, given: dict[str, Any], name: str, item: int) -> dict[str, Any]:
        """Have it run once now."""
        try:
            return _receipt(job_action.trigger(name, only=(item,), param=given["param"]))
        except ItemParameterError:
            raise _no_item(name, item) from None


@blueprint.route("/jobs/<string:name>/items/<int(max=9999):item>/disabled")
class DisabledItem(MethodView):
    """Whether an item is switched off."""

    @blueprint.response(200, ChangeSchema)
    @role("operator")
    def put(self, name: str, item: int) -> dict[str, Any]:
        """Have it start nothing until it is enabled."""
        return _switched(name, item, is_enabled=False)

    @blueprint.response(200, ChangeSchema)
    @role("operator")
    def delete(self, name: str, item: int) -> dict[str, Any]:
        """Enable it."""
        return _switched(name, item, is_enabled=True)


@blueprint.route("/jobs/<string:name>/revisions")
class Revisions(MethodView):
    """What it looked like."""

    @blueprint.arguments(RevisionQuery, location="query")
    @blueprint.response(200, RevisionListSchema)
    @role("viewer")
    def get(self, query: dict[str, Any], name: str) -> dict[str, Any]:
        """Return its revisions, the newest first; also those of a job that is gone."""
        place, limit = decode_cursor(query.get("cursor"), int), query["limit"]
        before = place[0] if place else None
        found = context().people.revisions.page("job", name, before=before, limit=limit + 1)
        if not found and before is None:
            job_action.find(name)
            found = context().people.revisions.page("job", name, limit=limit + 1)
        shown = found[:limit]
        next_cursor = encode_cursor(shown[-1].number) if len(found) > limit else None
        return {"items": [_revision(one) for one in shown], "next": next_cursor}


@blueprint.route(f"/jobs/<string:name>/revisions/<int(max={MAX_ID}):number>/restore")
class Restore(MethodView):
    """Going back to a revision."""

    @idempotent(blueprint)
    @blueprint.response(200, ChangeSchema)
    @role("operator")
    def post(self, name: str, number: int) -> dict[str, Any]:
        """Have the job be again as it was, whether it is paused apart; that is a new revision."""
        entry = job_action.find(name).entry
        found = context().people.revisions.get("job", name, number)
        if found is None:
            raise JobNotFoundError(job=name)
        return _change(job_action.update(name, restorable(entry, found), tag_of(entry), action="restore"))


def _receipt(receipt: TriggerReceipt) -> dict[str, Any]:
    return {"number": receipt.number, "owners": receipt.owners, "waiting": receipt.waiting}


def _change(change: JobChange) -> dict[str, Any]:
    job_action.refresh()
    return {"changed": change.changed}


def _switched(name: str, item: int, *, is_enabled: bool) -> dict[str, Any]:
    try:
        return _change(job_action.set_items(name, (item,), is_enabled=is_enabled))
    except ItemParameterError:
        raise _no_item(name, item) from None


def _no_item(name: str, item: int) -> NotFoundError:
    return NotFoundError(Sentence("job %(job)r has no item %(item)s", job=name, item=item))


def _item(one: ItemStatus, config: JobConfig | None) -> dict[str, Any]:
    cursor, marker = one.cursor, one.marker
    return {
        "item": one.item,
        "state": one.sight.value,
        "owner": one.owner,
        "param": config.item_param(one.item) if config else "",
        "fire": marker.fire if marker else (cursor.run_fire or cursor.fire) if cursor else None,
        "attempt": marker.attempt if marker else cursor.attempt if cursor else 0,
        "executor": marker.executor if marker else cursor.executor if cursor else None,
        "run_id": marker.run if marker else cursor.run if cursor else None,
        "message": cursor.message if cursor else "",
        "reason": said(one.reason) if one.reason else None,
    }


def _revision(one: Revision) -> dict[str, Any]:
    return {"number": one.number, "at": one.at, "actor": one.actor, "settings": one.value}
