"""The leader's decision as one pure function."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.assignment import MAX_LAYOUT_COUNT, Assignment, Layout, decode_assignment, encode_assignment
from shardsched.core.eligibility import eligible_executors
from shardsched.core.executor import DrainMark, ExecutorRecord
from shardsched.core.job import JobConfig, Strategy
from shardsched.core.rebalance import Rebalance, rebalance
from shardsched.core.view import FleetView, JobEntry
from tests.strategies import ANY_SPEED, fleet_views

if TYPE_CHECKING:
    from collections.abc import Mapping

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
CONFIG = JobConfig(name="books", uid="u", handler="crawl", cron="0 * * * *", armed_at=NOON, items=4)


def fleet(*names: str, jobs: tuple[JobEntry, ...] = (), **fields: Any) -> FleetView:
    """Return a fleet of executors that host the handler, with some jobs."""
    executors = {
        name: ExecutorRecord(
            name=name,
            incarnation="i",
            host="h",
            ip="",
            pid=1,
            process_start="",
            started_at=NOON,
            version="",
            handlers={"crawl": "shop:crawl"},
        )
        for name in names
    }
    return FleetView(executors=executors, jobs={job.name: job for job in jobs}, **fields)


def entry(config: JobConfig = CONFIG, assignment: Assignment | None = None, **fields: Any) -> JobEntry:
    """Return a job whose configuration has version 7, assigned where told."""
    version = None if assignment is None else 3
    return JobEntry(
        name=config.name,
        config=config,
        assignment=assignment,
        **({"version": 7, "assignment_version": version} | fields),
    )


def assigned(
    items: int = 4, owners: Mapping[str, tuple[int, ...]] | None = None, layouts: tuple[Layout, ...] = (), **fields: Any
) -> Assignment:
    """Return an assignment of one layout that two executors share, unless told otherwise."""
    return Assignment(
        uid="u",
        layouts=layouts or (Layout(items=items, config=1),),
        owners={"e1": (0, 1), "e2": (2, 3)} if owners is None else owners,
        **fields,
    )


def applied(view: FleetView, decided: Rebalance) -> FleetView:
    """Return the fleet once the writes stand, as everybody reads them."""
    jobs = dict(view.jobs)
    for write in decided.writes:
        stored = decode_assignment("/a", encode_assignment(write.assignment))
        version = 0 if jobs[write.job].assignment_version is None else 1
        jobs[write.job] = replace(jobs[write.job], assignment=stored, assignment_version=version, assignment_fault=None)
    return replace(view, jobs=jobs)


def written(view: FleetView, claimed: Mapping[str, datetime | None] | None = None) -> Assignment:
    """Return the one assignment that is written."""
    decided = rebalance(view, 5, claimed or {})
    assert decided.needs_claims == frozenset()
    (write,) = decided.writes
    assert write.job == "books"
    return write.assignment


def test_rebalance_new_job_gets_one_layout_and_owners() -> None:
    """A job with no assignment has all its fires in one layout, and floors that lie above any earlier job's tokens."""
    assert written(fleet("e1", "e2", jobs=(entry(created_id=40),))) == Assignment(
        uid="u",
        layouts=(Layout(items=4, config=7),),
        owners={"e1": (0, 1), "e2": (2, 3)},
        token_floor=40,
        epoch=5,
    )


def test_rebalance_useless_assignment_is_written_anew() -> None:
    """An assignment that cannot be used is replaced by that of a new job."""
    job = entry(assignment_fault="it belongs to an earlier job of this name", assignment_version=9)
    assert written(fleet("e1", jobs=(job,))).owners == {"e1": (0, 1, 2, 3)}


def test_rebalance_settled_fleet_writes_nothing_under_any_epoch() -> None:
    """A change of the leader alone writes nothing and moves nothing."""
    view = fleet("e1", "e2", jobs=(entry(assignment=assigned(epoch=1)),))
    assert rebalance(view, 99, {}) == Rebalance(writes=(), needs_claims=frozenset())


@pytest.mark.parametrize("change", ["gone", "drained", "unfit", "handler"])
def test_rebalance_owner_no_longer_eligible_loses_its_items(change: str) -> None:
    """Whoever has gone, is drained, is unfit or dropped the handler loses its items, and only those move."""
    job = entry(assignment=assigned(6, {"e1": (0, 3), "e2": (1, 4), "e3": (2, 5)}), config=replace(CONFIG, items=6))
    view = fleet("e1", "e2", "e3", jobs=(job,))
    members = dict(view.executors)
    if change == "gone":
        del members["e2"]
    elif change == "unfit":
        members["e2"] = replace(members["e2"], unfit="its clock is 75 s ahead")
    elif change == "handler":
        members["e2"] = replace(members["e2"], handlers={})
    drained = {"e2": DrainMark(at=NOON)} if change == "drained" else {}
    owners = written(replace(view, executors=members, drained=drained)).owners
    assert owners == {"e1": (0, 1, 3), "e3": (2, 4, 5)}


