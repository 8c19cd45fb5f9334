"""The runs that this executor has claimed and not yet accounted for.

A run is *claiming* until its claim is answered, then *live* while its code runs, then *ended* until its outcome stands
in the registry. It counts against the slots until its code has ended, and its marker is ours until it is accounted
for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shardsched.coordination.ledger import Ending
from shardsched.core.fire import ItemState
from shardsched.core.retry import next_try
from shardsched.loop.message import Stopping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from shardsched.coordination.ledger import Claimed
    from shardsched.core.job import JobConfig
    from shardsched.core.view import ItemView
    from shardsched.loop.message import Ended


@dataclass(slots=True)
class ActiveRun:
    """One run on its way."""

    claimed: Claimed
    """What stands in the registry, or will when the claim is answered."""
    is_live: bool = False
    """Whether its code was launched and has not ended."""
    stopping: Stopping | None = None
    """Why it was asked to stop, if it was."""
    config: JobConfig | None = None
    """The job as it was claimed, None until the claim is answered."""
    ended: Ended | None = None
    """How its code ended, None before."""


@dataclass(slots=True)
class RunTable:
    """All active runs, by run id. **Thread:** used by one thread."""

    _runs: dict[str, ActiveRun] = field(default_factory=dict)
    _endings: dict[str, Ending] = field(default_factory=dict)
    _interrupted: dict[str, Claimed] = field(default_factory=dict)
    _ghosts: dict[str, Claimed] = field(default_factory=dict)
    _void: dict[str, Claimed] = field(default_factory=dict)

    def add(self, claimed: Claimed) -> None:
        """Take a run whose claim is under way."""
        self._runs[claimed.marker.run] = ActiveRun(claimed)

    def confirm(self, claimed: Claimed, config: JobConfig) -> ActiveRun:
        """Take note that a claim was committed; its code is to be launched."""
        run = ActiveRun(claimed, is_live=True, config=config)
        self._runs[claimed.marker.run] = run
        return run

    def drop(self, run_id: str) -> None:
        """Forget a run: its claim was refused, or it is accounted for."""
        self._runs.pop(run_id, None)
        self._endings.pop(run_id, None)
        self._interrupted.pop(run_id, None)
        self._void.pop(run_id, None)

    def drop_void(self, incarnation: str) -> tuple[Claimed, ...]:
        """Forget every run that was not claimed under the present session, and return them.

        Runs whose code has not ended yet stay known as ghosts: their items must not start here meanwhile. Once it has
        ended they are given back, for their markers stand if the session outlived our place in the fleet.

        Args:
            incarnation: The present session's fence, empty if there is none. A run may have been claimed under it
                before the loop hears that the one before has ended.
        """
        void = [run for run in self._runs.values() if run.claimed.incarnation != incarnation]
        for run in void:
            claimed = run.claimed
            self.drop(claimed.marker.run)
            kept = self._ghosts if run.is_live else self._void
            kept[claimed.marker.run] = claimed
        return tuple(run.claimed for run in void)

    def get(self, run_id: str) -> ActiveRun | None:
        """Return a run, None if it is not ours or is accounted for."""
        return self._runs.get(run_id)

    def ids(self) -> frozenset[str]:
        """Return the ids of all runs that are not accounted for."""
        return frozenset(self._runs)

    @property
    def busy_count(self) -> int:
        """How many runs hold a slot."""
        return len(self._runs) - len(self._endings) - len(self._interrupted)

    def live(self) -> tuple[ActiveRun, ...]:
        """Return the runs whose code runs."""
        return tuple(run for run in self._runs.values() if run.is_live)

    def of_job(self, job: str) -> Iterable[ActiveRun]:
        """Return the live runs of a job."""
        return [run for run in self._runs.values() if run.claimed.job == job and run.is_live]

    def without_ghosts(self, job: str, items: Mapping[int, ItemView]) -> Mapping[int, ItemView]:
        """Return the items of a job whose code does not still run here for a session that is over."""
        ghosts = {claimed.item for claimed in self._ghosts.values() if claimed.job == job}
        return {item: view for item, view in items.items() if item not in ghosts} if ghosts else items

    def end(self, ended: Ended, ended_at: datetime) -> str | None:
        """Take note that a run's code has ended; None as its state means that it was interrupted.

        Returns:
            The job to plan again, None if the run is not known.
        """
        run_id, state = ended.run_id, ended.state
        ghost = self._ghosts.pop(run_id, None)
        if ghost is not None:
            self._void[run_id] = ghost
            return ghost.job
        run = self._runs.get(run_id)
        if run is None or not run.is_live:
            return None
        run.is_live, run.ended = False, ended
        if run.stopping is not None and state is not ItemState.DONE:
            state = ItemState.STOPPED if run.stopping is Stopping.STOP else None
        if state is None:
            self._interrupted[run_id] = run.claimed
        else:
            ending = Ending(claimed=run.claimed, state=state, message=ended.message, ended_at=ended_at)
            if ending.is_failure and run.config is not None:
                failures = run.claimed.cursor.failures + 1
                ending = replace(ending, retry_at=next_try(run.config, failures, run_id, ended_at))
            self._endings[run_id] = ending
        return run.claimed.job

    def endings(self) -> tuple[Ending, ...]:
        """Return the outcomes that are not written yet."""
        return tuple(self._endings.values())

    def interrupted(self) -> tuple[Claimed, ...]:
        """Return the claims that are to be given back, for the run to go on elsewhere."""
        return (*self._interrupted.values(), *self._void.values())

    def add_void(self, claimed: Claimed) -> None:
        """Take a claim of a session that is over, without a run, to be given back."""
        self._void[claimed.marker.run] = claimed

    def amend(self, ending: Ending) -> None:
        """Replace an outcome that is not written yet, as when its cursor has another version."""
        self._endings[ending.claimed.marker.run] = ending
