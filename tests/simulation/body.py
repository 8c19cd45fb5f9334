"""The code of runs and the warden that owns it, simulated: runs take a while, and none outlives its lease.

The warden goes by the clock alone, so that it kills also what belongs to an executor that is frozen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.core.fire import ItemState
from shardsched.loop.message import CallEnded, Ended
from tests.simulation.call_body import CallBody, call_key

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from shardsched.coordination.ledger import Claimed
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.core.tally import PendingCall
    from shardsched.execution.failure import FailureReport
    from tests.simulation.record import Record, RunRecord


@dataclass(slots=True)
class _Body:
    claimed: Claimed
    record: RunRecord
    ends_at: float
    state: ItemState | None
    message: str


class Warden:
    """Launcher of one executor. Times are of the true boot clock, but for those of the lease.

    Args:
        boot: The true boot clock.
        own_boot: Makes a moment of the executor's boot clock one of the true boot clock.
        post: Tells the loop.
    """

    def __init__(
        self,
        *,
        rng: random.Random,
        boot: Callable[[], float],
        own_boot: Callable[[float], float],
        record: Record,
        post: Callable[[Ended | CallEnded], None],
        durations: Callable[[str], float],
    ) -> None:
        self._rng = rng
        self._boot = boot
        self._own_boot = own_boot
        self._record = record
        self._post = post
        self._durations = durations
        self._bodies: dict[str, _Body] = {}
        self._calls: dict[str, CallBody] = {}
        self._epoch = ""
        self._until = 0.0
        self.is_dead = False

    def set_lease(self, epoch: str, until: float, soft: float) -> None:
        """Let runs of a session live until a time of the executor's boot clock; those of another die."""
        if epoch != self._epoch:
            self._kill_where(lambda body: body.claimed.incarnation != epoch, "of another session")
            self._end_calls(is_returned=False)
        self._epoch, self._until = epoch, self._own_boot(until)

    def revoke(self) -> None:
        """Kill everything."""
        self._epoch, self._until = "", 0.0
        self._kill_where(lambda _: True, "the session is over")
        self._end_calls(is_returned=False)

    def launch(self, claimed: Claimed, config: JobConfig) -> None:
        """Start a run, unless its lease is over."""
        now = self._boot()
        if claimed.incarnation != self._epoch or now >= self._until:
            self._post(Ended(run_id=claimed.marker.run, state=None, message="no lease"))
            return
        state = ItemState.DONE if self._rng.random() < (0.6 if config.retries else 0.93) else ItemState.FAILED
        ends_at = now + self._durations(claimed.job)
        record = self._record.start(claimed)
        self._bodies[claimed.marker.run] = _Body(claimed, record, ends_at, state, "")

    def launch_call(self, call_id: str, config: JobConfig, call: PendingCall, incarnation: str) -> None:
        """Have listeners called, unless the lease is over."""
        now = self._boot()
        if incarnation != self._epoch or now >= self._until:
            self._post(CallEnded(call_id=call_id, is_returned=False))
            return
        key = call_key(config.uid, call)
        self._record.calls.start(key)
        self._calls[call_id] = CallBody(call_id, key, incarnation, now + self._rng.random() * 0.1)

    def _end_calls(self, *, is_returned: bool, until: float = float("inf")) -> None:
        for call_id, body in list(self._calls.items()):
            if body.ends_at <= until or not is_returned:
                del self._calls[call_id]
                self._record.calls.end(body.key, body.incarnation, is_returned=is_returned)
                if not self.is_dead:
                    self._post(CallEnded(call_id=call_id, is_returned=is_returned))

    def stop_run(self, run_id: str, reason: str, grace_s: float) -> None:
        """Ask a run to stop: it ends within its grace, or it happened to end by itself."""
        body = self._bodies.get(run_id)
        if body is not None:
            stops_at = self._boot() + self._rng.random() * grace_s
            if stops_at < body.ends_at:
                body.ends_at, body.state, body.message = stops_at, ItemState.STOPPED, reason

    def abandoned(self, job: str, item: int, cursor: Cursor, reason: str) -> None:
        """Tell nobody."""

    def report_failure(self, place: str, report: FailureReport) -> None:
        """Call nobody."""

    def due_at(self) -> float:
        """Return when something happens next, infinity for never."""
        if not self._bodies and not self._calls:
            return float("inf")
        ends = (*(run.ends_at for run in self._bodies.values()), *(call.ends_at for call in self._calls.values()))
        return min(self._until, *ends)

    def step(self) -> None:
        """End what ends now, and kill everything when the lease is over."""
        now = self._boot()
        for run_id, body in list(self._bodies.items()):
            if body.ends_at <= min(now, self._until):
                self._end(run_id, body.state, body.message)
        self._end_calls(is_returned=True, until=min(now, self._until))
        if now >= self._until:
            self._kill_where(lambda _: True, "the lease is over")
            self._end_calls(is_returned=False)

    def die(self) -> None:
        """Kill everything without telling anyone, as when the executor's process ends."""
        self.is_dead = True
        self._kill_where(lambda _: True, "its executor died")
        self._end_calls(is_returned=False)

    @property
    def busy_count(self) -> int:
        """How many runs live."""
        return len(self._bodies)

    def _kill_where(self, concerns: Callable[[_Body], bool], why: str) -> None:
        for run_id, body in list(self._bodies.items()):
            if concerns(body):
                self._end(run_id, None, why)

    def _end(self, run_id: str, state: ItemState | None, message: str) -> None:
        body = self._bodies.pop(run_id)
        self._record.end(body.record, state)
        if not self.is_dead:
            self._post(Ended(run_id=run_id, state=state, message=message))
