"""What must hold once a simulated fleet has had time to recover: nothing stuck, nothing forgotten, nothing left over."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.core.assignment import decode_assignment
from shardsched.core.eligibility import eligible_executors
from shardsched.core.executor import decode_executor
from shardsched.core.fire import ItemState, decode_cursor
from shardsched.core.job import Misfire
from shardsched.core.job_record import decode_job
from shardsched.core.tally import FireCall, FireKey
from shardsched.core.tally_record import decode_tally
from shardsched.core.view import FleetView
from tests.simulation.demand import demand

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.assignment import Assignment
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from tests.simulation.people import People
    from tests.simulation.world import World

SLACK = timedelta(seconds=6)
"""Fires as young as this may still be under way."""
CATCH_UP = timedelta(seconds=12)
"""An item that catches up runs at least this often, whatever waits for slots besides."""
AHEAD = timedelta(seconds=25)
"""What an executor whose clock is ahead had handled of the earlier cron when a new one was set covers this much."""
SPAN = timedelta(seconds=90)
"""How far back fires are looked for."""


@dataclass(frozen=True, slots=True)
class _Stored:
    name: str
    config: JobConfig
    assignment: Assignment
    cursors: dict[int, Cursor]


class Audit:
    """The look at a fleet at rest."""

    def __init__(self, world: World, people: People, missed: list[tuple[str, int, datetime, datetime]]) -> None:
        self._world = world
        self._people = people
        self._missed = missed
        self._nodes = world.store.snapshot()
        self._paths = world.paths
        self._now = world.clock.now()

    def check(self) -> None:
        """Refuse what should not be left."""
        jobs = {job.name: job for job in self._stored()}
        self._check_leader()
        for name, stored in jobs.items():
            self._check_owners(name, stored)
            if not stored.config.paused:
                self._check_fires(name, stored)
            self._check_items(name, stored)
        self._check_triggers(jobs)
        self._check_chains(jobs)
        for path in self._nodes:
            demand(
                not path.startswith(self._paths.under("running") + "/") or path.split("/")[3] in jobs,
                f"{path} is left of a job that is gone",
            )

    def _children(self, kind: str) -> list[str]:
        prefix = self._paths.under(kind) + "/"
        return sorted(path.removeprefix(prefix) for path in self._nodes if path.startswith(prefix))

    def _stored(self) -> list[_Stored]:
        found = []
        for name in self._children("jobs"):
            config = decode_job(name, name, self._nodes[self._paths.job(name)].value)
            demand(not config.deleting, f"{name} is still being deleted")
            node = self._nodes.get(self._paths.assignment(name))
            demand(node is not None, f"nobody was assigned to {name}")
            assert node is not None
            assignment = decode_assignment(node.path, node.value)
            demand(assignment.uid == config.uid, f"the assignment of {name} is of an earlier job")
            cursors = {}
            for item in range(assignment.item_count):
                stored = self._nodes.get(self._paths.cursor(name, item))
                cursor = None if stored is None else decode_cursor(stored.path, stored.value)
                if cursor is not None and cursor.uid == config.uid:
                    cursors[item] = cursor
            found.append(_Stored(name, config, assignment, cursors))
        return found

    def _check_leader(self) -> None:
        leader = self._nodes.get(self._paths.leader)
        demand(leader is not None, "nobody leads (S125)")

    def _check_owners(self, name: str, stored: _Stored) -> None:
        executors = {
            one: decode_executor(one, one, self._nodes[self._paths.executor(one)].value)
            for one in self._children("executors")
        }
        eligible = eligible_executors(stored.config, FleetView(executors=executors))
        for owner, items in stored.assignment.owners.items():
            demand(owner in eligible, f"{name}: items {items} belong to {owner}, who may not own them (I4)")
        owned = sorted(itertools.chain.from_iterable(stored.assignment.owners.values()))
        demand(owned == list(range(stored.assignment.item_count)), f"{name}: only {owned} have an owner (I4)")
        sizes = [len(stored.assignment.owners.get(one, ())) for one in eligible]
        demand(max(sizes) - min(sizes) <= 1, f"{name} is spread unevenly: {sizes}")
        demand(
            stored.assignment.newest.items == stored.config.items,
            f"{name} is not laid out for {stored.config.items} items",
        )

    def _check_items(self, name: str, stored: _Stored) -> None:
        running = self._world.record.active
        for item in range(stored.assignment.item_count):
            marker = self._nodes.get(self._paths.marker(name, item))
            is_running = (name, item) in running
            is_old = marker is not None and marker.created_at < self._world.clock.now() - SLACK
            demand(is_running or not is_old, f"{name}[{item}] has a marker and does not run (S051)")
            cursor = stored.cursors.get(item)
            if cursor is not None and cursor.is_retried and not stored.config.paused:
                assert cursor.retry_at is not None
                is_late = stored.config.schedule().opens_at(cursor.retry_at) < self._now - SLACK
                demand(not is_late or self._opens_later(stored), f"{name}[{item}] is not tried again")
            is_claimed = cursor is not None and cursor.state is ItemState.RUNNING and not _is_young(cursor, self._now)
            demand(is_running or not is_claimed, f"{name}[{item}] is abandoned and nobody takes it up (I6)")

    def _check_fires(self, name: str, stored: _Stored) -> None:
        """Every fire that was due was run, or counted as missed."""
        world, config = self._world, stored.config
        until = world.clock.now() - SLACK
        cron = config.schedule()
        for item in range(stored.assignment.item_count):
            cursor = stored.cursors.get(item)
            if config.misfire is Misfire.ALL and cursor is not None and _is_young(cursor, self._now):
                continue  # it catches up, one fire after the other
            if (config.uid, item) in world.judge.rewound or config.armed_at > until:
                continue
            fire = cron.next_fire(max(config.armed_at + AHEAD, until - SPAN, world.judge.relived_until or until - SPAN))
            while fire is not None and fire <= until:
                if self._concerns(config.uid, item, fire):
                    demand(self._is_handled(name, config.uid, item, fire), f"{name}[{item}] {fire} was forgotten")
                fire = cron.next_fire(fire)

    def _opens_later(self, stored: _Stored) -> bool:
        """Whether a pause window lies around now."""
        return stored.config.schedule().opens_at(self._now) > self._now

    def _concerns(self, uid: str, item: int, fire: datetime) -> bool:
        """Whether the fire surely had this item, by every layout that it may have had."""
        layouts = self._world.judge.layouts.get(uid, [])
        began = [begins for begins, _ in layouts if begins is not None and begins <= fire]
        latest = max(began, default=None)
        counts = [items for begins, items in layouts if begins == latest or begins is None]
        return all(item < count for count in counts)

    def _is_handled(self, name: str, uid: str, item: int, fire: datetime) -> bool:
        judge = self._world.judge
        if (uid, item, f"fire {fire}") in judge.claimed:
            return True
        spans = judge.missed.get((uid, item), ())
        if any((after is None or after < fire) and fire <= last for after, last in spans):
            return True
        # An executor that ended between its claim and the start of the run could not tell what it passed over.
        started = {run.claimed.marker.run for run in self._world.record.runs}
        jumps = judge.jumps.get((uid, item), ())
        if any((after is None or after < fire) and fire < last and run not in started for after, last, run in jumps):
            return True
        return any((job, number) == (name, item) and first <= fire <= last for job, number, first, last in self._missed)

    def _check_triggers(self, jobs: dict[str, _Stored]) -> None:
        """Every trigger ran for each of its items once, and came to an end."""
        for press in self._people.presses:
            stored = jobs.get(press.job)
            if stored is None or stored.config.uid != press.uid:
                continue
            for item in press.items:
                self._check_trigger(stored, item, press.number, f"trigger {press.number} of {press.job}[{item}]")

    def _check_trigger(self, stored: _Stored, item: int, number: int, what: str) -> None:
        judge, key = self._world.judge, (stored.config.uid, item, f"trigger {number}")
        if key in judge.dropped:
            return
        cursor = stored.cursors.get(item)
        is_behind_retry = cursor is not None and cursor.is_retried and cursor.trigger < number
        demand(key in judge.claimed or is_behind_retry, f"{what} was forgotten")
        is_retried = cursor is not None and cursor.is_retried and cursor.trigger <= number
        is_claimed = cursor is not None and cursor.state is ItemState.RUNNING and _is_young(cursor, self._now)
        is_active = (stored.name, item) in self._world.record.active or is_retried or is_claimed
        demand(key in judge.settled or is_active, f"{what} never ended")

    def _check_chains(self, jobs: dict[str, _Stored]) -> None:
        """What fired after other jobs came to its end, and what ended while all was calm was counted."""
        upstream = {name for stored in jobs.values() for name in stored.config.after}
        for job, uid, trigger in self._world.judge.chain.triggers:
            stored = jobs.get(job)
            if stored is not None and stored.config.uid == uid and trigger.at <= self._now - SLACK:
                for item in range(trigger.items):
                    cursor = stored.cursors.get(item)
                    # Other jobs may trigger it faster than it runs: then it works them off, one after the other.
                    if cursor is None or cursor.trigger >= trigger.number or not _is_young(cursor, self._now):
                        self._check_trigger(stored, item, trigger.number, f"{trigger} for item {item}")
        for name in sorted(upstream & set(jobs)):
            self._check_counted(jobs[name])
        for name, stored in jobs.items():
            if stored.config.handler == "h1":
                self._check_called(name, stored)

    def _check_called(self, name: str, stored: _Stored) -> None:
        """No call of listeners that has been due for a while is left."""
        node, completed = self._nodes.get(self._paths.fires(name)), self._world.judge.chain.completed
        tally = None if node is None else decode_tally(node.path, node.value)
        if tally is None or tally.uid != stored.config.uid:
            return
        for call in tally.pending:
            ended = completed.get((tally.uid, call.key))
            is_old = ended is not None and ended.at < self._world.server_clock.boot() - SLACK.total_seconds()
            demand(not is_old, f"{call} of {name} is still to be made")

    def _check_counted(self, stored: _Stored) -> None:
        world, uid, cron = self._world, stored.config.uid, stored.config.schedule()
        assert world.rest_at is not None
        if world.judge.can_rewind:
            return
        fire = cron.next_fire(max(world.rest_at + SLACK, stored.config.armed_at))
        while fire is not None and fire <= self._now - SLACK:
            states = world.judge.chain.states(uid, FireKey(at=fire), stored.assignment.layout_at(fire).items)
            key = FireKey(at=fire)
            ended = world.judge.chain.completed.get((uid, key))
            demand(ended or not all(states), f"the fire {fire} of {stored.name} ended and was not counted")
            is_old = ended is not None and ended.at < world.server_clock.boot() - SLACK.total_seconds()
            if is_old and stored.config.handler == "h1":
                for call in FireCall:
                    is_called = (uid, key, call) in world.record.calls.returned
                    demand(is_called, f"{call} of {fire} of {stored.name} was not called")
            fire = cron.next_fire(fire)

    def check_losses(self) -> None:
        """Nothing is lost where failover was on all the time."""
        for key, state in self._world.judge.settled.items():
            demand(
                state is not ItemState.LOST or key[0] in self._people.is_failover_off,
                f"{key} is lost although failover is on",
            )


def _is_young(cursor: Cursor, now: datetime) -> bool:
    return cursor.started_at is not None and cursor.started_at > now - CATCH_UP
