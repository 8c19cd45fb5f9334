"""What can be done from the shard map: to a job, to one of its items, to an executor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console import job_action
from console.context import actor, context
from console.trail import audited
from shardsched.people.role import Role

if TYPE_CHECKING:
    from shardsched.admin.command import StopReceipt, TriggerReceipt


def run(name: str, item: int | None = None) -> TriggerReceipt:
    """Have a job, or one of its items, run now."""
    receipt = job_action.trigger(name, only=None if item is None else [item])
    _look_at(name)
    return receipt


def stop(name: str) -> StopReceipt:
    """Stop all items of a job that run."""
    receipt = job_action.stop(name)
    _look_at(name)
    return receipt


def set_paused(name: str, *, is_paused: bool) -> None:
    """Pause a job, or have it go on."""
    (job_action.pause if is_paused else job_action.resume)(name)
    job_action.refresh()


def set_disabled(name: str, item: int, *, is_disabled: bool) -> None:
    """Switch an item off, or on again."""
    job_action.set_items(name, [item], is_enabled=not is_disabled)
    _look_at(name)


def _look_at(name: str) -> None:
    context().fleet.attend(name)
    job_action.refresh()


def set_drained(name: str, *, is_drained: bool, reason: str = "") -> None:
    """Take an executor's items away, or give it items again."""
    actor().require_all(Role.OPERATOR)
    with audited("executor.drain" if is_drained else "executor.undrain", "executor", name, reason=reason) as deed:
        executors = context().fleet.admin().executors
        if is_drained:
            executors.drain(name, reason=reason, by=actor().name)
        else:
            executors.undrain(name)
        deed.after = {"drained": is_drained}
    context().fleet.sight(fresh=True)
