"""Whose turn it is to call fire listeners."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from shardsched.core.pending import adopted, next_calls, orphaned, returned
from shardsched.core.tally import FireCall, FireKey, FireOutcome, PendingCall, Tally

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
START = PendingCall(call=FireCall.STARTED, key=FireKey(at=NOON), items=1, by="me")
END = replace(START, call=FireCall.COMPLETED, outcome=FireOutcome.SUCCESS)
OTHER = replace(END, key=FireKey(at=NOON + timedelta(minutes=1)), by="other")
TALLY = Tally(uid="u", pending=(START, END, OTHER))


def test_end_of_a_fire_waits_for_its_start() -> None:
    """Calls of several fires may be made at once, those of one fire in order."""
    assert next_calls(TALLY, "me") == (START,)
    assert next_calls(TALLY, "other") == (OTHER,)
    assert next_calls(returned(TALLY, [START]), "me") == (END,)


def test_calls_of_a_session_that_is_over_are_given_to_another() -> None:
    """Also those that were given to nobody."""
    tally = replace(TALLY, pending=(*TALLY.pending, replace(OTHER, by="")))
    assert orphaned(tally, {"me"}) == {"other", ""}
    assert {call.by for call in adopted(tally, {"other", ""}, "me").pending} == {"me"}
    assert orphaned(TALLY, {"me", "other"}) == frozenset()


def test_returned_call_that_another_has_taken_stays() -> None:
    """Whoever lost its session meanwhile does not take away what another makes now."""
    assert returned(TALLY, [replace(START, by="before")]) == TALLY
