"""Making and changing a job."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from flask import redirect, render_template, request, url_for

from console import job_action, job_form, job_text, job_view
from console.context import context
from console.cron_text import cron_words
from console.job_merge import THEIRS, base_of, differences, undecided
from console.job_revision import shown_settings, tag_of
from console.locale import locale, zone_name
from console.page.job import blueprint
from console.role import role
from console.sentence_text import said
from console.text import gettext as _
from console.view import toast
from shardsched.core.job import JobConfig
from shardsched.core.schedule import check_schedule, make_schedule
from shardsched.core.setting import new_job, public_settings
from shardsched.core.task import BUILTIN_HANDLERS
from shardsched.errors import (
    ConfigurationError,
    CronExpressionError,
    JobExistsError,
    JobNotFoundError,
    StaleVersionError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flask.typing import ResponseReturnValue

    from shardsched.core.view import JobEntry

_PICK = "pick."


@blueprint.route("/jobs:new", methods=["GET", "POST"])
@role("operator")
def create() -> ResponseReturnValue:
    """Make a job, empty at first or a copy of another."""
    source = request.values.get("from", "")
    copied = _copied(source)
    if request.method != "POST":
        settings = shown_settings(copied or _blank())
        if copied is None:
            settings |= {"handler": "", "timezone": zone_name()}
        return _form_page(
            name=f"{source}-copy"[:128] if copied else "", values=job_form.form_values(settings), source=source
        )
    name = request.form.get("name", "").strip()
    settings, faults = job_form.read_form(request.form)
    settings = job_form.with_secrets(settings, copied.task if copied else {}, faults)
    faults = job_form.settings_faults(name, settings, context().clock.now()) | faults
    if not faults:
        try:
            job_action.create(name, settings, must_be_hosted="unhosted" not in request.form)
        except JobExistsError:
            faults = {"name": _("There is a job of that name.")}
        except ConfigurationError as error:
            faults = {job_form.fault_field(error, settings["handler"]): said(error)}
        else:
            job_action.refresh()
            toast(_("%(name)s is made.", name=name))
            return redirect(url_for("job.show", name=name))
    return _form_page(name=name, values=job_form.given_values(request.form), source=source, faults=faults), 422


@blueprint.get("/jobs/<name>/edit")
@role("viewer")
def edit(name: str) -> ResponseReturnValue:
    """Show all settings of a job, to be changed by those who may."""
    entry = job_action.find(name).entry
    settings = shown_settings(entry.config or _blank())
    return _form_page(
        name=name, entry=entry, tag=tag_of(entry), base=json.dumps(settings), values=job_form.form_values(settings)
    )


@blueprint.post("/jobs/<name>/edit")
@role("operator")
def save(name: str) -> ResponseReturnValue:
    """Change it; what somebody else changed meanwhile is shown beside, never overwritten."""
    form, entry = request.form, job_action.find(name).entry
    stored = entry.config or _blank()
    settings, faults = job_form.read_form(form)
    settings = job_form.with_secrets(settings, stored.task, faults)
    if entry.config is not None:
        settings = job_form.keep_untouched(settings, faults, form, entry.config)
    settings |= {
        key.removeprefix(_PICK): public_settings(stored)[key.removeprefix(_PICK)]
        for key, value in form.items()
        if value == THEIRS and key.startswith(_PICK) and key.removeprefix(_PICK) in public_settings(stored)
    }
    settings["item_params"] = {int(item): text for item, text in settings["item_params"].items()}
    faults = job_form.settings_faults(name, settings, context().clock.now()) | faults
    if faults:
        return _again(name, entry, faults), 422
    tag = form.get("tag", "")
    if tag != tag_of(entry):
        return _merge_page(entry, settings)
    changes = job_action.changes_of(entry, settings)
    if not changes:
        toast(_("Nothing of %(name)s was changed.", name=name), kind="warning")
        return redirect(url_for("job.show", name=name))
    try:
        job_action.update(name, changes, tag)
    except StaleVersionError:
        return _merge_page(job_action.find(name).entry, settings)
    except ConfigurationError as error:
        return _again(name, entry, {job_form.fault_field(error, settings["handler"]): said(error)}), 422
    job_action.refresh()
    toast(_("%(name)s is changed: %(settings)s", name=name, settings=", ".join(sorted(changes))))
    return redirect(url_for("job.show", name=name))


@blueprint.get("/cron/preview")
@role("viewer")
def preview() -> ResponseReturnValue:
    """Show what an expression means and when it fires next, as a part of a form."""
    args = request.args
    cron, timezone = args.get("cron", "").strip(), args.get("timezone", "").strip() or "UTC"
    pause = tuple(line.strip() for line in args.get("pause", "").splitlines() if line.strip())
    fault, fires, is_zone_fault = "", [], False
    now = context().clock.now()
    try:
        schedule = make_schedule(cron, timezone, pause)
        check_schedule(schedule, now)
        shown = JobConfig(name="-", uid="-", handler="-", cron=cron, timezone=timezone, pause=pause, armed_at=now)
        fires = job_view.next_fires(shown)
    except ConfigurationError as error:
        fault = said(error)
        is_zone_fault = isinstance(error, CronExpressionError) and error.field == "timezone"
    return render_template(
        "job/_preview.html",
        cron=cron,
        timezone=timezone,
        text=cron_words(cron, locale()) if cron and not fault else None,
        fires=fires,
        fault=fault,
        is_zone_fault=is_zone_fault,
    )


def _blank() -> JobConfig:
    return JobConfig(name="-", uid="-", handler="", cron="", armed_at=context().clock.now())


def _copied(source: str) -> JobConfig | None:
    if not source:
        return None
    config = job_action.find(source).entry.config
    if config is None:
        raise JobNotFoundError(job=source)
    return config


def _again(name: str, entry: JobEntry, faults: dict[str, str]) -> str:
    form = request.form
    values = job_form.given_values(form)
    return _form_page(
        name=name, entry=entry, tag=form.get("tag", ""), base=form.get("base", ""), values=values, faults=faults
    )


def _form_page(
    *,
    name: str,
    values: Mapping[str, Any],
    entry: JobEntry | None = None,
    faults: Mapping[str, str] | None = None,
    **more: Any,
) -> str:
    sight = context().fleet.sight()
    return render_template(
        "job/edit.html",
        name=name,
        entry=entry,
        values=values,
        faults=faults or {},
        hosted=job_view.hosted_handlers(sight),
        jobs=[job.entry.name for job in sight.status.jobs if job.entry.name != name] if sight.status else [],
        zones=sorted(available_timezones()),
        kinds=("code", *BUILTIN_HANDLERS),
        words=job_text,
        view=job_view,
        **({"tag": "", "base": "", "source": "", "away": job_view.away_reason()} | more),
    )


def _merge_page(entry: JobEntry, settings: Mapping[str, Any]) -> ResponseReturnValue:
    """Show both versions, setting by setting, and let a person choose."""
    name, form = entry.name, request.form
    theirs = shown_settings(entry.config or _blank())
    mine = shown_settings(new_job(name, "-", settings, context().clock.now()))
    found = differences(base_of(form.get("base", "")), mine, theirs)
    sent = [
        (key, value)
        for key, value in form.items(multi=True)
        if key not in {"csrf_token", "tag", "base"} and not key.startswith(_PICK)
    ]
    still_open = undecided(found, {one.setting: one.pick for one in found})
    page = render_template(
        "job/merge.html",
        name=name,
        found=[asdict(one) for one in sorted(found, key=lambda one: one.setting not in still_open)],
        sent=sent,
        tag=tag_of(entry),
        base=json.dumps(theirs),
        author=context().people.revisions.tagged("job", name, tag_of(entry)),
        open=still_open,
    )
    return page, 412
