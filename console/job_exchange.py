"""Taking jobs out as a file and bringing a file's jobs in, with a look at what that would do first."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from console import job_revision
from console.context import actor, context
from console.sentence_text import said
from console.trail import audited
from shardsched.errors import ConfigurationError, NotFoundError, RegistryError
from shardsched.jobfile import (
    WRITING,
    Form,
    OnConflict,
    Wish,
    decode_file,
    job_document,
    parse_jobs,
    write_json,
    write_yaml,
)
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.jobfile import ImportPlan, Step

FORMS = tuple(str(form) for form in Form)
ON_CONFLICT = tuple(str(choice) for choice in OnConflict)


def export_text(names: Sequence[str], form: str) -> str:
    """Return jobs, all if none is named, as a file without secrets; those that cannot be read are left out.

    Raises:
        JobNotFoundError: There is no job of a name.
        RegistryUnavailableError: No answer.
    """
    document = export_document(names)
    return write_json(document) if form == "json" else write_yaml(document)


def export_document(names: Sequence[str]) -> dict[str, Any]:
    """Return jobs, all if none is named, as the document of a job file without secrets; raises as `export_text`."""
    return job_document(context().fleet.admin().exchange.export(names).configs)


def plan_import(
    data: str | bytes, *, form: str = "auto", on_conflict: str = "fail", **wished: str | None
) -> tuple[ImportPlan, tuple[str, ...]]:
    """Return what an import of a file would do, and the handlers that nobody hosts yet; nothing is written.

    Args:
        data: The file.
        form: Which form it has, ``auto`` to find out.
        on_conflict: What becomes of jobs that exist and differ.
        wished: ``handler``, ``timezone`` and ``prefix`` for all of its jobs.

    Raises:
        ConfigurationError: The file as a whole cannot be read, or a choice is none.
        RegistryUnavailableError: No answer.
    """
    if form not in FORMS or on_conflict not in ON_CONFLICT:
        message = Sentence(
            "there is no such choice; give a format of %(forms)s, on_conflict %(on_conflict)s",
            forms=", ".join(FORMS),
            on_conflict=", ".join(ON_CONFLICT),
        )
        raise ConfigurationError(message)
    wish = Wish(
        form=Form(form),
        handler=wished.get("handler") or None,
        timezone=wished.get("timezone") or None,
        prefix=wished.get("prefix") or "",
    )
    exchange = context().fleet.admin().exchange
    parsed = parse_jobs(decode_file(data if isinstance(data, bytes) else data.encode(errors="replace")), wish)
    plan = exchange.plan(parsed, OnConflict(on_conflict))
    return plan, exchange.unhosted(plan)


def carry_out(plan: ImportPlan) -> list[Step]:
    """Do what was planned, and return each step as it was done.

    Raises:
        ConflictError: The plan is blocked; nothing was written.
        ForbiddenError: One of the jobs is not for them.
        RegistryUnavailableError: No answer; some may be written.
    """
    for step in plan.steps:
        if step.action in WRITING:
            actor().require_job(step.name)
    admin = context().fleet.admin()
    done: list[Step] = []
    with audited("job.import", "jobs", plan.form) as deed:
        for step in admin.exchange.carry_out(plan):
            done.append(step)
            if step.action in WRITING:
                with contextlib.suppress(RegistryError, NotFoundError):
                    job_revision.keep(admin.jobs.entry(step.name), actor().name)
        deed.after = {step.name or step.place: str(step.action) for step in done}
    return done


def step_document(step: Step) -> dict[str, Any]:
    """Return a step as JSON."""
    return {
        "name": step.name,
        "place": said(step.place),
        "action": str(step.action),
        "reason": said(step.reason),
        "changes": [{"setting": one.setting, "old": one.old, "new": one.new} for one in step.changes],
    }
