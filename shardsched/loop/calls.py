"""Having fire listeners called: once for each start and end of a fire, also if an executor dies in between."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from shardsched.coordination.call_desk import CallDesk
    from shardsched.coordination.mirror import Mirror
    from shardsched.coordination.session import Lease
    from shardsched.core.tally import PendingCall
    from shardsched.core.view import JobEntry
    from shardsched.loop.launcher import Launcher
    from shardsched.loop.message import CallEnded

MAX_CALLS = 8
"""Calls made at once by one executor; they take no slots, so that they need a bound of their own."""
RETRY = timedelta(seconds=1)
"""When a call that was interrupted is made again."""


@dataclass(frozen=True, slots=True)
class _Call:
    job: str
    uid: str
    call: PendingCall


class Calls:
    """The part of the loop that has fire listeners called. **Thread:** the loop's."""

    def __init__(
        self,
        *,
        lease: Lease,
        mirror: Mirror,
        desk: CallDesk,
        launcher: Launcher,
        new_call_id: Callable[[], str],
    ) -> None:
        self._lease = lease
        self._mirror = mirror
        self._tallies = desk.tallies
        self._desk = desk
        self._launcher = launcher
        self._new_call_id = new_call_id
        self._jobs: set[str] = set()
        self._later: set[str] = set()
        self._made: dict[str, _Call] = {}
        self._returned: list[_Call] = []
        self._incarnation = ""
        self.is_fleet_changed = True
        """Whether executors came or went since the last step: what they had to call may be ours now."""
        self._later_at: datetime | None = None

    @property
    def count(self) -> int:
        """How many calls are being made, or have returned and are not handed in yet."""
        return len(self._made) + len(self._returned)

    @property
    def is_waiting(self) -> bool:
        """Whether something is left for another step, soon."""
        return bool(self._jobs or self._later or self._returned)

    def end(self, ended: CallEnded, now: datetime) -> None:
        """Take note that a call has ended."""
        made = self._made.pop(ended.call_id, None)
        if made is not None and ended.is_returned:
            self._returned.append(made)
        elif made is not None:
            self._later.add(made.job)
            self._later_at = now + RETRY

    def step(self, now: datetime) -> None:
        """Hand in what has returned, and make the calls that are ours to make.

        Raises:
            RegistryUnavailableError: No answer; a later step does the rest.
            SessionLostError: There is no session any more.
        """
        if self._later_at is not None and self._later_at <= now:
            self._later_at = None
            self._jobs |= self._later
            self._later.clear()
        self._jobs |= self._tallies.take_called()
        if self.is_fleet_changed or self._incarnation != self._lease.incarnation:
            self._look_everywhere()
            self.is_fleet_changed, self._incarnation = False, self._lease.incarnation
        for job in sorted({done.job for done in self._returned}):
            self._hand_in(job)
        self._make()

    def _look_everywhere(self) -> None:
        """Have the tallies of all jobs looked at whose listeners are in this process."""
        heard = self._tallies.listening()
        if not heard:
            return
        entries = [entry for job in self._mirror.job_names() if (entry := self._heard(job, heard)) is not None]
        for entry in entries:
            self._tallies.forget(entry.name)
            self._jobs.add(entry.name)
        self._tallies.load(entries)

    def _heard(self, job: str, heard: Collection[str]) -> JobEntry | None:
        entry = self._mirror.entry(job)
        config = entry.config if entry is not None else None
        return entry if config is not None and not config.deleting and config.handler in heard else None

    def _hand_in(self, job: str) -> None:
        entry = self._mirror.entry(job)
        uid = entry.config.uid if entry is not None and entry.config is not None else None
        done = [one for one in self._returned if one.job == job]
        calls = [one.call for one in done if one.uid == uid]
        if entry is None or not calls or self._desk.hand_in(entry, calls):
            self._returned = [one for one in self._returned if one.job != job]
            self._jobs.add(job)

    def _make(self) -> None:
        heard = self._tallies.listening() if self._jobs else ()
        for job in sorted(self._jobs):
            entry = self._heard(job, heard)
            if entry is None or self._launch(entry):
                self._jobs.discard(job)

    def _launch(self, entry: JobEntry) -> bool:
        """Make the calls of a job that are ours; return False if some must wait for others to return."""
        living = {record.incarnation for record in self._mirror.executors().values()}
        incarnation = self._lease.incarnation
        under_way = {
            (one.call.call, one.call.key) for one in (*self._made.values(), *self._returned) if one.job == entry.name
        }
        for call in self._desk.take(entry, living):
            if (call.call, call.key) in under_way or entry.config is None or call.by != incarnation:
                continue
            if len(self._made) >= MAX_CALLS:
                return False
            call_id = self._new_call_id()
            self._made[call_id] = _Call(job=entry.name, uid=entry.config.uid, call=call)
            self._launcher.launch_call(call_id, entry.config, call, incarnation)
        return True
