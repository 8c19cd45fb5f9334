"""What the moves of items make of a job's tally.

A fire is opened by the first claim of any of its items, and is over when every item has ended: it was run to an end,
or the item has gone on to a later fire and so missed this one. Whatever order the items end in, and whoever writes it,
each fire is closed once.

The tally is kept only while the job is tracked, so it may have gaps. They show where an item had reached a fire before
this move although the tally still waits for the item: the fire is then closed as *uncounted*, since what became of the
item may never be known. A fire opened although an item has begun it before is closed likewise.

This module decides; it does not act.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.core.fire import ItemState
from shardsched.core.tally import (
    MAX_CLOSED_FIRES,
    MAX_OPEN_FIRES,
    MAX_PENDING_CALLS,
    ClosedFire,
    FireCall,
    FireKey,
    FireOutcome,
    ItemEnd,
    OpenFire,
    PendingCall,
    Tally,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from shardsched.core.place import Move, Opening, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What became of a tally."""

    tally: Tally
    """The tally now."""
    closed: tuple[ClosedFire, ...] = ()
    """The fires that are over by it."""
    dropped_calls: tuple[PendingCall, ...] = ()
    """Calls that are given up, since too many wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who counts."""

    incarnation: str
    """The session."""
    is_listened: bool = False
    """Whether somebody's code for the job has fire listeners."""
    is_listening: bool = False
    """Whether our own has."""


class _Sheet:
    """A tally being changed."""

    def __init__(self, tally: Tally, caller: Caller) -> None:
        self.open = list(tally.open)
        self.closed = list(tally.closed)
        self.pending = list(tally.pending)
        self.now_closed: list[ClosedFire] = []
        self._caller = caller

    @property
    def incarnation(self) -> str:
        """The session that counts."""
        return self._caller.incarnation

    def close(self, fire: OpenFire, outcome: FireOutcome) -> None:
        """End a fire; whoever was told of its start is told of its end."""
        # What nothing began of has been told as missed.
        closed = ClosedFire(key=fire.key, outcome=outcome if fire.begun_by else FireOutcome.MISSED)
        self.open.remove(fire)
        self.closed.append(closed)
        self.now_closed.append(closed)
        if self._caller.is_listened and closed.is_completed:
            starts = [one.by for one in self.pending if one.key == fire.key and one.call is FireCall.STARTED]
            self._call(FireCall.COMPLETED, fire, outcome, starts[0] if starts else self._own)

    def begin(self, fire: OpenFire) -> None:
        """Take note that the first item of a fire was claimed."""
        if self._caller.is_listened:
            self._call(FireCall.STARTED, fire, None, self._own)

    @property
    def _own(self) -> str:
        return self._caller.incarnation if self._caller.is_listening else ""

    def _call(self, call: FireCall, fire: OpenFire, outcome: FireOutcome | None, by: str) -> None:
        ended = {} if outcome is None else fire.ended
        self.pending.append(PendingCall(call=call, key=fire.key, items=fire.items, ended=ended, outcome=outcome, by=by))


def needs_places(tally: Tally | None, key: FireKey) -> bool:
    """Whether all items must be looked at before a fire is opened: the tally is new, or later fires are known."""
    if tally is None:
        return True
    known = tally.known_fires
    return key not in known and any(key.is_before(other) for other in known)


