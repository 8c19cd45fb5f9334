"""How items are spread over executors: pure, the same whatever the order of the executors.

*Sticky*, the default, keeps what it can. For each job every eligible executor gets the floor or the ceiling of an equal
share. An item stays with its owner as long as that owner is eligible and not over its share. What is free goes first
to executors below the floor, then to those with the fewest items in the whole fleet. Last, while one executor has at
least two items more in all than another, an item of a job whose shares allow it moves from the one to the other: so a
thousand jobs of one item spread as evenly as one job of a thousand, and a joiner takes just its share. The outcome of a
spread is a fixed point: spreading again changes nothing.

The other strategies give ElasticJob's results (version 3: its average allocation, odevity sort by name and round robin
by name), with executors in the order of their names; they do not look at who owns what.
"""

from __future__ import annotations

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
    names = sorted(need.eligible)
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
        self.job = need.job
        names = sorted(need.eligible)
        self.held: dict[str, list[int]] = {name: [] for name in names}
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

    def trim(self, load: Mapping[str, int]) -> None:
        """Free what executors hold over their share; the most loaded give first."""
        over = sorted(
            (name for name, items in self.held.items() if len(items) > self.low),
            key=lambda name: (load.get(name, 0), name),
        )
        for rank, name in enumerate(over):
            share = self.low + (1 if rank < self.extra_count else 0)
            items = sorted(self.held[name])
            self.held[name] = items[:share]
            self.free.extend(items[share:])
        self.free.sort()

    def fill(self, load: dict[str, int]) -> None:
        """Give the free items away: to the floor first, then to the least loaded."""
        for name, items in self.held.items():
            while len(items) < self.low and self.free:
                items.append(self.free.pop(0))
                load[name] = load.get(name, 0) + 1
        open_names = [name for name, items in self.held.items() if len(items) == self.low]
        for name in sorted(open_names, key=lambda name: (load.get(name, 0), name))[: len(self.free)]:
            self.held[name].append(self.free.pop(0))
            load[name] = load.get(name, 0) + 1

    def can_move(self, giver: str, taker: str) -> bool:
        """Whether an item may go from one to the other with every share still the floor or the ceiling."""
        return taker in self.held and len(self.held[giver]) > self.low and len(self.held[taker]) == self.low

    def move(self, giver: str, taker: str) -> None:
        """Give the giver's last item to the taker."""
        items = sorted(self.held[giver])
        self.held[taker].append(items.pop())
        self.held[giver] = items


class _Sticky:
    """All sticky jobs while they are spread over the fleet."""

    def __init__(self, shares: Sequence[_Share], load: dict[str, int]) -> None:
        self._shares = shares
        self._load = load

    def settle(self) -> None:
        load = self._load
        for share in self._shares:
            for name, items in share.held.items():
                load[name] = load.get(name, 0) + len(items)
        for share in self._shares:
            for name, items in share.held.items():
                load[name] -= len(items)
            share.trim(load)
            for name, items in share.held.items():
                load[name] += len(items)
        for share in self._shares:
            share.fill(load)
        self._level()

    def _level(self) -> None:
        """Move items one by one from the most to the least loaded, while that helps and shares allow it."""
        givers: dict[str, list[_Share]] = {name: [] for name in self._load}
        for share in self._shares:
            for name, items in share.held.items():
                if len(items) > share.low:
                    givers[name].append(share)
        while self._level_once(givers):
            pass

    def _level_once(self, givers: dict[str, list[_Share]]) -> bool:
        load = self._load
        by_load = sorted(load, key=lambda name: (load[name], name))
        for giver in reversed(by_load):
            for taker in by_load:
                if load[giver] - load[taker] < 2:
                    break
                if self._move_some(givers, giver, taker):
                    return True
        return False

    def _move_some(self, givers: dict[str, list[_Share]], giver: str, taker: str) -> bool:
        """Move items between two executors until they are level; return whether any moved."""
        load, kept, is_moved = self._load, [], False
        for share in givers[giver]:
            if load[giver] - load[taker] >= 2 and share.can_move(giver, taker):
                share.move(giver, taker)
                givers[taker].append(share)
                load[giver] -= 1
                load[taker] += 1
                is_moved = True
            else:
                kept.append(share)
        givers[giver] = kept
        return is_moved
