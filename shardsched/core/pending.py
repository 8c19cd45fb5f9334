"""Whose turn it is to call a job's fire listeners.

A call stands in the tally from the transaction that makes it due until it has returned. Whoever it was given to makes
it; if that session is over, another takes it. This module decides; it does not act.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from shardsched.core.tally import FireKey, PendingCall, Tally


def next_calls(tally: Tally, incarnation: str) -> tuple[PendingCall, ...]:
    """Return the calls that a session may make now: the end of a fire is told once its start has been."""
    calls: list[PendingCall] = []
    waiting: set[FireKey] = set()
    for call in tally.pending:
        if call.by == incarnation and call.key not in waiting:
            calls.append(call)
        waiting.add(call.key)
    return tuple(calls)


def orphaned(tally: Tally, living: Collection[str]) -> frozenset[str]:
    """Return the sessions that have calls to make and do not live; an empty one for calls that were given to nobody."""
    return frozenset(call.by for call in tally.pending if call.by not in living)


def adopted(tally: Tally, gone: Collection[str], incarnation: str) -> Tally:
    """Return the tally with the calls of sessions that are gone given to another."""
    calls = (replace(call, by=incarnation) if call.by in gone else call for call in tally.pending)
    return replace(tally, pending=tuple(calls))


def returned(tally: Tally, done: Collection[PendingCall]) -> Tally:
    """Return the tally without calls that have returned."""
    made = {(call.call, call.key, call.by) for call in done}
    return replace(tally, pending=tuple(call for call in tally.pending if (call.call, call.key, call.by) not in made))