def test_rebalance_nobody_eligible_leaves_items_without_owner() -> None:
    """With nobody to own them the items have no owner, which is written once."""
    view = fleet(jobs=(entry(assignment=assigned()),))
    decided = rebalance(view, 5, {})
    assert [dict(write.assignment.owners) for write in decided.writes] == [{}]
    assert rebalance(applied(view, decided), 5, {}).writes == ()


def test_rebalance_unaffected_job_is_not_written() -> None:
    """Only assignments that differ are written: a job that the leaver could not own stays as it is."""
    other = replace(CONFIG, name="news", labels={"zone": "eu"})
    jobs = (entry(assignment=assigned()), entry(other, assigned(owners={"e1": (0, 1, 2, 3)})))
    view = fleet("e1", "e2", jobs=jobs)
    members = {"e1": replace(view.executors["e1"], labels={"zone": "eu"})}
    decided = rebalance(replace(view, executors=members), 5, {})
    assert [write.job for write in decided.writes] == ["books"]


@pytest.mark.parametrize(
    "job",
    [
        entry(held="invalid cron: no such day"),
        entry(assignment=assigned(owners={"gone": (0, 1, 2, 3)}), held="invalid cron: no such day"),
        JobEntry(name="books", version=1, held="unreadable configuration: it is not JSON"),
        entry(replace(CONFIG, deleting=True), assigned(owners={"gone": (0, 1, 2, 3)})),
        entry(replace(CONFIG, deleting=True)),
    ],
)
def test_rebalance_held_and_deleting_jobs_are_left_alone(job: JobEntry) -> None:
    """What must not run keeps what it has, and nobody's claims are asked for."""
    assert rebalance(fleet("e1", jobs=(job,)), 5, {}) == Rebalance(writes=(), needs_claims=frozenset())


def test_rebalance_paused_job_is_assigned() -> None:
    """A paused job has owners all the same, so that a resume is instant."""
    assert written(fleet("e1", jobs=(entry(replace(CONFIG, paused=True)),))).owners == {"e1": (0, 1, 2, 3)}


@pytest.mark.parametrize("strategy", list(Strategy))
def test_rebalance_follows_the_strategy_of_the_job(strategy: Strategy) -> None:
    """Each job is spread by its own strategy, and a change of the strategy takes effect at once."""
    owners = written(fleet("e1", "e2", "e3", jobs=(entry(replace(CONFIG, name="books", strategy=strategy)),))).owners
    expected = {
        Strategy.STICKY: {"e1": (0, 3), "e2": (1,), "e3": (2,)},
        Strategy.AVERAGE: {"e1": (0, 3), "e2": (1,), "e3": (2,)},
        Strategy.ODEVITY: {"e1": (2,), "e2": (1,), "e3": (0, 3)},
        Strategy.ROUND_ROBIN: {"e1": (1,), "e2": (2,), "e3": (0, 3)},
    }
    assert owners == expected[strategy]


def test_rebalance_changed_count_asks_for_claims_first() -> None:
    """Before a new layout is laid, the leader must know the latest fire that was claimed under the old one."""
    view = fleet("e1", "e2", jobs=(entry(replace(CONFIG, items=6), assigned()),))
    assert rebalance(view, 5, {}) == Rebalance(writes=(), needs_claims=frozenset({"books"}))


def test_rebalance_changed_count_without_claims_still_rids_the_dead() -> None:
    """Owners that have gone are replaced even while the claims of the job are not known."""
    view = fleet("e1", jobs=(entry(replace(CONFIG, items=6), assigned()),))
    decided = rebalance(view, 5, {})
    assert decided.needs_claims == {"books"}
    assert [(one.assignment.item_count, one.assignment.owners) for one in decided.writes] == [(4, {"e1": (0, 1, 2, 3)})]


