"""What must hold of jobs that fire after others: each completed fire is followed once by each, at that very moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shardsched.core.command import MAX_WAITING_TRIGGERS, decode_commands
from shardsched.core.fire import Cause, ItemState, decode_cursor
from shardsched.core.job import AfterOn
from shardsched.core.job_record import decode_job
from shardsched.core.tally import FireKey, FireOutcome, Tally
from shardsched.core.tally_record import decode_tally
from shardsched.registry.base import Create, Put
from tests.simulation.demand import demand

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from shardsched.core.command import Trigger
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.core.paths import Paths
    from shardsched.core.tally import ClosedFire
    from shardsched.registry.base import Node, Operation
    from tests.simulation.judge import Judge
    from tests.simulation.store import SimStore

HEARD_S = 15.0
"""An executor has heard of an edit after so long at the latest: nobody is deaf for longer."""
_COUNTED = {
    AfterOn.SUCCESS: {FireOutcome.SUCCESS},
    AfterOn.FAILURE: {FireOutcome.FAILURE},
    AfterOn.ALWAYS: {FireOutcome.SUCCESS, FireOutcome.FAILURE},
}


class CompletedFire(NamedTuple):
    """A completed fire."""

    outcome: FireOutcome
    at: float


class ChainJudge:
    """Watches the tallies of one fleet, and compares them with what the cursors alone say."""

    def __init__(self, judge: Judge, store: SimStore, paths: Paths) -> None:
        self._judge = judge
        self._store = store
        self._paths = paths
        self.completed: dict[tuple[str, FireKey], CompletedFire] = {}
        """By uid and fire: how and when it ended."""
        self.triggers: list[tuple[str, str, Trigger]] = []
        """By job and uid: every trigger that came of another job's fire."""
        self._followed: set[tuple[str, str, FireKey]] = set()
        self._edited_at: dict[str, float] = {}
        self._switched_off: dict[tuple[str, int], list[tuple[datetime | None, datetime]]] = {}
        """By uid and item: spans of fires that were passed over since the item was disabled; the first is no part."""

    def committed(self, operations: tuple[Operation, ...], before: dict[str, Node | None]) -> None:
        """Judge a committed transaction."""
        written = {operation.path: operation for operation in operations if isinstance(operation, Create | Put)}
        for path, operation in written.items():
            match path.split("/")[2:]:
                case ["jobs", job]:
                    self._edited_at[job] = self._store.clock.boot()
                case ["commands", job]:
                    self._commands(job, operation, before[path])
                case ["items", job, item]:
                    self._cursor(job, int(item), decode_cursor(path, operation.value), before[path])
                case _:
                    pass
        for path, operation in written.items():
            match path.split("/")[2:]:
                case ["fires", job]:
                    self._tally(job, decode_tally(path, operation.value), before[path], written)
                case _:
                    pass

    def _cursor(self, job: str, item: int, cursor: Cursor, before: Node | None) -> None:
        config = self._config(job)
        is_off = config is not None and config.uid == cursor.uid and item in config.disabled_items
        if is_off and cursor.state is ItemState.MISSED and cursor.fire is not None:
            old = decode_cursor(before.path, before.value) if before is not None else None
            since = old.fire if old is not None and old.uid == cursor.uid else None
            self._switched_off.setdefault((cursor.uid, item), []).append((since, cursor.fire))

    def _commands(self, job: str, operation: Create | Put, before: Node | None) -> None:
        commands = decode_commands(operation.path, operation.value)
        known = decode_commands(before.path, before.value) if before is not None else None
        old = (
            {trigger.number for trigger in known.triggers} if known is not None and known.uid == commands.uid else set()
        )
        for trigger in commands.triggers:
            if trigger.number in old or trigger.cause is not Cause.DEPENDENCY:
                continue
            self.triggers.append((job, commands.uid, trigger))
            for fire in trigger.upstream:
                key = FireKey(at=fire.at, trigger=fire.trigger)
                upstream = self._config(fire.job)
                what = f"{job} fires after {fire.job} {key}"
                if upstream is not None:
                    place = commands.uid, upstream.uid, key
                    demand(place not in self._followed or self._judge.can_rewind, f"{what} twice")
                    self._followed.add(place)

    def _config(self, job: str) -> JobConfig | None:
        node = self._store.find(self._paths.job(job))
        return None if node is None else decode_job(node.path, job, node.value)

    def _tally(self, job: str, tally: Tally, before: Node | None, written: Mapping[str, Create | Put]) -> None:
        old = decode_tally(before.path, before.value) if before is not None else Tally(uid=tally.uid)
        old = old if old.uid == tally.uid else Tally(uid=tally.uid)
        closed = {fire.key: fire for fire in tally.closed}
        still = {fire.key for fire in tally.open}
        for was in old.open:
            demand(was.key in still or was.key in closed, f"the fire {was.key} of {job} vanished while open")
        items = {fire.key: fire.items for fire in (*old.open, *tally.open)}
        before_closed = {fire.key for fire in old.closed}
        new = [fire for fire in tally.closed if fire.is_completed and fire.key not in before_closed]
        for fire in new:
            self._complete(job, tally.uid, fire, items.get(fire.key))
            self._check_followers(job, fire, {one.key for one in new}, written)

    def _complete(self, job: str, uid: str, fire: ClosedFire, items: int | None) -> None:
        what = f"the fire {fire.key} of {job}"
        demand((uid, fire.key) not in self.completed or self._judge.can_rewind, f"{what} is completed twice")
        self.completed[uid, fire.key] = CompletedFire(fire.outcome, self._store.clock.boot())
        if items is not None and not self._judge.can_rewind:
            states = [
                state
                for item, state in enumerate(self.states(uid, fire.key, items))
                if state is not None or not self._is_switched_off(uid, item, fire.key)
            ]
            is_done = all(state is ItemState.DONE for state in states)
            # An item that was disabled and is not when the fire is opened, late, counts as missed.
            is_right = is_done if fire.outcome is FireOutcome.SUCCESS else not is_done or len(states) < items
            demand(is_right, f"{what} is a {fire.outcome}: {states}")

    def _check_followers(
        self, job: str, fire: ClosedFire, keys: set[FireKey], written: Mapping[str, Create | Put]
    ) -> None:
        what = f"the fire {fire.key} of {job}"
        for name, config in self._followers(job, fire):
            stored = written.get(self._paths.commands(name))
            demand(stored is not None, f"{what} is over and {name} was not told")
            assert stored is not None
            commands = decode_commands(stored.path, stored.value)
            told = [*commands.upstream, *(one for trigger in commands.triggers for one in trigger.upstream)]
            of_it = {FireKey(at=one.at, trigger=one.trigger) for one in told if one.job == job}
            demand(not of_it.isdisjoint(keys), f"{what} is over and {name} was told of another")
            demand(commands.uid == config.uid, f"{what} was told to an earlier job {name}")

    def _is_switched_off(self, uid: str, item: int, key: FireKey) -> bool:
        if key.trigger:
            return (uid, item, f"trigger {key.trigger}") in self._judge.dropped
        spans = self._switched_off.get((uid, item), ())
        return any((since is None or since < key.at) and key.at <= last for since, last in spans)

    def states(self, uid: str, key: FireKey, items: int) -> list[ItemState | None]:
        """Return what the cursors say of each item of a fire."""
        name = f"trigger {key.trigger}" if key.trigger else f"fire {key.at}"
        return [self._judge.settled.get((uid, item, name)) for item in range(items)]

    def _followers(self, job: str, fire: ClosedFire) -> Iterator[tuple[str, JobConfig]]:
        """Return the jobs that must be told, as they stood when the transaction was committed."""
        for name in self._store.names(self._paths.under("jobs")) or ():
            config = self._config(name)
            if config is None or job not in config.after or config.paused or config.deleting:
                continue
            node = self._store.find(self._paths.commands(name))
            commands = decode_commands(node.path, node.value) if node is not None else None
            is_full = commands is not None and len(commands.triggers) >= MAX_WAITING_TRIGGERS
            is_news = self._store.clock.boot() - self._edited_at.get(name, -HEARD_S) < HEARD_S
            if fire.outcome in _COUNTED[config.after_on] and not is_full and not is_news:
                yield name, config
