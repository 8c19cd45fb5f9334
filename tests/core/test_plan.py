"""What one executor does about one job: the decisions of its items put together, and what settles."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.assignment import Layout
from shardsched.core.command import Commands, Trigger
from shardsched.core.decision import Run
from shardsched.core.fire import Cause, Cursor, ItemState
from shardsched.core.job import Misfire
from shardsched.core.plan import Candidate, admit, stopped_runs, usable_entry
from shardsched.core.view import ItemView, JobEntry
from tests.core.scene import Scene, at, config, done, marker, outcome_of, running
from tests.strategies import ANY_SPEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.core.decision import Decision

TWO = config(items=2)
SCENE = Scene(now=at("12:00:20"), config=TWO)


def test_plan_sorts_decisions_by_kind() -> None:
    """Runs, settlings, releases and items to wait for are told apart, and unread items are named."""
    scene = Scene(now=at("12:00:20"), config=config(items=5, failover=False))
    items = {
        0: ItemView(cursor=done(at("12:00:10")), cursor_version=0),
        1: ItemView(cursor=running(at("12:00:10")), cursor_version=0),
        2: ItemView(cursor=running(at("12:00:10")), cursor_version=0, marker=marker()),
        3: ItemView(cursor=running(at("12:00:10")), cursor_version=0, marker=marker(incarnation="fence-1")),
    }
    planned = scene.plan(items)
    assert [run.item for run in planned.runs] == [0]
    assert [settle.item for settle in planned.settles] == [1]
    assert [awaited.item for awaited in planned.awaits] == [2]
    assert [(release.item, release.is_final) for release in planned.releases] == [(3, True)]
    assert planned.unread == (4,)
    assert planned.wake_at == at("12:00:30")
    assert planned.reason is None


def test_plan_of_items_of_others_is_nothing() -> None:
    """Items that another executor owns are neither read nor run, and there is nothing to wake for."""
    entry = SCENE.entry()
    assert entry.assignment is not None
    others = replace(entry, assignment=replace(entry.assignment, owners={"e2": (0, 1)}))
    scene = replace(SCENE)
    planned = _plan_entry(scene, others, {0: ItemView(), 1: ItemView()})
    assert (planned.runs, planned.unread, planned.wake_at) == ((), (), None)


def _plan_entry(scene: Scene, entry: JobEntry, items: dict[int, ItemView]):  # type: ignore[no-untyped-def]  # as `Scene.plan`
    from shardsched.core.plan import plan
    from shardsched.core.view import JobView
    from tests.core.scene import ME

    return plan(JobView(entry=entry, items=items), ME, scene.moment(), scene.config.schedule().next_fire(scene.now))


@pytest.mark.parametrize("is_paused", [True, False])
def test_plan_wakes_for_the_next_fire_unless_paused(*, is_paused: bool) -> None:
    """A paused job needs no wake-up: only an edit or a trigger can make anything due."""
    planned = replace(SCENE, config=config(paused=is_paused)).plan({0: ItemView()})
    assert planned.wake_at == (None if is_paused else at("12:00:30"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"held": "invalid cron"}, "invalid cron"),
        ({"config": None}, "unreadable configuration"),
        ({"assignment": None}, "waits for the leader to assign its items"),
        ({"assignment_version": None}, "waits for the leader to assign its items"),
        ({"assignment": None, "assignment_fault": "it is not JSON"}, "it is not JSON"),
    ],
)
def test_plan_of_an_unusable_job_gives_the_reason(changes: dict[str, object], reason: str) -> None:
    """A job that cannot be planned does nothing and says why."""
    entry = replace(SCENE.entry(), **changes)  # type: ignore[arg-type]  # fields of the entry
    assert usable_entry(entry) == reason
    planned = _plan_entry(SCENE, entry, {0: ItemView()})
    assert (planned.runs, planned.wake_at, planned.reason) == ((), None, reason)


def test_plan_claims_nothing_while_the_layout_is_old() -> None:
    """While the newest layout has another count than the configuration, nothing is claimed but all else is done."""
    layouts = (Layout(items=1, config=0),)
    scene = Scene(now=at("12:00:20"), config=config(items=2, failover=False), layouts=layouts)
    assert scene.plan({0: ItemView(cursor=done(at("12:00:10")), cursor_version=0)}).runs == ()
    planned = scene.plan({0: ItemView(cursor=running(at("12:00:10")), cursor_version=0)})
    assert [settle.state for settle in planned.settles] == [ItemState.LOST]
    assert planned.reason == "waits for the leader to lay out 2 items"


def test_plan_of_a_deleted_job_gives_markers_back_only() -> None:
    """A job being deleted starts nothing; markers of ours without a run are given back so that it can go."""
    scene = Scene(now=at("12:00:20"), config=config(items=2, deleting=True))
    items = {
        0: ItemView(cursor=running(at("12:00:10")), cursor_version=0, marker=marker(incarnation="fence-1")),
        1: ItemView(cursor=running(at("12:00:10")), cursor_version=0),
    }
    planned = scene.plan(items)
    assert (planned.runs, planned.settles, planned.wake_at) == ((), (), None)
    assert [release.item for release in planned.releases] == [0]
    assert planned.reason == "being deleted"


# Settling

CURSORS = st.none() | st.builds(
    done,
    st.none() | st.integers(-6, 30).map(lambda tens: at("12:00:00") + timedelta(seconds=10 * tens)),
    state=st.sampled_from(ItemState),
    trigger=st.integers(0, 2),
    items=st.integers(1, 3),
    run_fire=st.just(at("12:00:10")),
    ended_at=st.none() | st.just(at("12:00:15")),
    failures=st.integers(0, 3),
    retry_at=st.none() | st.just(at("12:00:25")),
)
TRIGGERS = st.lists(st.integers(1, 3), max_size=2).map(
    lambda counts: tuple(
        Trigger(number=number, at=at("12:00:05"), items=items) for number, items in enumerate(counts, start=1)
    )
)
LAYOUTS = st.sampled_from(
    [
        (Layout(items=2, config=0),),
        (Layout(items=2, config=0, from_fire=at("12:00:20")),),
        (Layout(items=1, config=0), Layout(items=2, config=1, from_fire=at("12:00:30"))),
        (Layout(items=3, config=0), Layout(items=2, config=1, from_fire=at("12:00:30"))),
    ]
)


@ANY_SPEED
@given(
    now_s=st.integers(-100, 400),
    cursors=st.lists(CURSORS, min_size=3, max_size=3),
    triggers=TRIGGERS,
    stop=st.integers(0, 1),
    layouts=LAYOUTS,
    misfire=st.sampled_from(Misfire),
    failover=st.booleans(),
    paused=st.booleans(),
    grace_s=st.sampled_from([0.0, 5.0, 60.0]),
    disabled=st.sampled_from([(), (), (0,), (1, 2)]),
    pause=st.sampled_from([(), ("12:02-12:04",)]),
)
def test_plan_carried_out_settles(  # noqa: PLR0917 - one argument for each thing that is generated
    now_s: int,
    cursors: list[Cursor | None],
    triggers: tuple[Trigger, ...],
    stop: int,
    layouts: tuple[Layout, ...],
    misfire: Misfire,
    failover: bool,
    paused: bool,
    grace_s: float,
    disabled: tuple[int, ...],
    pause: tuple[str, ...],
) -> None:
    """Doing what the plan says and planning again comes to an end, no fire runs twice, and none runs out of order."""
    job = config(
        items=2, misfire=misfire, failover=failover, paused=paused, misfire_grace_s=grace_s, retries=2,
        disabled_items=disabled, pause=pause,
    )  # fmt: skip
    scene = Scene(
        now=at("12:00:00") + timedelta(seconds=now_s),
        config=job,
        commands=Commands(uid="u", triggers=triggers, stop=stop),
        layouts=layouts,
    )
    items = {
        item: ItemView(cursor=cursor, cursor_version=None if cursor is None else 0)
        for item, cursor in enumerate(cursors[: scene.assignment().item_count])
    }
    ran: dict[int, list[Run]] = {item: [] for item in items}
    for _ in range(100):
        planned = scene.plan(items)
        decisions: dict[int, Decision] = {one.item: one for one in planned.runs}
        decisions |= {one.item: one for one in planned.settles}
        decisions |= {one.item: one for one in planned.releases}
        if not decisions:
            break
        for item, decision in decisions.items():
            items[item] = outcome_of(decision, items[item], scene.now)
            if isinstance(decision, Run):
                ran[item].append(decision)
    else:
        pytest.fail("the plan never settles")
    for runs in ran.values():
        fires = [run.run_fire for run in runs if run.cause in {Cause.SCHEDULE, Cause.MISFIRE}]
        assert fires == sorted(set(fires))
        assert all(fire <= scene.now for fire in fires)
        numbers = [run.trigger for run in runs if run.cause is Cause.MANUAL]
        assert numbers == sorted(set(numbers))
        assert not (paused and fires)
        retries = [run for run in runs if run.cause is Cause.RETRY]
        assert len(retries) <= 1
        assert not (paused and retries)
        assert all(run.failures <= job.retries for run in retries)
    assert not any(ran.get(item) for item in disabled)


# Admission


def candidates(*runs: tuple[str, int, int, int]) -> list[Candidate]:
    """Return candidates from job, item, priority and seconds of the fire after noon."""
    found = []
    for job, item, priority, second in runs:
        decision = Scene(now=at("12:30:00")).run()
        run = replace(decision, item=item, run_fire=at("12:00:00") + timedelta(seconds=second))
        found.append(Candidate(job=job, priority=priority, run=run))
    return found


def places(chosen: Sequence[Candidate]) -> list[tuple[str, int]]:
    """Return job and item of candidates."""
    return [(one.job, one.run.item) for one in chosen]


def test_admit_takes_priority_first_then_the_older_fire() -> None:
    """When slots are short, the higher priority starts first, then the older fire, then by name and item."""
    waiting = candidates(("b", 1, 0, 20), ("a", 0, 0, 20), ("low", 0, -1, 0), ("high", 0, 5, 30), ("old", 0, 0, 10))
    admitted, rest = admit(waiting, 3)
    assert places(admitted) == [("high", 0), ("old", 0), ("a", 0)]
    assert places(rest) == [("b", 1), ("low", 0)]


@pytest.mark.parametrize("free", [-3, 0])
def test_admit_without_slots_takes_nothing(free: int) -> None:
    """Without a free slot nothing starts; more runs than slots (after a slot count fell) are no error."""
    admitted, rest = admit(candidates(("a", 0, 0, 0)), free)
    assert (admitted, len(rest)) == ((), 1)


def test_admit_with_room_takes_all() -> None:
    """With slots for all, all start."""
    admitted, rest = admit(candidates(("a", 0, 0, 0), ("a", 1, 0, 0)), 2)
    assert (len(admitted), rest) == (2, ())


@ANY_SPEED
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(-1, 1), st.integers(0, 3)), max_size=8),
    st.integers(0, 9),
)
def test_admit_loses_nobody(runs: list[tuple[str, int, int, int]], free: int) -> None:
    """Everyone either starts or waits, never more start than fit, and nobody who waits outranks one who starts."""
    waiting = candidates(*runs)
    admitted, rest = admit(waiting, free)
    assert sorted(places([*admitted, *rest])) == sorted(places(waiting))
    assert len(admitted) == min(free, len(waiting))
    if admitted and rest:
        assert max((-one.priority, one.run.run_fire) for one in admitted) <= min(
            (-one.priority, one.run.run_fire) for one in rest
        )


@pytest.mark.parametrize(
    ("commands", "stopped"),
    [(None, ()), (Commands(uid="u"), ()), (Commands(uid="u", stop=1), ("a",)), (Commands(uid="u", stop=3), ("a", "b"))],
)
def test_stopped_runs_are_those_claimed_before(commands: Commands | None, stopped: tuple[str, ...]) -> None:
    """A stop ends the runs that were claimed under a lower counter."""
    assert stopped_runs(commands, [("a", 0), ("b", 1)]) == stopped
