"""What people do to jobs, by a page or by the API: checked, audited, kept as a revision, told to history."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

from console import job_revision
from console.context import actor, context
from console.job_revision import shown_settings, tag_of
from console.telling import DELETED, tell
from console.trail import audited
from shardsched.core.item import format_items
from shardsched.core.job import JobConfig
from shardsched.core.setting import PUBLIC_NAMES, make_settings, public_settings
from shardsched.errors import RegistryError, StaleVersionError
from shardsched.people.role import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from console.trail import Deed
    from shardsched.admin import Admin, JobChange, Removal
    from shardsched.admin.checkpoint import ResetReceipt
    from shardsched.admin.command import StopReceipt, TriggerReceipt
    from shardsched.core.view import JobEntry

DELETE_WAIT_S = 3.0
"""How long a page waits for a deleted job's items to stop; the leader finishes what takes longer."""


class Found(NamedTuple):
    """A job, and the door by which it was found."""

    admin: Admin
    """To change it by."""
    entry: JobEntry
    """As it was read just now."""


def find(name: str) -> Found:
    """Return a job as it is stored now; a version that nobody here knows is kept as a revision.

    Raises:
        JobNotFoundError: There is none.
        RegistryUnavailableError: No answer.
    """
    admin = context().fleet.admin()
    entry = admin.jobs.entry(name)
    job_revision.note_found(entry)
    return Found(admin, entry)


def refresh() -> None:
    """Have the next page show what was done just now."""
    context().fleet.sight(fresh=True)


def pause(name: str) -> JobChange:
    """Have a job start no scheduled fire; raises as `update`."""
    return _change(name, "pause", ("paused",), lambda admin: admin.jobs.pause(name))


def resume(name: str) -> JobChange:
    """Have a paused job fire again; raises as `update`."""
    return _change(name, "resume", ("paused",), lambda admin: admin.jobs.resume(name))


def set_failover(name: str, *, is_on: bool) -> JobChange:
    """Say whether others run again what a dead executor left; raises as `update`."""
    return _change(name, "failover", ("failover",), lambda admin: admin.jobs.update(name, {"failover": is_on}))


def set_items(name: str, items: Iterable[int], *, is_enabled: bool) -> JobChange:
    """Enable or disable items; raises as `update`."""
    wanted = tuple(items)

    def change(admin: Admin) -> JobChange:
        return admin.jobs.enable(name, wanted) if is_enabled else admin.jobs.disable(name, wanted)

    return _change(name, "enable" if is_enabled else "disable", ("disabled_items",), change)


def update(name: str, changes: Mapping[str, Any], tag: str, *, action: str = "update", reason: str = "") -> JobChange:
    """Change settings of a job that is as it was when the change was decided on.

    Args:
        name: The job.
        changes: Settings by the names that people use.
        tag: Of the version that the change was decided on.
        action: What it is called in the audit, after ``job.``.
        reason: Why, for the audit.

    Raises:
        StaleVersionError: It is another version now.
        ConfigurationError: A setting is refused.
        ForbiddenError: Not for them.
        JobNotFoundError: There is no such job.
        RegistryUnavailableError: No answer.
    """
    actor().require_job(name)
    found = find(name)
    if tag_of(found.entry) != tag:
        raise StaleVersionError(path=f"job {name}")
    version = found.entry.version
    return _change(
        name,
        action,
        tuple(changes),
        lambda admin: admin.jobs.update(name, changes, expected_version=version),
        reason=reason,
        found=found,
    )


def create(name: str, settings: Mapping[str, Any], *, must_be_hosted: bool = True) -> JobEntry:
    """Make a job.

    Raises:
        JobExistsError: There is one of that name.
        ConfigurationError: A setting is refused.
        ForbiddenError: Not for them.
        RegistryUnavailableError: No answer.
    """
    actor().require_job(name)
    admin = context().fleet.admin()
    with audited("job.create", "job", name) as deed:
        config = admin.jobs.create(name, settings, must_be_hosted=must_be_hosted)
        deed.after = shown_settings(config)
    tell("command_create", job=name, settings=sorted(settings))
    entry = admin.jobs.entry(name)
    job_revision.keep(entry, actor().name)
    return entry


