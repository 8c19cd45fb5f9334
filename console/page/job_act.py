"""Acting on one job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import redirect, render_template, request, url_for

from console import job_action, job_view
from console.form import local_address
from console.page.job import blueprint, seen_job
from console.page_number import MAX_ID
from console.role import role
from console.sentence_text import said
from console.text import gettext as _
from console.text import ngettext as _n
from console.view import toast
from shardsched.core.item import format_items, parse_items
from shardsched.errors import ConfigurationError, ConflictError
from shardsched.sentence import sentence_of

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue


@blueprint.post("/jobs/<name>/pause")
@role("operator")
def pause(name: str) -> ResponseReturnValue:
    """Have it start no scheduled fire."""
    change = job_action.pause(name)
    text = _("%(name)s is paused; what runs goes on.", name=name) if change.changed else _("It was paused already.")
    toast(text, undo=url_for("job.resume", name=name) if change.changed else "")
    return _back(name)


@blueprint.post("/jobs/<name>/resume")
@role("operator")
def resume(name: str) -> ResponseReturnValue:
    """Have it fire again."""
    change = job_action.resume(name)
    toast(_("%(name)s fires again.", name=name) if change.changed else _("It was not paused."))
    return _back(name)


@blueprint.post("/jobs/<name>/trigger")
@role("operator")
def trigger(name: str) -> ResponseReturnValue:
    """Have it run once now: all items or some, with its parameter or another."""
    form = request.form
    items, has_param = form.get("items", "").strip(), bool(form.get("has_param"))
    try:
        only = parse_items(items.replace(" ", "")) if items else None
        receipt = job_action.trigger(name, only=only, param=form.get("param", "") if has_param else None)
    except (ConfigurationError, ConflictError) as error:
        if not form.get("asked"):
            toast(said(error), kind="failed")
            return _back(name)
        _sight, row = seen_job(name)
        page = render_template("job/trigger.html", job=row.status, values=form, fault=sentence_of(error), view=job_view)
        return page, 409 if isinstance(error, ConflictError) else 422
    where = ", ".join(f"{format_items(mine)} → {executor}" for executor, mine in receipt.owners.items())
    text = _("%(name)s is triggered: %(where)s", name=name, where=where)
    if receipt.waiting:
        text += " " + _("Items %(items)s wait for an owner.", items=format_items(receipt.waiting))
    toast(text, kind="warning" if receipt.waiting else "done")
    return _back(name)


@blueprint.post("/jobs/<name>/stop")
@role("operator")
def stop(name: str) -> ResponseReturnValue:
    """Stop what runs."""
    receipt = job_action.stop(name)
    if receipt.running:
        count = len(receipt.running)
        toast(
            _n(
                "%(num)s item of %(name)s is being stopped.",
                "%(num)s items of %(name)s are being stopped.",
                count,
                name=name,
            )
        )
    else:
        toast(_("Nothing of %(name)s ran.", name=name), kind="warning")
    return _back(name)


@blueprint.post("/jobs/<name>/failover")
@role("operator")
def failover(name: str) -> ResponseReturnValue:
    """Switch failover."""
    is_on = request.form.get("enabled") == "1"
    job_action.set_failover(name, is_on=is_on)
    toast(
        _("%(name)s fails over again.", name=name)
        if is_on
        else _("What a dead executor leaves of %(name)s is not run again.", name=name)
    )
    return _back(name)


@blueprint.post("/jobs/<name>/reset")
@role("operator")
def reset(name: str) -> ResponseReturnValue:
    """Clear what its items, or one of them, have saved."""
    items = request.form.get("items", "").strip()
    try:
        receipt = job_action.reset(name, only=parse_items(items) if items else None)
    except (ConfigurationError, ConflictError) as error:
        toast(said(error), kind="failed")
        return _back(name)
    count = len(receipt.items)
    toast(
        _n("The checkpoint of %(num)s item is cleared.", "The checkpoints of %(num)s items are cleared.", count),
        kind="done" if count else "warning",
    )
    return _back(name)


@blueprint.post(f"/jobs/<name>/items/<int(max={MAX_ID}):item>/disable")
@role("operator")
def disable_item(name: str, item: int) -> ResponseReturnValue:
    """Have one item start nothing."""
    job_action.set_items(name, (item,), is_enabled=False)
    toast(
        _("Item %(item)s of %(name)s starts nothing until it is enabled.", item=item, name=name),
        undo=url_for("job.enable_item", name=name, item=item),
    )
    return _back(name)


@blueprint.post(f"/jobs/<name>/items/<int(max={MAX_ID}):item>/enable")
@role("operator")
def enable_item(name: str, item: int) -> ResponseReturnValue:
    """Have a disabled item start again."""
    job_action.set_items(name, (item,), is_enabled=True)
    toast(_("Item %(item)s of %(name)s is enabled.", item=item, name=name))
    return _back(name)


@blueprint.route("/jobs/<name>/delete", methods=["GET", "POST"])
@role("admin", proof=True)
def delete(name: str) -> ResponseReturnValue:
    """Delete it, if its name was typed."""
    sight, row = seen_job(name, is_fresh=True)
    fault = ""
    if request.method == "POST":
        if request.form.get("confirm") == name:
            return _delete(name)
        fault = _("Type the name of the job to delete it.")
    hosts = [
        one.name
        for one in (sight.status.executors if sight.status else ())
        if one.record and name in one.record.handlers
    ]
    running = job_view.items_text([item for item in row.status.items if item.marker is not None])
    page = render_template(
        "job/delete.html",
        job=row.status,
        running=running,
        hosts=hosts,
        dependents=job_view.dependents(sight, name),
        fault=fault,
    )
    return page, 422 if fault else 200


def _delete(name: str) -> ResponseReturnValue:
    removal = job_action.delete(name)
    job_action.refresh()
    if removal.is_done:
        toast(_("%(name)s is deleted.", name=name))
    else:
        toast(_("%(name)s is deleted as soon as its running items have ended.", name=name), kind="warning")
    return redirect(url_for("job.index"))


def _back(name: str) -> ResponseReturnValue:
    """Lead back to where it was asked for, which then shows what was done."""
    job_action.refresh()
    asked_at = local_address(request.form.get("next"))
    return redirect(asked_at if asked_at != "/" else url_for("job.show", name=name))
