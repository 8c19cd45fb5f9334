"""Jobs as files: taking them out, bringing them in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Response, render_template, request, url_for

from console import job_action, job_exchange, job_view, limit
from console.context import context
from console.page.job import blueprint
from console.role import role
from console.text import gettext as _
from console.text import ngettext as _n
from console.view import toast
from shardsched.errors import ConfigurationError, ConflictError
from shardsched.jobfile import WRITING
from shardsched.sentence import sentence_of

if TYPE_CHECKING:
    from typing import Any

    from flask.typing import ResponseReturnValue

    from shardsched.jobfile import ImportPlan, Step

_TYPES = {"yaml": "application/yaml", "json": "application/json"}


@blueprint.get("/jobs:files")
@role("viewer")
def files() -> ResponseReturnValue:
    """Offer both."""
    return _page({})


@blueprint.get("/jobs:export")
@limit.limiter.limit(limit.EXPORTS, key_func=limit.who)
@role("viewer")
def export() -> ResponseReturnValue:
    """Give jobs as a file, without secrets."""
    form = "json" if request.args.get("format") == "json" else "yaml"
    text = job_exchange.export_text(request.args.getlist("names"), form)
    headers = {"Content-Disposition": f'attachment; filename="jobs.{form}"'}
    return Response(text, mimetype=_TYPES[form], headers=headers)


@blueprint.post("/jobs:import")
@role("operator")
def import_jobs() -> ResponseReturnValue:
    """Show what an import would do; do it if that was seen already."""
    form = request.form
    upload = request.files.get("file")
    text = upload.read().decode("utf-8", "replace") if upload is not None and upload.filename else form.get("text", "")
    values = {**form.to_dict(), "text": text}
    try:
        plan, unhosted = job_exchange.plan_import(
            text,
            form=form.get("form", "auto"),
            on_conflict=form.get("on_conflict", "fail"),
            handler=form.get("handler", "").strip(),
            timezone=form.get("timezone", "").strip(),
            prefix=form.get("prefix", "").strip(),
        )
        if not form.get("agreed"):
            return _page(values, plan=plan, steps=plan.steps, unhosted=unhosted)
        steps = job_exchange.carry_out(plan)
    except (ConfigurationError, ConflictError) as error:
        return _page(values, fault=sentence_of(error)), 422
    job_action.refresh()
    written = sum(step.action in WRITING for step in steps)
    toast(_n("%(num)s job is written.", "%(num)s jobs are written.", written), kind="done" if written else "warning")
    return _page({}, plan=plan, steps=steps, is_done=True)


def _page(
    values: dict[str, str],
    *,
    plan: ImportPlan | None = None,
    steps: list[Step] | tuple[Step, ...] = (),
    unhosted: tuple[str, ...] = (),
    **more: Any,
) -> str:
    sight = context().fleet.sight()
    return render_template(
        "job/files.html",
        values=values,
        plan=plan,
        steps=steps,
        unhosted=unhosted,
        forms=[(code, _form_text(code)) for code in job_exchange.FORMS],
        choices=[(code, _choice_text(code)) for code in job_exchange.ON_CONFLICT],
        writing=sum(step.action in WRITING for step in steps),
        away=job_view.away_reason(),
        count=len(sight.status.jobs) if sight.status else 0,
        back=url_for("job.index"),
        **({"fault": "", "is_done": False} | more),
    )


def _form_text(code: str) -> str:
    return {
        "auto": _("Found out by its contents"),
        "yaml": _("shardsched, YAML"),
        "json": _("shardsched, JSON"),
        "crontab": "crontab",
        "elasticjob": "ElasticJob",
        "xxl-job": "XXL-JOB",
    }.get(code, code)


def _choice_text(code: str) -> str:
    return {
        "fail": _("Write nothing at all"),
        "skip": _("Leave those as they are"),
        "overwrite": _("Change them to what the file says"),
    }.get(code, code)