def trigger(name: str, *, only: Iterable[int] | None = None, param: str | None = None) -> TriggerReceipt:
    """Have a job run once now.

    Raises:
        ConflictError: It would not run.
        ItemParameterError: There is no such item.
        ForbiddenError: Not for them.
        JobNotFoundError: There is no such job.
        RegistryUnavailableError: No answer.
    """
    actor().require_job(name)
    admin = context().fleet.admin()
    wanted = None if only is None else tuple(only)
    with audited("job.trigger", "job", name) as deed:
        receipt = admin.commands.trigger(name, param=param, only=wanted, by=actor().name)
        items = "all" if wanted is None else format_items(wanted)
        deed.after = {"number": receipt.number, "items": items, "param": param}
    tell("command_trigger", job=name, number=receipt.number, items=items)
    return receipt


def stop(name: str) -> StopReceipt:
    """Stop what runs of a job; raises as `trigger`."""
    actor().require_job(name)
    admin = context().fleet.admin()
    with audited("job.stop", "job", name) as deed:
        receipt = admin.commands.stop(name, by=actor().name)
        deed.after = {"running": format_items(receipt.running)}
    tell("command_stop", job=name, items=format_items(receipt.running))
    return receipt


def reset(name: str, *, only: Iterable[int] | None = None) -> ResetReceipt:
    """Clear what items have saved, so that their next runs begin anew; raises as `trigger`."""
    actor().require_job(name)
    admin = context().fleet.admin()
    wanted = None if only is None else tuple(only)
    with audited("job.reset", "job", name) as deed:
        receipt = admin.checkpoints.reset(name, only=wanted, by=actor().name)
        deed.after = {"cleared": format_items(receipt.items)}
    tell("command_reset", job=name, items=format_items(receipt.items))
    return receipt


def delete(name: str, *, wait_s: float = DELETE_WAIT_S) -> Removal:
    """Stop a job and remove all that is stored of it.

    Raises:
        ForbiddenError: Not for them.
        JobNotFoundError: There is no such job.
        RegistryUnavailableError: No answer.
    """
    actor().require_job(name, Role.ADMIN)
    admin, entry = find(name)
    with audited("job.delete", "job", name, before=_document(entry)):
        removal = admin.jobs.delete(name, wait_s=wait_s, by=actor().name)
    job_revision.keep_deletion(name, actor().name)
    tell(DELETED, job=name)
    return removal


def changes_of(entry: JobEntry, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return which of all settings of a job are to be another than is stored; what is left out has its default.

    Raises:
        ConfigurationError: A setting is not of its kind.
    """
    blank = JobConfig(name=entry.name, uid="-", handler="", cron="", armed_at=context().clock.now())
    made = make_settings({**public_settings(blank), "item_params": {}, **settings})
    if entry.config is None:
        return {PUBLIC_NAMES[name]: value for name, value in made.items()}
    return {PUBLIC_NAMES[name]: value for name, value in made.items() if getattr(entry.config, name) != value}


def _change(
    name: str,
    action: str,
    settings: tuple[str, ...],
    change: Callable[[Admin], JobChange],
    *,
    reason: str = "",
    found: Found | None = None,
) -> JobChange:
    actor().require_job(name)
    admin, entry = found or find(name)
    before = _document(entry)
    with audited(f"job.{action}", "job", name, before=_parts(before, settings), reason=reason) as deed:
        done = change(admin)
        after = _after(admin, name, deed, settings)
    if after is not None and done.changed:
        job_revision.keep(after, actor().name)
    if done.changed:
        tell(f"command_{action}", job=name, settings=list(done.changed), version=done.version)
    return done


def _after(admin: Admin, name: str, deed: Deed, settings: tuple[str, ...]) -> JobEntry | None:
    """Return the job as it is after a change; None if it cannot be read, which does not undo the change."""
    with contextlib.suppress(RegistryError, LookupError):
        entry = admin.jobs.entry(name)
        deed.after = _parts(_document(entry), settings)
        return entry
    return None


def _document(entry: JobEntry) -> dict[str, Any] | None:
    return None if entry.config is None else shown_settings(entry.config)


def _parts(document: dict[str, Any] | None, settings: tuple[str, ...]) -> dict[str, Any] | None:
    return None if document is None else {name: document[name] for name in settings if name in document}
