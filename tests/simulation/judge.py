"""What must hold at every moment of a simulation, judged by what is committed and by what the launchers saw.

Nothing here asks the product what it believes: the judge reads the stored records and the record of runs.
"""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from shardsched.core.assignment import decode_assignment
from shardsched.core.fire import TRIGGERED, ItemState, decode_cursor, decode_marker
from shardsched.core.job_record import decode_job
from shardsched.registry.base import Create, Put
from tests.simulation.chain_judge import ChainJudge
from tests.simulation.demand import BrokenInvariantError, demand
from tests.simulation.record import fire_key

if TYPE_CHECKING:
    from shardsched.core.fire import Cursor, Marker
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Node, Operation
    from tests.simulation.record import Key, RunRecord
    from tests.simulation.store import SimStore

DRIFT_LIMIT = timedelta(seconds=60)
"""How far off the clock of an executor that fires may be."""


def _cursor_of(node: Node | None) -> Cursor | None:
    return None if node is None else decode_cursor(node.path, node.value)


def _is_retry(old: Cursor | None, cursor: Cursor) -> bool:
    """Whether a claim tries the fire again that the cursor before says has failed."""
    is_same = old is not None and (old.uid, old.run_fire, old.attempt + 1) == (
        cursor.uid,
        cursor.run_fire,
        cursor.attempt,
    )
    return is_same and old is not None and old.is_retried and cursor.state is ItemState.RUNNING


