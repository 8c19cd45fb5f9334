"""What moves of items make of a tally: every fire is closed once, whatever the order."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.count import Caller, Count, count, needs_places
from shardsched.core.fire import Cause, Cursor, ItemState
from shardsched.core.place import Move, Opening, Place, end_move, is_final, place_of
from shardsched.core.tally import (
    MAX_CLOSED_FIRES,
    MAX_OPEN_FIRES,
    MAX_PENDING_CALLS,
    ClosedFire,
    FireCall,
    FireKey,
    FireOutcome,
    ItemEnd,
    Tally,
)
from tests.strategies import ANY_SPEED

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FUTURE = NOON + timedelta(days=1)
FINAL = (ItemState.DONE, ItemState.FAILED, ItemState.STOPPED, ItemState.LOST)
SILENT, HEARD = Caller(incarnation="me"), Caller(incarnation="me", is_listened=True, is_listening=True)


def fire(number: int) -> FireKey:
    """Return the n-th scheduled fire."""
    return FireKey(at=NOON + timedelta(minutes=number))


def place(number: int | None, state: ItemState, trigger: int = 0) -> Place:
    """Return where an item stands whose last fire was the n-th."""
    key = None if number is None else fire(number)
    is_missed = state is ItemState.MISSED
    return Place(
        at=None if is_missed else key,
        state=state,
        is_final=state is not ItemState.RUNNING,
        fire=None if key is None else key.at,
        trigger=trigger,
    )


def begin(item: int, number: int, before: Place | None, items: int = 2) -> Move:
    """Return the claim of an item for the n-th fire."""
    opens = Opening(key=fire(number), items=items, is_begun=True)
    return Move(item=item, before=before, after=place(number, ItemState.RUNNING), opens=opens)


def end(item: int, number: int, state: ItemState = ItemState.DONE) -> Move:
    """Return the end of an item's run for the n-th fire."""
    return Move(item=item, before=place(number, ItemState.RUNNING), after=place(number, state))


def miss(item: int, number: int, before: Place | None, items: int = 2) -> Move:
    """Return that an item misses the n-th fire without a run."""
    opens = Opening(key=fire(number), items=items, is_begun=False)
    return Move(item=item, before=before, after=place(number, ItemState.MISSED), opens=opens)


def counted(
    tally: Tally,
    *moves: Move,
    caller: Caller = SILENT,
    places: dict[int, Place] | None = None,
    disabled: tuple[int, ...] = (),
) -> Count:
    """Return what moves make of a tally."""
    return count(tally, moves, caller, places=places or {}, disabled=disabled, future=FUTURE)


def after(*moves: Move, caller: Caller = SILENT, disabled: tuple[int, ...] = ()) -> list[ClosedFire]:
    """Return the fires that are closed by moves, one after the other, on a tally that begins with them."""
    tally, closed = Tally(uid="u"), list[ClosedFire]()
    for move in moves:
        one = counted(tally, move, caller=caller, disabled=disabled)
        tally = one.tally
        closed += one.closed
    return closed


def outcome(number: int, what: FireOutcome) -> ClosedFire:
    """Return the end of the n-th fire."""
    return ClosedFire(key=fire(number), outcome=what)


@st.composite
def stories(draw: st.DrawFn) -> tuple[int, list[Move]]:
    """Return a count of items and what befalls each of them, fire after fire, in any order of the items."""
    items = draw(st.integers(1, 4))
    moves: list[list[Move]] = []
    for item in range(items):
        own: list[Move] = []
        before: Place | None = None
        for number in draw(st.lists(st.integers(1, 6), max_size=5, unique=True).map(sorted)):
            if draw(st.booleans()) or draw(st.booleans()):
                own.append(begin(item, number, before, items))
                own.append(end(item, number, draw(st.sampled_from(FINAL))))
            else:
                own.append(miss(item, number, before, items))
            before = own[-1].after
        # In the end every item handles one fire more, so that nothing waits for it.
        own += [begin(item, 9, before, items), end(item, 9)]
        moves.append(own)
    order: list[Move] = []
    while any(moves):
        own = draw(st.sampled_from([some for some in moves if some]))
        order.append(own.pop(0))
    return items, order


def play(order: list[Move], caller: Caller = SILENT) -> tuple[list[ClosedFire], Tally]:
    """Return what is closed by moves that are written one after the other, with what is read for it."""
    tally: Tally | None = None
    places: dict[int, Place] = {}
    closed: list[ClosedFire] = []
    for move in order:
        seen = places if move.opens is not None and needs_places(tally, move.opens.key) else {}
        one = count(tally or Tally(uid="u"), [move], caller, places=seen, disabled=(), future=FUTURE)
        tally = one.tally
        closed += one.closed
        places = places | {move.item: move.after}
    return closed, tally or Tally(uid="u")


