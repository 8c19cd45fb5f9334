"""What people do to executors, by a page or by the API: checked, audited, told to history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.context import actor, context
from console.telling import tell
from console.trail import audited
from shardsched.core.codec import time_text
from shardsched.errors import ExecutorNotFoundError
from shardsched.people.role import Role

if TYPE_CHECKING:
    from shardsched.admin.executor_status import ExecutorStatus


def find(name: str) -> ExecutorStatus:
    """Return an executor as last seen.

    Raises:
        ExecutorNotFoundError: None of that name lives or is drained.
        RegistryUnavailableError: Nothing has been seen yet.
    """
    sight = context().fleet.sight()
    if sight.status is None:
        context().fleet.admin()
    found = [one for one in sight.status.executors if one.name == name] if sight.status else []
    if not found:
        raise ExecutorNotFoundError(executor=name)
    return found[0]


def drain(name: str, *, now: bool = False, reason: str = "") -> bool:
    """Take an executor's items away; return whether that changes anything.

    Args:
        name: The executor.
        now: Whether what runs is stopped too and run elsewhere, instead of finishing.
        reason: Why, for others to read.

    Raises:
        ExecutorNotFoundError: None of that name lives or is drained.
        SettingsError: The reason cannot be stored.
        ForbiddenError: Not for them.
        RegistryUnavailableError: No answer.
    """
    actor().require_all(Role.OPERATOR)
    admin = context().fleet.admin()
    action = "executor.failover" if now else "executor.drain"
    with audited(action, "executor", name, before=_before(name), reason=reason) as deed:
        is_changed = admin.executors.drain(name, now=now, reason=reason, by=actor().name)
        deed.after = {"drained": True, "now": now}
    if is_changed:
        tell("command_drain", executor=name, message=reason, now=now)
    context().fleet.sight(fresh=True)
    return is_changed


def undrain(name: str) -> bool:
    """Give an executor items again; return whether it was drained. Raises as `drain`."""
    actor().require_all(Role.OPERATOR)
    admin = context().fleet.admin()
    with audited("executor.undrain", "executor", name, before=_before(name)) as deed:
        is_changed = admin.executors.undrain(name)
        deed.after = {"drained": False}
    if is_changed:
        tell("command_undrain", executor=name)
    context().fleet.sight(fresh=True)
    return is_changed


def forget(name: str) -> None:
    """Remove what is left of an executor that is gone.

    Raises:
        ConflictError: It lives.
        ExecutorNotFoundError: Nothing is left of one of that name.
        ForbiddenError: Not for them.
        RegistryUnavailableError: No answer.
    """
    actor().require_all(Role.OPERATOR)
    admin = context().fleet.admin()
    with audited("executor.forget", "executor", name, before=_before(name)):
        admin.executors.forget(name)
    tell("command_forget", executor=name)
    context().fleet.sight(fresh=True)


def _before(name: str) -> dict[str, Any] | None:
    status = context().fleet.sight(wait_s=0).status
    found = next((one for one in status.executors if one.name == name), None) if status else None
    if found is None:
        return None
    mark = found.drain
    drained = None if mark is None else {"at": time_text(mark.at), "by": mark.by, "reason": mark.reason}
    return {"state": found.state, "items": found.items, "running": found.running, "drained": drained}
