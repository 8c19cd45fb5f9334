"""Calls of fire listeners, simulated: they take a moment, and none outlives its lease."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.core.tally import FireCall
from tests.simulation.demand import demand

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.core.tally import FireKey, PendingCall

CallKey = tuple[str, "FireKey", FireCall]
"""Uid of the job, the fire, and what is told of it."""


@dataclass(slots=True)
class CallRecord:
    """All calls of a simulation, as their processes saw them."""

    stands: Callable[[str], bool]
    """Whether a session's fence stands."""
    active: set[CallKey] = field(default_factory=set)
    returned: dict[CallKey, list[str]] = field(default_factory=dict)
    """By call: the sessions in which it returned."""

    def start(self, key: CallKey) -> None:
        """Judge the start of a call."""
        uid, fire, call = key
        demand(key not in self.active, f"{call} of {fire} of {uid} is made twice at once")
        standing = [one for one in self.returned.get(key, ()) if self.stands(one)]
        demand(not standing, f"{call} of {fire} of {uid} is made again though {standing} made it and lives")
        start = uid, fire, FireCall.STARTED
        demand(call is FireCall.STARTED or start not in self.active, f"{fire} of {uid} ends while its start is told")
        self.active.add(key)

    def end(self, key: CallKey, incarnation: str, *, is_returned: bool) -> None:
        """Note the end of a call."""
        self.active.discard(key)
        if is_returned:
            self.returned.setdefault(key, []).append(incarnation)


@dataclass(slots=True)
class CallBody:
    """One call on its way."""

    call_id: str
    key: CallKey
    incarnation: str
    ends_at: float


def call_key(uid: str, call: PendingCall) -> CallKey:
    """Return which call it is."""
    return uid, call.key, call.call
