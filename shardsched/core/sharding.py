"""How items are spread over executors: pure, the same whatever the order of the executors.

*Sticky*, the default, keeps what it can. Its rule, in order:

1. In each job every eligible executor gets the floor or the ceiling of an equal share.
2. An item stays with its owner as long as that owner is eligible and not over its share. Where not all that hold the
   ceiling may keep it, those with the most items of other jobs give.
3. What is free goes to executors below the floor, then to those with the fewest items in the whole fleet.
4. While one executor has at least two items more in all than another, and a job has the first at its ceiling and the
   second at its floor, one item of that job goes from the one to the other: the most loaded gives, the least loaded
   takes, and an item that is new to the giver goes rather than one that it had before.

So a thousand jobs of one item spread as evenly as one job of a thousand; a leaver moves its items only, and a joiner
takes just its share, as far as 1 and 4 leave a choice. The outcome is a fixed point: spreading again changes nothing.

The other strategies give ElasticJob's results (version 3: its average allocation, odevity sort by name and round robin
by name), with executors in the order of their names; they do not look at who owns what.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.core.job import Strategy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One job whose items need owners."""

    job: str
    """The job."""
    item_count: int
    """How many items it has."""
    strategy: Strategy
    """How they are spread."""
    eligible: tuple[str, ...]
    """The executors that may own them."""
    current: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Who owns what now."""


Owners = dict[str, dict[str, tuple[int, ...]]]
"""By job and executor: the items, in rising order."""


def spread(needs: Sequence[Need]) -> Owners:
    """Return the owners of every job's items; none for a job without an eligible executor."""
    owners: Owners = {}
    sticky: list[Need] = []
    load: dict[str, int] = {}
    for need in sorted(needs, key=lambda need: need.job):
        if need.strategy is Strategy.STICKY:
            sticky.append(need)
            continue
        owners[need.job] = _elastic(need)
        for executor, items in owners[need.job].items():
            load[executor] = load.get(executor, 0) + len(items)
    shares = [_Share(need) for need in sticky]
    _Sticky(shares, load).settle()
    owners.update({share.job: share.owners() for share in shares})
    return owners


def _elastic(need: Need) -> dict[str, tuple[int, ...]]:
    names = sorted(set(need.eligible))
    if not names:
        return {}
    code = java_hash(need.job)
    if need.strategy is Strategy.ODEVITY and code % 2 == 0:
        names.reverse()
    elif need.strategy is Strategy.ROUND_ROBIN:
        offset = abs(code) % len(names)
        names = names[offset:] + names[:offset]
    return _average(names, need.item_count)


def _average(names: Sequence[str], item_count: int) -> dict[str, tuple[int, ...]]:
    share, rest = divmod(item_count, len(names))
    owners = {name: list(range(share * index, share * (index + 1))) for index, name in enumerate(names)}
    for index in range(rest):
        owners[names[index]].append(share * len(names) + index)
    return {name: tuple(items) for name, items in owners.items() if items}


def java_hash(text: str) -> int:
    """Return Java's ``String.hashCode``: 31-polynomial over UTF-16 units, as a signed 32-bit number."""
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        code = (31 * code + (units[index] << 8 | units[index + 1])) & 0xFFFFFFFF
    return code - (1 << 32) if code >= 1 << 31 else code


