"""What a job looked like after each change, and going back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import redirect, render_template, request, url_for

from console import job_action, job_view
from console.context import context
from console.job_revision import restorable, shown_settings, tag_of
from console.page.job import blueprint
from console.page_number import MAX_ID
from console.role import role
from console.sentence_text import said
from console.text import gettext as _
from console.view import PAGE_SIZE, toast
from shardsched.errors import ConfigurationError, JobNotFoundError, StaleVersionError

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

    from shardsched.core.view import JobEntry
    from shardsched.people.revision import Revision


@blueprint.get("/jobs/<name>/revisions")
@role("viewer")
def revisions(name: str) -> ResponseReturnValue:
    """List them, the newest first, each with what it changed."""
    entry = _entry(name)
    before = request.args.get("before", "")
    number = int(before) if before.isascii() and before.isdigit() and len(before) < 10 else None
    found = context().people.revisions.page("job", name, before=number, limit=PAGE_SIZE + 1)
    if entry is None and not found:
        raise JobNotFoundError(job=name)
    shown = found[:PAGE_SIZE]
    earlier = [*found[1:], None] if len(found) <= PAGE_SIZE else found[1:]
    rows = [(one, changed_settings(one, older)) for one, older in zip(shown, earlier, strict=False)]
    return render_template(
        "job/revisions.html",
        name=name,
        entry=entry,
        rows=rows,
        current=tag_of(entry) if entry else "",
        next_before=shown[-1].number if len(found) > PAGE_SIZE else None,
        is_first=number is None,
    )


@blueprint.get(f"/jobs/<name>/revisions/<int(max={MAX_ID}):number>")
@role("viewer")
def revision(name: str, number: int) -> ResponseReturnValue:
    """Show one, against the one before it or against what is stored now."""
    entry = _entry(name)
    found = _revision(name, number)
    against_now = request.args.get("against") == "now"
    if against_now:
        other = shown_settings(entry.config) if entry is not None and entry.config is not None else None
        before, after = other, found.value
    else:
        earlier = context().people.revisions.get("job", name, number - 1)
        before, after = earlier.value if earlier else None, found.value
    return render_template(
        "job/revision.html",
        name=name,
        entry=entry,
        revision=found,
        before=before,
        after=after,
        against_now=against_now,
        is_current=entry is not None and found.tag == tag_of(entry),
        tag=tag_of(entry) if entry else "",
        away=job_view.away_reason(),
    )


@blueprint.post(f"/jobs/<name>/revisions/<int(max={MAX_ID}):number>/restore")
@role("operator")
def restore(name: str, number: int) -> ResponseReturnValue:
    """Have the job be again as it was; that is a new revision."""
    entry, found = job_action.find(name).entry, _revision(name, number)
    here = url_for("job.revision", name=name, number=number, against="now")
    try:
        changes = restorable(entry, found)
        reason = _("Revision %(number)s", number=number)
        change = job_action.update(name, changes, request.form.get("tag", ""), action="restore", reason=reason)
    except StaleVersionError:
        toast(_("%(name)s was changed meanwhile; this is how it differs now.", name=name), kind="failed")
        return redirect(here)
    except ConfigurationError as error:
        toast(_("It cannot be restored: %(fault)s", fault=said(error)), kind="failed")
        return redirect(here)
    job_action.refresh()
    text = _("%(name)s is again as in revision %(number)s.", name=name, number=number)
    toast(text if change.changed else _("It is so already."))
    return redirect(url_for("job.show", name=name))


def changed_settings(revision: Revision, earlier: Revision | None) -> list[str]:
    """Return the settings in which a revision differs from the one before it."""
    if earlier is None or earlier.value is None or revision.value is None:
        return []
    return [name for name in revision.value if revision.value[name] != earlier.value.get(name)]


def _entry(name: str) -> JobEntry | None:
    try:
        return job_action.find(name).entry
    except JobNotFoundError:
        return None


def _revision(name: str, number: int) -> Revision:
    found = context().people.revisions.get("job", name, number) if number < 2**31 else None
    if found is None:
        raise JobNotFoundError(job=name)
    return found
