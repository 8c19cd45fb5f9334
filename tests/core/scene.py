"""One job at one moment, with a line to change anything about it; for tests of what is decided about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from shardsched.core.assignment import Assignment, Layout
from shardsched.core.decision import Await, Release, Run, Settle
from shardsched.core.due import due
from shardsched.core.fire import Cause, Cursor, ItemState, Marker
from shardsched.core.job import JobConfig
from shardsched.core.plan import JobPlan, Me, moment_of, plan
from shardsched.core.terms import Moment, Terms
from shardsched.core.view import ItemView, JobEntry, JobView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.core.command import Commands
    from shardsched.core.decision import Decision

ME = Me(name="e1", incarnation="fence-1")
DRIFT_LIMIT_S = 60.0


def at(text: str) -> datetime:
    """Return a time of one day, such as ``12:00:30``."""
    return datetime.fromisoformat(f"2026-03-01T{text}").replace(tzinfo=UTC)


def config(**changes: Any) -> JobConfig:
    """Return a job that fires every ten seconds and was armed at noon."""
    fields: dict[str, Any] = {
        "name": "j",
        "uid": "u",
        "handler": "h",
        "cron": "*/10 * * * * ?",
        "armed_at": at("12:00:00"),
    }
    return JobConfig(**(fields | changes))


def done(fire: datetime | None, **changes: Any) -> Cursor:
    """Return the cursor of an item that has handled a fire."""
    fields: dict[str, Any] = {
        "uid": "u",
        "state": ItemState.DONE,
        "fire": fire,
        "run": "old",
        "run_fire": fire,
        "attempt": 1,
        "token": 1,
    }
    return Cursor(**(fields | changes))


def running(fire: datetime, **changes: Any) -> Cursor:
    """Return the cursor of an item that was claimed for a fire."""
    return done(fire, **({"state": ItemState.RUNNING, "run": "r1", "executor": "e0"} | changes))


def marker(**changes: Any) -> Marker:
    """Return the marker of a run of another executor."""
    fields: dict[str, Any] = {
        "uid": "u",
        "run": "r1",
        "incarnation": "fence-0",
        "executor": "e0",
        "fire": at("12:00:10"),
        "attempt": 1,
    }
    return Marker(**(fields | {"started_at": at("12:00:10")} | changes))


@dataclass(frozen=True)
class Scene:
    """A job, its assignment and its items, as `ME` sees them."""

    now: datetime
    config: JobConfig = field(default_factory=config)
    cursor: Cursor | None = None
    marker: Marker | None = None
    commands: Commands | None = None
    layouts: tuple[Layout, ...] = ()
    running: frozenset[str] = frozenset()
    item: int = 0
    is_marker_ours: bool = False
    trigger_floor: int = 0

    def assignment(self) -> Assignment:
        """Return the assignment: all items are ours."""
        layouts = self.layouts or (Layout(items=self.config.items, config=0),)
        count = max(layout.items for layout in layouts)
        return Assignment(
            uid="u", layouts=layouts, owners={ME.name: tuple(range(count))}, trigger_floor=self.trigger_floor
        )

    def moment(self) -> Moment:
        """Return the moment."""
        schedule = self.config.schedule()
        return moment_of(schedule, self.now, schedule.latest_fire(self.now), DRIFT_LIMIT_S)

    def decide(self, **changes: Any) -> Decision | None:
        """Return what is due for the item, with some of the scene changed."""
        scene = replace(self, **changes)
        terms = Terms(
            config=scene.config,
            schedule=scene.config.schedule(),
            assignment=scene.assignment(),
            commands=scene.commands,
            incarnation=ME.incarnation,
            running=scene.running,
            moment=scene.moment(),
            disabled=frozenset(scene.config.disabled_items),
        )
        view = ItemView(cursor=scene.cursor, cursor_version=0, marker=scene.marker, is_marker_ours=scene.is_marker_ours)
        return due(terms, scene.item, view)

    def run(self, **changes: Any) -> Run:
        """Return the run that is due; fail if none is."""
        decision = self.decide(**changes)
        assert isinstance(decision, Run), decision
        return decision

    def settle(self, **changes: Any) -> Settle:
        """Return what is settled; fail if nothing is."""
        decision = self.decide(**changes)
        assert isinstance(decision, Settle), decision
        return decision

    def entry(self) -> JobEntry:
        """Return the job in the control plane."""
        return JobEntry(
            name="j",
            version=0,
            config=self.config,
            assignment=self.assignment(),
            assignment_version=0,
            commands=self.commands,
            commands_version=None if self.commands is None else 0,
        )

    def plan(self, items: Mapping[int, ItemView]) -> JobPlan:
        """Return the plan for the whole job."""
        following = self.config.schedule().next_fire(self.now)
        return plan(JobView(entry=self.entry(), items=items, running=self.running), ME, self.moment(), following)


def outcome_of(decision: Decision | None, view: ItemView, now: datetime) -> ItemView:
    """Return the item once a decision about it was carried out; a run is done at once."""
    before = view.cursor or Cursor(uid="u", state=ItemState.MISSED)
    match decision:
        case Run():
            cursor = replace(
                before,
                state=ItemState.DONE,
                fire=decision.fire,
                trigger=decision.trigger,
                run="new",
                run_fire=decision.run_fire,
                cause=Cause(decision.first_cause),
                attempt=decision.attempt,
                items=decision.items,
                stop=10**6,
                ended_at=None,
                failures=decision.failures,
                retry_at=None,
            )
            return ItemView(cursor=cursor, cursor_version=1)
        case Settle():
            trigger = before.trigger if decision.trigger is None else decision.trigger
            settled = replace(before, state=decision.state, fire=decision.fire, trigger=trigger, retry_at=None)
            return ItemView(cursor=settled, cursor_version=1)
        case Release():
            state = ItemState.LOST if decision.is_final else before.state
            return ItemView(cursor=replace(before, state=state), cursor_version=1)
        case Await() | None:
            return view


LATER = timedelta(seconds=10)