@ANY_SPEED
@given(stories())
def test_fires_are_closed_once_whatever_the_order(story: tuple[int, list[Move]]) -> None:
    """Any interleaving of any ends of any items completes each fire that began exactly once, and none is left open."""
    items, order = story
    closed, tally = play(order)
    assert tally.open == ()
    begun = {move.opens.key for move in order if move.opens is not None and move.opens.is_begun}
    assert sorted(one.key.at for one in closed if one.is_completed) == sorted(key.at for key in begun)
    assert len({one.key for one in closed}) == len(closed)
    for one in closed:
        ends = [move.after.state for move in order if move.after.at == one.key and move.after.is_final]
        is_success = ends == [ItemState.DONE] * items
        assert (one.outcome is FireOutcome.SUCCESS) == is_success
        assert (one.outcome is FireOutcome.MISSED) == (one.key not in begun)


@ANY_SPEED
@given(stories())
def test_fire_calls_are_one_start_and_one_end_each(story: tuple[int, list[Move]]) -> None:
    """With listeners each fire that begins has one call for its start and one for its end, in this order."""
    _, order = story
    _, tally = play(order, HEARD)
    begun = {move.opens.key for move in order if move.opens is not None and move.opens.is_begun}
    calls = [(call.call, call.key) for call in tally.pending]
    assert len(calls) == len(set(calls)) == 2 * len(begun)
    for key in begun:
        assert [call for call, of in calls if of == key] == [FireCall.STARTED, FireCall.COMPLETED]


@pytest.mark.parametrize("state", FINAL)
def test_fire_is_a_success_only_if_every_item_is_done(state: ItemState) -> None:
    """One item that is not done makes the fire a failure."""
    closed = after(begin(0, 1, None), begin(1, 1, None), end(0, 1, state), end(1, 1))
    assert closed == [outcome(1, FireOutcome.SUCCESS if state is ItemState.DONE else FireOutcome.FAILURE)]


def test_fire_that_runs_again_elsewhere_is_not_over() -> None:
    """A failover claims the item again for the same fire: only its end counts."""
    again = Move(item=1, before=place(1, ItemState.RUNNING), after=place(1, ItemState.RUNNING))
    assert after(begin(0, 1, None), begin(1, 1, None), end(0, 1), again) == []
    assert after(begin(0, 1, None), begin(1, 1, None), end(0, 1), again, end(1, 1)) == [outcome(1, FireOutcome.SUCCESS)]


def test_item_that_goes_on_to_a_later_fire_has_missed_the_earlier_one() -> None:
    """An item that was busy or away when the others ran counts as missed once it begins a later fire."""
    closed = after(begin(0, 1, None), end(0, 1), begin(0, 2, place(1, ItemState.DONE)), begin(1, 2, None))
    assert closed == [outcome(1, FireOutcome.FAILURE)]


def test_disabled_item_is_done_without() -> None:
    """A fire is a success if the others are done; the item may come before or after them."""
    off, on = miss(0, 1, None), (begin(1, 1, None), end(1, 1))
    assert after(off, *on, disabled=(0,)) == [outcome(1, FireOutcome.SUCCESS)]
    assert after(*on, off, disabled=(0,)) == [outcome(1, FireOutcome.SUCCESS)]
    assert after(off, miss(1, 1, None), disabled=(0, 1)) == [outcome(1, FireOutcome.MISSED)]
    late = counted(Tally(uid="u"), *on, places={0: off.after}, disabled=(0,))
    assert late.closed == (outcome(1, FireOutcome.SUCCESS),)


def test_fire_that_no_item_began_completes_nothing() -> None:
    """Fires that are dropped by every item are told as missed by each of them and trigger nothing."""
    assert after(miss(0, 1, None), miss(1, 1, None)) == [outcome(1, FireOutcome.MISSED)]


def test_fire_missed_by_one_before_another_begins_it_is_a_failure() -> None:
    """It does not matter which of them comes first."""
    assert after(miss(0, 1, None), begin(1, 1, None), end(1, 1)) == [outcome(1, FireOutcome.FAILURE)]


def test_item_that_had_passed_a_fire_unseen_leaves_it_uncounted() -> None:
    """Where the tally was not kept for a while, nobody knows what became of the item, and nothing fires after it."""
    tally = counted(Tally(uid="u"), begin(0, 1, None), begin(1, 1, None), end(0, 1)).tally
    one = counted(tally, begin(1, 3, place(2, ItemState.DONE)))
    assert one.closed == (outcome(1, FireOutcome.UNCOUNTED),)
    assert [open_fire.key for open_fire in one.tally.open] == [fire(3)]


def test_fire_begun_before_the_job_was_tracked_is_uncounted() -> None:
    """The tally is new, and another item stands at that fire already."""
    one = counted(Tally(uid="u"), begin(1, 1, None), places={0: place(1, ItemState.RUNNING)})
    assert one.closed == (outcome(1, FireOutcome.UNCOUNTED),)
    again = counted(one.tally, begin(0, 1, None))
    assert (again.closed, again.tally.open) == ((), ())


def test_fire_opened_late_has_been_missed_by_those_that_went_on() -> None:
    """Whoever stands at a later fire runs it no more."""
    tally = counted(Tally(uid="u"), begin(0, 2, None, items=3)).tally
    assert needs_places(tally, fire(1))
    one = counted(tally, begin(1, 1, None), places={0: place(2, ItemState.RUNNING)})
    assert counted(one.tally, end(1, 1)).closed == (outcome(1, FireOutcome.FAILURE),)