def count(
    tally: Tally,
    moves: Sequence[Move],
    caller: Caller,
    *,
    places: Mapping[int, Place],
    disabled: Collection[int],
    future: datetime,
) -> Count:
    """Return what moves make of a tally.

    Args:
        tally: The tally as it stands.
        moves: What is written with it, in order; of one item once.
        caller: Who writes.
        places: Where all items stand, if `needs_places` said so for a fire that is opened; else nothing.
        disabled: The items that are disabled.
        future: No clock in order is ahead of this: what was closed later was closed before the clocks were set back.
    """
    sheet = _Sheet(tally, caller)
    sheet.closed = [fire for fire in sheet.closed if fire.key.trigger or fire.key.at <= future]
    for move in moves:
        _find_gaps(sheet, move)
        if move.opens is not None:
            _open(sheet, move.opens, places, disabled)
        passing = ItemEnd.DISABLED if move.item in disabled else ItemEnd.MISSED
        sheet.open = [_moved(fire, move, passing) for fire in sheet.open]
    for fire in [fire for fire in sheet.open if fire.is_ended]:
        sheet.close(fire, fire.outcome)
    while len(sheet.open) > MAX_OPEN_FIRES:
        sheet.close(sheet.open[0], FireOutcome.UNCOUNTED)
    dropped, pending = sheet.pending[:-MAX_PENDING_CALLS], sheet.pending[-MAX_PENDING_CALLS:]
    changed = replace(
        tally, open=tuple(sheet.open), closed=tuple(sheet.closed[-MAX_CLOSED_FIRES:]), pending=tuple(pending)
    )
    return Count(tally=changed, closed=tuple(sheet.now_closed), dropped_calls=tuple(dropped))


def _find_gaps(sheet: _Sheet, move: Move) -> None:
    """Close the fires that the item had reached for good without the tally being told."""
    before = move.before
    if before is None or not before.is_final:
        return
    for fire in list(sheet.open):
        if fire.waits_for(move.item) and before.has_reached(fire.key):
            sheet.close(fire, FireOutcome.UNCOUNTED)


def _open(sheet: _Sheet, opens: Opening, places: Mapping[int, Place], disabled: Collection[int]) -> None:
    known = next((fire for fire in sheet.open if fire.key == opens.key), None)
    if known is not None:
        if opens.is_begun and not known.begun_by:
            begun = replace(known, begun_by=sheet.incarnation)
            sheet.open[sheet.open.index(known)] = begun
            sheet.begin(begun)
        return
    if any(fire.key == opens.key for fire in sheet.closed):
        return
    if _is_too_old(sheet.closed, opens.key):
        if opens.is_begun:
            sheet.now_closed.append(ClosedFire(key=opens.key, outcome=FireOutcome.UNCOUNTED))
        return
    passed = {item: place for item, place in places.items() if item < opens.items and place.has_reached(opens.key)}
    fire = OpenFire(
        key=opens.key,
        items=opens.items,
        begun_by=sheet.incarnation if opens.is_begun else "",
        ended={item: ItemEnd.DISABLED if item in disabled else ItemEnd.MISSED for item in passed},
    )
    sheet.open.append(fire)
    if any(place.at == opens.key for place in passed.values()):
        sheet.close(fire, FireOutcome.UNCOUNTED)
    elif opens.is_begun:
        sheet.begin(fire)


def _is_too_old(closed: Sequence[ClosedFire], key: FireKey) -> bool:
    """Whether a fire is so old that it may have been closed and forgotten."""
    if len(closed) < MAX_CLOSED_FIRES:
        return False
    alike = [fire.key for fire in closed if bool(fire.key.trigger) == bool(key.trigger)]
    return bool(alike) and all(key.is_before(known) for known in alike)


def _moved(fire: OpenFire, move: Move, passing: ItemEnd) -> OpenFire:
    """Return a fire after a move of an item, which ends in it as told if it passes it over."""
    before, after = move.before, move.after
    if not fire.waits_for(move.item):
        return fire
    if after.at == fire.key:
        return _ended(fire, move.item, ItemEnd(after.state)) if after.is_final else fire
    if not after.has_reached(fire.key):
        return fire
    # It failed and was to be tried again, but a later fire came first.
    is_failed = before is not None and before.at == fire.key and before.state is ItemState.FAILED
    return _ended(fire, move.item, ItemEnd.FAILED if is_failed else passing)


def _ended(fire: OpenFire, item: int, end: ItemEnd) -> OpenFire:
    return replace(fire, ended={**fire.ended, item: end})
