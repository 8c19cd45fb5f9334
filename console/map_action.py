"""What can be done from the shard map: to a job, to one of its items, to an executor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.context import actor, context
from console.trail import audited
from shardsched.core.item import format_items
from shardsched.people.role import Role

if TYPE_CHECKING:
    from shardsched.admin.command import StopReceipt, TriggerReceipt


def run(name: str, item: int | None = None) -> TriggerReceipt:
    """Have a job, or one of its items, run now."""
    actor().require_job(name)
    with audited("job.trigger", "job", name) as deed:
        only = None if item is None else [item]
        receipt = context().fleet.admin().commands.trigger(name, only=only, by=actor().name)
        items = [one for owned in receipt.owners.values() for one in owned]
        deed.after = {"number": receipt.number, "items": format_items(items)}
    context().fleet.attend(name)
    context().fleet.sight(fresh=True)
    return receipt


def stop(name: str) -> StopReceipt:
    """Stop all items of a job that run."""
    actor().require_job(name)
    with audited("job.stop", "job", name) as deed:
        receipt = context().fleet.admin().commands.stop(name, by=actor().name)
        deed.after = {"items": format_items(receipt.running)}
    context().fleet.attend(name)
    context().fleet.sight(fresh=True)
    return receipt


def set_paused(name: str, *, is_paused: bool) -> None:
    """Pause a job, or have it go on."""
    actor().require_job(name)
    with audited("job.pause" if is_paused else "job.resume", "job", name, before={"paused": not is_paused}) as deed:
        jobs = context().fleet.admin().jobs
        (jobs.pause if is_paused else jobs.resume)(name)
        deed.after = {"paused": is_paused}
    context().fleet.sight(fresh=True)


def set_disabled(name: str, item: int, *, is_disabled: bool) -> None:
    """Switch an item off, or on again."""
    actor().require_job(name)
    with audited("job.disable_item" if is_disabled else "job.enable_item", "job", name) as deed:
        jobs = context().fleet.admin().jobs
        (jobs.disable if is_disabled else jobs.enable)(name, [item])
        deed.after = {"item": item, "disabled": is_disabled}
    context().fleet.attend(name)
    context().fleet.sight(fresh=True)


def set_drained(name: str, *, is_drained: bool, reason: str = "") -> None:
    """Take an executor's items away, or give it items again."""
    actor().require(Role.OPERATOR)
    with audited("executor.drain" if is_drained else "executor.undrain", "executor", name, reason=reason) as deed:
        executors = context().fleet.admin().executors
        if is_drained:
            executors.drain(name, reason=reason, by=actor().name)
        else:
            executors.undrain(name)
        deed.after = {"drained": is_drained}
    context().fleet.sight(fresh=True)
