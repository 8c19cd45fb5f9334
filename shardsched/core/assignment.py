"""Who owns each item of a job, and how many items its fires have."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.core.codec import Fields, encode, time_text
from shardsched.core.item import MAX_ITEM_COUNT, format_items, parse_items
from shardsched.errors import ItemParameterError
from shardsched.sentence import Sentence, sentence_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_LAYOUT_COUNT = 8
"""Layouts kept of a job; older ones only serve fires that are long past any misfire policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How many items the fires of a job have, from some fire time on."""

    items: int
    """Their number."""
    config: int
    """The version of the configuration that asked for it."""
    from_fire: datetime | None = None
    """The first fire that has so many; None for the first layout of a job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What the leader wrote for one job at ``/assignments/{job}``."""

    uid: str
    """The job's."""
    layouts: tuple[Layout, ...]
    """In order of their first fires; never empty."""
    owners: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By executor: the items that it owns, in rising order."""
    token_floor: int = 0
    """Largest fencing token of any cursor that was removed: those of new cursors lie above it."""
    trigger_floor: int = 0
    """Largest manual trigger of any cursor that was removed, for the same reason."""
    epoch: int = 0
    """The leader's epoch when it was written."""

    @property
    def newest(self) -> Layout:
        """The layout asked for last."""
        return self.layouts[-1]

    @property
    def item_count(self) -> int:
        """How many items need an owner: those of any layout still kept."""
        return max(layout.items for layout in self.layouts)

    def layout_at(self, fire: datetime) -> Layout:
        """Return the layout of a fire: all items of one fire run with one count, even while it is edited."""
        for layout in reversed(self.layouts):
            if layout.from_fire is None or layout.from_fire <= fire:
                return layout
        return self.layouts[0]

    def owner_of(self, item: int) -> str | None:
        """Return the executor that owns an item, or None."""
        return next((name for name, items in self.owners.items() if item in items), None)


def encode_assignment(assignment: Assignment) -> bytes:
    """Return the stored form."""
    return encode(
        {
            "uid": assignment.uid,
            "layouts": [
                {"from": time_text(layout.from_fire), "items": layout.items, "config": layout.config}
                for layout in assignment.layouts
            ],
            "owners": {name: format_items(items) for name, items in sorted(assignment.owners.items()) if items},
            "token_floor": assignment.token_floor,
            "trigger_floor": assignment.trigger_floor,
            "epoch": assignment.epoch,
        }
    )


def decode_assignment(path: str, value: bytes) -> Assignment:
    """Return the record stored at ``/assignments/{job}``.

    Raises:
        CorruptNodeError: The value is not such a record, or gives an item two owners.
    """
    fields = Fields(path, value)
    layouts = tuple(
        Layout(
            items=layout.integer("items", low=1, high=MAX_ITEM_COUNT),
            config=layout.integer("config", 0),
            from_fire=layout.time_or_none("from"),
        )
        for layout in fields.objects("layouts")
    )
    if not layouts:
        raise fields.corrupt(Sentence("it has no layout"))
    starts = [layout.from_fire for layout in layouts]
    if None in starts[1:] or any(b <= a for a, b in itertools.pairwise(starts) if a and b):
        raise fields.corrupt(Sentence("its layouts contradict each other"))
    owners: dict[str, tuple[int, ...]] = {}
    seen: set[int] = set()
    for name, text in fields.texts("owners").items():
        try:
            items = parse_items(text)
        except ItemParameterError as error:
            raise fields.corrupt(sentence_of(error)) from None
        if not seen.isdisjoint(items):
            raise fields.corrupt(Sentence("it gives an item to two executors"))
        seen.update(items)
        if items:
            owners[name] = items
    return Assignment(
        uid=fields.text("uid"),
        layouts=layouts,
        owners=owners,
        token_floor=fields.integer("token_floor", 0),
        trigger_floor=fields.integer("trigger_floor", 0),
        epoch=fields.integer("epoch", 0),
    )