def test_rebalance_new_layout_begins_after_the_latest_claim() -> None:
    """Fires claimed so far keep their count; the next one has the new count, and every item of either has an owner."""
    view = fleet("e1", "e2", jobs=(entry(replace(CONFIG, items=6), assigned()),))
    laid = written(view, {"books": NOON})
    assert laid.layouts == (Layout(items=4, config=1), Layout(items=6, config=7, from_fire=NOON + HOUR))
    assert laid.layout_at(NOON).items == 4
    assert laid.layout_at(NOON + HOUR).items == 6
    assert laid.owners == {"e1": (0, 1, 4), "e2": (2, 3, 5)}


def test_rebalance_shrunk_job_keeps_owners_of_removed_items() -> None:
    """While a fire of the larger count may still run, failover needs owners for all of its items."""
    view = fleet("e1", "e2", jobs=(entry(replace(CONFIG, items=2), assigned()),))
    laid = written(view, {"books": NOON})
    assert laid.newest.items == 2
    assert laid.owners == {"e1": (0, 1), "e2": (2, 3)}


def test_rebalance_nothing_claimed_begins_with_the_first_fire_of_the_job() -> None:
    """With no claim, the first fire after the job was armed has the new count already."""
    view = fleet("e1", "e2", jobs=(entry(replace(CONFIG, items=6), assigned()),))
    laid = written(view, {"books": None})
    assert laid.newest == Layout(items=6, config=7, from_fire=NOON + HOUR)


def test_rebalance_layout_that_no_fire_has_begun_is_replaced() -> None:
    """An edit before the last one took effect replaces it, so that layouts stay in order."""
    layouts = (Layout(items=4, config=1), Layout(items=6, config=2, from_fire=NOON + 2 * HOUR))
    view = fleet("e1", "e2", jobs=(entry(replace(CONFIG, items=7), assigned(layouts=layouts)),))
    laid = written(view, {"books": NOON})
    assert laid.layouts == (Layout(items=4, config=1), Layout(items=7, config=7, from_fire=NOON + HOUR))


def test_rebalance_items_of_a_replaced_layout_keep_owners() -> None:
    """A layout replaced before its first fire may have served a trigger: its items have owners until that is known."""
    layouts = (Layout(items=4, config=1), Layout(items=6, config=2, from_fire=NOON + 2 * HOUR))
    view = fleet("e1", "e2", jobs=(entry(replace(CONFIG, items=3), assigned(layouts=layouts)),))
    laid = written(view, {"books": NOON})
    assert laid.newest == Layout(items=3, config=7, from_fire=NOON + HOUR)
    assert [laid.layout_at(fire).items for fire in (NOON, NOON + HOUR, NOON + 2 * HOUR)] == [4, 3, 3]
    assert sorted(item for items in laid.owners.values() for item in items) == [0, 1, 2, 3, 4, 5]


def test_rebalance_many_edits_keep_the_newest_layouts() -> None:
    """The history of layouts is bounded; the oldest go first."""
    begun = [Layout(items=4 + number % 2, config=number, from_fire=NOON + number * HOUR) for number in range(1, 12)]
    layouts = (Layout(items=4, config=0), *begun[: MAX_LAYOUT_COUNT - 1])
    view = fleet("e1", "e2", jobs=(entry(replace(CONFIG, items=9), assigned(layouts=layouts)),))
    laid = written(view, {"books": NOON + 20 * HOUR})
    assert laid.newest == Layout(items=9, config=7, from_fire=NOON + 21 * HOUR)
    assert len(laid.layouts) <= MAX_LAYOUT_COUNT
    assert laid.layouts[:-1] == layouts[-(len(laid.layouts) - 1) :]


def test_rebalance_cron_without_further_fire_begins_a_second_later() -> None:
    """A cron that has had its last fire still gets the layout that was asked for."""
    config = replace(CONFIG, cron="0 0 12 1 1 ? 2026", items=6, armed_at=NOON - HOUR)
    laid = written(fleet("e1", jobs=(entry(config, assigned()),)), {"books": NOON})
    assert laid.newest.from_fire == NOON + timedelta(seconds=1)


def test_rebalance_claim_at_the_end_of_time_harms_no_job() -> None:
    """A cursor may hold any time that can be written; the leader goes on, for this job and the others."""
    other = replace(CONFIG, name="news")
    view = fleet("e1", jobs=(entry(replace(CONFIG, items=6), assigned()), entry(other)))
    last = datetime.max.replace(tzinfo=UTC)
    decided = rebalance(view, 5, {"books": last})
    assert [write.job for write in decided.writes] == ["books", "news"]
    assert decided.writes[0].assignment.newest == Layout(items=6, config=7, from_fire=last)


