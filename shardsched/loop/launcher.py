"""Where a claimed run's code is started: the seam between the loop and the pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from shardsched.coordination.ledger import Claimed
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.core.tally import PendingCall
    from shardsched.execution.failure import FailureReport


class Launcher(Protocol):
    """Starts and stops the code of runs; what becomes of them is reported to the loop as messages."""

    def launch(self, claimed: Claimed, config: JobConfig) -> None:
        """Start a run's code. It ends with exactly one `RunEnded`, also when it cannot be started."""
        ...

    def launch_call(self, call_id: str, config: JobConfig, call: PendingCall, incarnation: str) -> None:
        """Have a job's fire listeners called. It ends with exactly one `CallEnded`, also when it cannot be started."""
        ...

    def stop_run(self, run_id: str, reason: str, grace_s: float) -> None:
        """Ask a run to stop and kill it after the grace, in seconds."""
        ...

    def abandoned(self, job: str, item: int, cursor: Cursor, reason: str) -> None:
        """Take note of a run that its executor left unfinished, and may have died before it told of it."""
        ...

    def report_failure(self, place: str, report: FailureReport) -> None:
        """Have ``module:function`` called with a report, outside of this process; its own fate is only logged."""
        ...