def test_too_many_open_fires_leave_the_oldest_uncounted() -> None:
    """An item that lags behind without end does not let the tally grow, and its late ends count for nothing."""
    tally, before, closed = Tally(uid="u"), None, list[ClosedFire]()
    for number in range(1, MAX_OPEN_FIRES + 2):
        one = counted(tally, begin(0, number, before), end(0, number))
        tally, before = one.tally, place(number, ItemState.DONE)
        closed += one.closed
    assert closed == [outcome(1, FireOutcome.UNCOUNTED)]
    late = counted(tally, begin(1, 1, None))
    assert (late.closed, late.tally.open) == ((), tally.open)


def test_fire_older_than_all_that_is_remembered_is_not_opened_again() -> None:
    """It may have been closed: better told than completed twice."""
    closed = tuple(outcome(number, FireOutcome.SUCCESS) for number in range(10, 10 + MAX_CLOSED_FIRES))
    one = counted(Tally(uid="u", closed=closed), begin(0, 1, None))
    assert one.closed == (outcome(1, FireOutcome.UNCOUNTED),)
    assert (one.tally.open, one.tally.closed) == ((), closed)


def test_fires_closed_in_what_is_the_future_now_may_be_opened_again() -> None:
    """After all clocks were set back by a day the fires of that day are counted again."""
    tally = Tally(uid="u", closed=(outcome(10, FireOutcome.SUCCESS),))
    one = count(tally, [begin(0, 10, None)], SILENT, places={}, disabled=(), future=NOON)
    assert [open_fire.key for open_fire in one.tally.open] == [fire(10)]


def test_triggers_are_fires_of_their_own() -> None:
    """A trigger for all items is completed by all of them, whatever scheduled fire they stand at."""
    key = FireKey(at=NOON, trigger=4)
    opens = Opening(key=key, items=2, is_begun=True)
    moves = []
    for item in (0, 1):
        stand = replace(place(1, ItemState.RUNNING, trigger=4), at=key)
        moves += [
            Move(item=item, before=place(1, ItemState.DONE), after=stand, opens=opens),
            Move(item=item, before=stand, after=replace(stand, state=ItemState.DONE, is_final=True)),
        ]
    assert after(*moves) == [ClosedFire(key=key, outcome=FireOutcome.SUCCESS)]


def test_retry_given_up_for_a_later_fire_counts_as_failed() -> None:
    """An item that waits to be tried again and is overtaken has failed, not missed."""
    waiting = replace(place(1, ItemState.FAILED), is_final=False)
    moves = [begin(0, 1, None), Move(item=0, before=place(1, ItemState.RUNNING), after=waiting)]
    tally = counted(Tally(uid="u"), *moves, begin(1, 1, None)).tally
    (open_fire,) = counted(tally, begin(0, 2, waiting)).tally.open[:1]
    assert open_fire.ended == {0: ItemEnd.FAILED}


def test_calls_are_bounded_and_told_when_dropped() -> None:
    """A listener that never returns does not let the tally grow."""
    tally, dropped, before = Tally(uid="u"), 0, None
    for number in range(1, MAX_PENDING_CALLS):
        one = counted(tally, begin(0, number, before, items=1), end(0, number), caller=HEARD)
        tally, before = one.tally, place(number, ItemState.DONE)
        dropped += len(one.dropped_calls)
    assert len(tally.pending) == MAX_PENDING_CALLS
    assert dropped == 2 * (MAX_PENDING_CALLS - 1) - MAX_PENDING_CALLS


def test_end_of_a_fire_is_told_by_whoever_tells_its_start() -> None:
    """So that the two calls are never made at once."""
    other = Caller(incarnation="other", is_listened=True, is_listening=True)
    started = counted(Tally(uid="u"), begin(0, 1, None, items=1), caller=HEARD).tally
    assert [call.by for call in counted(started, end(0, 1), caller=other).tally.pending] == ["me", "me"]
    told = replace(started, pending=())
    assert [call.by for call in counted(told, end(0, 1), caller=other).tally.pending] == ["other"]
    deaf = replace(other, is_listening=False)
    assert [call.by for call in counted(told, end(0, 1), caller=deaf).tally.pending] == [""]


def test_place_of_a_missed_cursor_tells_of_no_run() -> None:
    """The run that a missed cursor still names ended before."""
    cursor = Cursor(uid="u", state=ItemState.MISSED, fire=NOON, run_fire=NOON, cause=Cause.SCHEDULE)
    assert (place_of(cursor).at, is_final(cursor)) == (None, True)
    triggered = replace(cursor, state=ItemState.RUNNING, cause=Cause.DEPENDENCY, trigger=3)
    assert place_of(triggered).at == FireKey(at=NOON, trigger=3)
    assert end_move(0, triggered, replace(triggered, state=ItemState.DONE)).after.is_final
