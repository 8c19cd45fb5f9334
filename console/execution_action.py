"""What people do to runs, by a page or by the API: checked, audited, told to history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.context import actor, context
from console.run_list import RunNotFoundError
from console.telling import tell
from console.trail import audited
from shardsched.core.item import format_items
from shardsched.errors import ConflictError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.admin.command import StopReceipt, TriggerReceipt
    from shardsched.history.row import RunRow


def find(run_id: str) -> RunRow:
    """Return a run, whole.

    Raises:
        RunNotFoundError: History does not have it.
        HistoryError: No answer.
    """
    run = context().history.run(run_id)
    if run is None:
        raise RunNotFoundError(run_id)
    return run


def rerun(run: RunRow, *, items: Iterable[int] | None = None, has_param: bool = False) -> TriggerReceipt:
    """Have items of a run's job run once now; the run itself stays as it was.

    Args:
        run: Which.
        items: Which items; None for that of the run.
        has_param: Whether with the job's parameter as the run had it, instead of as it is now.

    Raises:
        ConflictError: It would not run.
        ItemParameterError: There is no such item.
        ForbiddenError: Not for them.
        JobNotFoundError: The job is no more.
        RegistryUnavailableError: No answer.
    """
    actor().require_job(run.job)
    wanted = (run.item,) if items is None else tuple(items)
    admin = context().fleet.admin()
    param = run.job_param if has_param else None
    with audited("execution.rerun", "job", run.job, before={"run": run.run_id}) as deed:
        receipt = admin.commands.trigger(run.job, param=param, only=wanted, by=actor().name)
        deed.after = {"number": receipt.number, "items": format_items(wanted), "param": param}
    tell("command_trigger", job=run.job, run_id=run.run_id, number=receipt.number, items=format_items(wanted))
    context().fleet.sight(fresh=True)
    return receipt


def stop(run: RunRow) -> StopReceipt:
    """Stop all running items of a run's job, this one among them.

    Raises:
        ConflictError: The run is over.
        ForbiddenError: Not for them.
        JobNotFoundError: The job is no more.
        RegistryUnavailableError: No answer.
    """
    actor().require_job(run.job)
    if run.outcome is not None:
        raise ConflictError(
            Sentence(
                "run %(run_id)s is over (%(outcome)s), so there is nothing to stop",
                run_id=run.run_id,
                outcome=run.outcome,
            )
        )
    admin = context().fleet.admin()
    with audited("execution.stop", "job", run.job, before={"run": run.run_id}) as deed:
        receipt = admin.commands.stop(run.job, by=actor().name)
        deed.after = {"running": format_items(receipt.running)}
    tell("command_stop", job=run.job, run_id=run.run_id, items=format_items(receipt.running))
    context().fleet.sight(fresh=True)
    return receipt
