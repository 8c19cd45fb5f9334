"""What can be done from the shard map to a job and its items; to executors by `console.executor_action`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console import job_action
from console.context import context

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