class _Share:
    """One sticky job while its items are spread."""

    def __init__(self, need: Need) -> None:
        names = sorted(set(need.eligible))
        self.job = need.job
        self.held: dict[str, list[int]] = {name: [] for name in names}
        self.given: dict[str, list[int]] = {}
        """By executor: of the items it holds, those that are new to it. They can go on to another at no cost."""
        taken: set[int] = set()
        for name in names:
            for item in need.current.get(name, ()):
                if item < need.item_count and item not in taken:
                    taken.add(item)
                    self.held[name].append(item)
        self.free = [item for item in range(need.item_count) if item not in taken] if names else []
        self.low, self.extra_count = divmod(need.item_count, len(names)) if names else (0, 0)

    def owners(self) -> dict[str, tuple[int, ...]]:
        """Return the owners as they stand."""
        return {name: tuple(sorted(items)) for name, items in self.held.items() if items}

    def trim(self, load: dict[str, int]) -> None:
        """Free what executors hold over their share; those with the most of other jobs give first."""
        over = [name for name, items in self.held.items() if len(items) > self.low]
        over.sort(key=lambda name: (load[name] - len(self.held[name]), name))
        for rank, name in enumerate(over):
            share = self.low + (1 if rank < self.extra_count else 0)
            items = sorted(self.held[name])
            self.held[name] = items[:share]
            self.free.extend(items[share:])
            load[name] -= len(items) - len(self.held[name])
        self.free.sort(reverse=True)

    def fill_floors(self, load: dict[str, int]) -> None:
        """Give free items to executors below the floor."""
        for name, items in self.held.items():
            while len(items) < self.low:
                self._give(name, load)

    def fill_extras(self, load: dict[str, int]) -> None:
        """Give what is left to the least loaded, one item each."""
        if self.free:
            at_floor = [name for name, items in self.held.items() if len(items) == self.low]
            for name in sorted(at_floor, key=lambda name: (load[name], name))[: len(self.free)]:
                self._give(name, load)

    def _give(self, name: str, load: dict[str, int]) -> None:
        item = self.free.pop()
        self.held[name].append(item)
        self.given.setdefault(name, []).append(item)
        load[name] += 1

    def is_at_ceiling(self, name: str) -> bool:
        """Whether an executor may lose an item."""
        return len(self.held.get(name, ())) > self.low

    def is_at_floor(self, name: str) -> bool:
        """Whether an executor may gain an item."""
        return name in self.held and len(self.held[name]) == self.low

    def move(self, giver: str, taker: str) -> None:
        """Hand one item over, rather one that is new to the giver."""
        new = self.given.get(giver)
        item = new.pop() if new else max(self.held[giver])
        self.held[giver].remove(item)
        self.held[taker].append(item)
        self.given.setdefault(taker, []).append(item)


class _Sticky:
    """All sticky jobs while they are spread over the fleet."""

    def __init__(self, shares: Sequence[_Share], load: dict[str, int]) -> None:
        self._shares = shares
        self._load = load
        self._movable: dict[tuple[str, str], deque[_Share]] = {}
        """By giver and taker, made when first asked for: jobs of which an item may go from the one to the other. None
        is missing; one whose time has passed is found out when it is taken."""

    def settle(self) -> None:
        load = self._load
        for share in self._shares:
            for name, items in share.held.items():
                load[name] = load.get(name, 0) + len(items)
        for share in self._shares:
            share.trim(load)
        # Floors are forced and extras are free to choose, so the extras of all jobs come last.
        for share in self._shares:
            share.fill_floors(load)
        for share in self._shares:
            share.fill_extras(load)
        while self._level_once():
            pass

    def _level_once(self) -> bool:
        """Move one item, rather from the most to the least loaded; return whether any could move.

        Always one item only: were two executors levelled at once, the taker would soon be a giver itself, and items
        would go round among executors that nothing had happened to.
        """
        load = self._load
        by_load = sorted(load, key=lambda name: (load[name], name))
        for giver in reversed(by_load):
            for taker in [name for name in by_load if load[giver] - load[name] >= 2]:
                share = self._take_movable(giver, taker)
                if share is not None:
                    self._move(share, giver, taker)
                    return True
        return False

    def _take_movable(self, giver: str, taker: str) -> _Share | None:
        waiting = self._movable.get((giver, taker))
        if waiting is None:
            waiting = self._movable[giver, taker] = deque()
            for share in self._shares:
                if share.is_at_ceiling(giver) and share.is_at_floor(taker):
                    self._add_movable(share, giver, taker)
        while waiting:
            share = waiting.popleft()
            if share.is_at_ceiling(giver) and share.is_at_floor(taker):
                return share
        return None

    def _add_movable(self, share: _Share, giver: str, taker: str) -> None:
        waiting = self._movable.get((giver, taker))
        if waiting is None:
            return
        if share.given.get(giver):
            waiting.appendleft(share)
        else:
            waiting.append(share)

    def _move(self, share: _Share, giver: str, taker: str) -> None:
        share.move(giver, taker)
        self._load[giver] -= 1
        self._load[taker] += 1
        for name in share.held:
            if share.is_at_floor(name):
                self._add_movable(share, taker, name)
            else:
                self._add_movable(share, name, giver)