class Judge:
    """Watches one fleet."""

    def __init__(self, store: SimStore, paths: Paths, timeout_s: float) -> None:
        self._store = store
        self._leading = ""
        self._paths = paths
        self._timeout_s = timeout_s
        self.settled: dict[Key, ItemState] = {}
        """What finally became of each fire."""
        self.claimed: dict[Key, int] = {}
        """How many attempts were claimed at each fire."""
        self.missed: dict[tuple[str, int], list[tuple[datetime | None, datetime]]] = {}
        """By uid and item: spans of fires that a cursor counts as missed; the first moment is not part of it."""
        self.jumps: dict[tuple[str, int], list[tuple[datetime | None, datetime, str]]] = {}
        """By uid and item: what each claim passed over, with its run."""
        self.layouts: dict[str, list[tuple[datetime | None, int]]] = {}
        """By uid: every layout that was ever written."""
        self.can_rewind = False
        """Whether the clocks of all, and of the registry, were set back."""
        self.relived_until: datetime | None = None
        """Up to when fires may be suppressed, since the clocks of all had been there before."""
        self.rewound: set[tuple[str, int]] = set()
        """Uids and items whose cursor was set back."""
        self.proved_at: dict[str, float] = {}
        """By fence: when the last answered heartbeat had been sent."""
        self.chain = ChainJudge(self, store, paths)
        """What is judged of jobs that fire after others."""
        self.dropped: set[Key] = set()
        """Triggers that an item did not run, being disabled."""
        self._failures: dict[Key, int] = {}
        self._tokens: dict[tuple[str, int], int] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def committed(self, session_id: str, operations: tuple[Operation, ...], before: dict[str, Node | None]) -> None:
        """Judge a committed transaction."""
        for operation in operations:
            if not isinstance(operation, Create | Put):
                continue
            parts = operation.path.split("/")[2:]
            match parts:
                case ["running", job, item] if operation.value:
                    old = _cursor_of(before.get(self._paths.cursor(job, int(item))))
                    self._claim(session_id, job, int(item), decode_marker(operation.path, operation.value), old)
                case ["items", job, item] if operation.value:
                    cursor, old = decode_cursor(operation.path, operation.value), _cursor_of(before[operation.path])
                    self._cursor(job, int(item), cursor, old if old is not None and old.uid == cursor.uid else None)
                case ["epoch"]:
                    self._leading = session_id
                case ["assignments", _]:
                    self._assignment(session_id, operation)
                case _:
                    pass
        self.chain.committed(operations, before)

    def _claim(self, session_id: str, job: str, item: int, marker: Marker, old: Cursor | None) -> None:
        what = f"claim of {job}[{item}] {marker.fire} by {marker.executor}"
        fence = self._store.find(self._paths.session(marker.incarnation))
        demand(fence is not None and fence.owner == session_id, f"{what}: its fence does not stand (I5)")
        node = self._store.find(self._paths.cursor(job, item))
        demand(node is not None, f"{what}: there is no cursor")
        assert node is not None
        cursor = decode_cursor(node.path, node.value)
        demand(
            cursor.run == marker.run and cursor.state is ItemState.RUNNING,
            f"{what}: cursor and marker were not written together",
        )
        self._claim_by_config(what, job, item, cursor, is_retry=_is_retry(old, cursor))
        stored = self._store.find(self._paths.assignment(job))
        demand(stored is not None, f"{what}: nobody was assigned")
        assert stored is not None
        assignment = decode_assignment(stored.path, stored.value)
        demand(assignment.owner_of(item) == marker.executor, f"{what}: it owns the item no longer")
        self._claim_once(what, item, cursor)

    def _claim_by_config(self, what: str, job: str, item: int, cursor: Cursor, *, is_retry: bool) -> None:
        node = self._store.find(self._paths.job(job))
        demand(node is not None, f"{what}: the job is deleted")
        assert node is not None
        config = decode_job(node.path, job, node.value)
        demand(not config.deleting, f"{what}: the job is being deleted")
        demand(config.uid == cursor.uid, f"{what}: it is of an earlier job of that name (S055)")
        demand(item not in config.disabled_items, f"{what}: the item is disabled")
        if cursor.cause in TRIGGERED and cursor.attempt == 1:
            return
        demand(not config.paused, f"{what}: the job is paused (I5)")
        if is_retry:
            demand(cursor.failures <= config.retries, f"{what}: it failed {cursor.failures} times")
            return
        if cursor.attempt > 1:
            demand(config.failover, f"{what}: failover is off")
            return
        fire = cursor.run_fire
        assert fire is not None
        demand(config.schedule().latest_fire(fire) == fire, f"{what}: it is no fire of {config.cron} (I3)")
        now = self._store.clock.now()
        # Time may have passed since it was decided.
        is_armed = fire > config.armed_at or config.armed_at > now + DRIFT_LIMIT - timedelta(seconds=10)
        demand(is_armed, f"{what}: the job was armed only at {config.armed_at}")
        demand(fire <= now + DRIFT_LIMIT + timedelta(seconds=5), f"{what}: it is fired {fire - now} early")

    def _claim_once(self, what: str, item: int, cursor: Cursor) -> None:
        key = fire_key(cursor.uid, item, first_cause=cursor.cause, run_fire=cursor.run_fire, trigger=cursor.trigger)
        demand(key not in self.settled, f"{what}: it is run again after it was {self.settled.get(key)} (I2)")
        attempts = self.claimed.get(key, 0)
        demand(cursor.attempt == attempts + 1, f"{what}: attempt {cursor.attempt} follows {attempts}")
        self.claimed[key] = cursor.attempt
        place = cursor.uid, item
        demand(cursor.token > self._tokens.get(place, 0), f"{what}: token {cursor.token} is not above the last")
        self._tokens[place] = cursor.token
        count = self._counts.setdefault((cursor.uid, key[2]), cursor.items)
        demand(count == cursor.items, f"{what}: {cursor.items} items, but others of this fire ran with {count}")

    def _cursor(self, job: str, item: int, cursor: Cursor, old: Cursor | None) -> None:
        place = cursor.uid, item
        if old is not None and old.is_retried:
            self._retried(job, item, old, cursor)
        if cursor.state is not ItemState.RUNNING:
            handled = old.trigger if old is not None else 0
            self.dropped.update((*place, f"trigger {number}") for number in range(handled + 1, cursor.trigger + 1))
        if old is not None and old.fire is not None and (cursor.fire is None or cursor.fire < old.fire):
            demand(self.can_rewind, f"cursor of {job}[{item}] went back from {old.fire} to {cursor.fire}")
            self._rewind(place, cursor.fire)
        if cursor.state is ItemState.RUNNING and cursor.fire is not None and cursor.attempt == 1:
            self.jumps.setdefault(place, []).append((None if old is None else old.fire, cursor.fire, cursor.run))
        if cursor.state is ItemState.MISSED and cursor.fire is not None:
            self.missed.setdefault(place, []).append((None if old is None else old.fire, cursor.fire))
        elif cursor.state is not ItemState.RUNNING and cursor.run:
            key = fire_key(cursor.uid, item, first_cause=cursor.cause, run_fire=cursor.run_fire, trigger=cursor.trigger)
            if old is None or old.state is ItemState.RUNNING:
                demand(key not in self.settled, f"{job}[{item}] {key[2]} ends twice")
                self._failures[key] = self._failures.get(key, 0) + (cursor.state is ItemState.FAILED)
                demand(cursor.failures == self._failures[key], f"{job}[{item}] {key[2]} counts its failures wrongly")
                if not cursor.is_retried:
                    self.settled[key] = cursor.state

    def _retried(self, job: str, item: int, old: Cursor, cursor: Cursor) -> None:
        """Judge what follows upon a failure with a retry left: the retry, or its end.

        When it is tried again is not judged: the delays are shorter than what the clocks are apart.
        """
        if _is_retry(old, cursor):
            return
        key = fire_key(old.uid, item, first_cause=old.cause, run_fire=old.run_fire, trigger=old.trigger)
        demand(key not in self.settled, f"{job}[{item}] {key[2]} is given up twice")
        self.settled[key] = old.state

    def _rewind(self, place: tuple[str, int], fire: datetime | None) -> None:
        self.rewound.add(place)
        for key in [key for key in self.claimed if key[:2] == place and key[2].startswith("fire ")]:
            if fire is None or datetime.fromisoformat(key[2].removeprefix("fire ")) > fire:
                self.settled.pop(key, None)
                self.claimed.pop(key, None)
                self._counts.pop((place[0], key[2]), None)
                self._failures.pop(key, None)

    def _assignment(self, session_id: str, operation: Create | Put) -> None:
        demand(session_id == self._leading, f"{operation.path} was written by {session_id}, {self._leading} leads")
        assignment = decode_assignment(operation.path, operation.value)
        seen = self.layouts.setdefault(assignment.uid, [])
        seen.extend((layout.from_fire, layout.items) for layout in assignment.layouts)
        owned = sorted(itertools.chain.from_iterable(assignment.owners.values()))
        demand(owned in ([], list(range(assignment.item_count))), f"{operation.path} leaves items out: {owned}")

    def started(self, run: RunRecord, others: RunRecord | None) -> None:
        """Judge the start of a run."""
        demand(others is None, f"{run} starts while {others} (I1)")
        demand(run.key not in self.settled, f"{run} starts though it was {self.settled.get(run.key)} (I2)")
        demand(self._has_marker(run), f"{run} starts without its marker (I5)")

    def look(self, active: list[RunRecord], now: float) -> None:
        """Judge what runs now."""
        for run in active:
            if not self._has_marker(run):
                raise BrokenInvariantError(f"{run} goes on though its marker has gone (I1)")
            proved_at = self.proved_at.get(self._paths.session(run.claimed.incarnation), now)
            if now > proved_at + self._timeout_s:
                raise BrokenInvariantError(f"{run} lives longer than T after the last proof (I7)")

    def _has_marker(self, run: RunRecord) -> bool:
        node = self._store.find(self._paths.marker(run.claimed.job, run.claimed.item))
        return node is not None and run.claimed.marker.run.encode() in node.value