def test_rebalance_keeps_floors_and_puts_in_its_epoch() -> None:
    """What guards tokens and triggers is carried over; the epoch is that of who writes."""
    view = fleet("e1", jobs=(entry(assignment=assigned(token_floor=8, trigger_floor=3, epoch=2), created_id=99),))
    laid = written(view)
    assert (laid.token_floor, laid.trigger_floor, laid.epoch, laid.uid) == (8, 3, 5, "u")


def hours() -> st.SearchStrategy[datetime]:
    """Moments about those at which generated layouts begin."""
    return st.integers(-30, 800).map(lambda count: NOON + count * timedelta(minutes=30))


def all_claims(view: FleetView, claim: datetime | None) -> dict[str, datetime | None]:
    """Return the same latest claim for every job."""
    return dict.fromkeys(view.jobs, claim)


@ANY_SPEED
@given(fleet_views(), st.none() | hours())
def test_rebalance_any_fleet_settles_at_once(view: FleetView, claim: datetime | None) -> None:
    """Once its writes stand, deciding again gives nothing; and it never asks for claims that it was given."""
    claimed = all_claims(view, claim)
    decided = rebalance(view, 5, claimed)
    assert decided.needs_claims == frozenset()
    assert rebalance(applied(view, decided), 6, claimed) == Rebalance(writes=(), needs_claims=frozenset())


@ANY_SPEED
@given(fleet_views())
def test_rebalance_any_fleet_without_claims_settles_but_for_asking(view: FleetView) -> None:
    """While claims are not known the same jobs are asked for, and nothing is written twice."""
    decided = rebalance(view, 5, {})
    again = rebalance(applied(view, decided), 6, {})
    assert again == Rebalance(writes=(), needs_claims=decided.needs_claims)


@ANY_SPEED
@given(fleet_views(), st.none() | hours())
def test_rebalance_any_fleet_covers_every_item_once(view: FleetView, claim: datetime | None) -> None:
    """Each item of each layout kept has one owner, an eligible one; with nobody eligible none has."""
    claimed = all_claims(view, claim)
    after = applied(view, rebalance(view, 5, claimed))
    for job in after.jobs.values():
        assert job.config is not None
        if job.held is not None or job.config.deleting:
            assert job == view.jobs[job.name]
            continue
        assert job.assignment is not None
        eligible = eligible_executors(job.config, after)
        owned = sorted(item for items in job.assignment.owners.values() for item in items)
        assert owned == (list(range(job.assignment.item_count)) if eligible else [])
        assert job.assignment.owners.keys() <= set(eligible)
        assert job.assignment.newest.items == job.config.items


@ANY_SPEED
@given(fleet_views(), st.none() | hours())
def test_rebalance_any_edit_leaves_no_item_without_an_owner_early(view: FleetView, claim: datetime | None) -> None:
    """No edit takes the owner of an item away: only what finds out that nothing needs it any more may do that."""
    after = applied(view, rebalance(view, 5, all_claims(view, claim)))
    for name, job in view.jobs.items():
        new = after.jobs[name].assignment
        if job.assignment is not None and new is not None:
            assert len(new.layouts) <= MAX_LAYOUT_COUNT
            assert new.item_count >= job.assignment.item_count


@ANY_SPEED
@given(fleet_views(), hours(), hours())
def test_rebalance_any_fleet_never_changes_the_count_of_a_claimed_fire(
    view: FleetView, claim: datetime, fire: datetime
) -> None:
    """Up to the latest claim every fire has the count that it had before, unless its layout was one too many to keep."""
    claimed = all_claims(view, claim)
    after = applied(view, rebalance(view, 5, claimed))
    for name, job in view.jobs.items():
        new = after.jobs[name].assignment
        if job.assignment is None or new is None or fire > claim:
            continue
        if job.assignment.layout_at(fire) in new.layouts:
            assert new.layout_at(fire) == job.assignment.layout_at(fire)
        else:
            assert len(job.assignment.layouts) >= MAX_LAYOUT_COUNT - 1


@ANY_SPEED
@given(fleet_views())
def test_rebalance_any_fleet_order_of_the_view_changes_nothing(view: FleetView) -> None:
    """Two leaders that heard of the same fleet in another order decide alike."""
    turned = replace(
        view,
        executors=dict(reversed(list(view.executors.items()))),
        jobs=dict(reversed(list(view.jobs.items()))),
        drained=dict(reversed(list(view.drained.items()))),
    )
    assert rebalance(turned, 5, all_claims(view, NOON)) == rebalance(view, 5, all_claims(view, NOON))
