"""How the tally of a job is stored, at ``/fires/{job}``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shardsched.core.codec import Fields, encode, time_text
from shardsched.core.item import MAX_ITEM_COUNT, format_items, parse_items
from shardsched.core.tally import ClosedFire, FireCall, FireKey, FireOutcome, ItemEnd, OpenFire, PendingCall, Tally
from shardsched.errors import ItemParameterError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping


def encode_tally(tally: Tally) -> bytes:
    """Return the stored form."""
    return encode(
        {
            "uid": tally.uid,
            "open": [
                _key(fire.key) | {"items": fire.items, "ended": _ended(fire.ended), "begun_by": fire.begun_by}
                for fire in tally.open
            ],
            "closed": [_key(fire.key) | {"outcome": fire.outcome} for fire in tally.closed],
            "pending": [
                _key(one.key)
                | {"call": one.call, "items": one.items, "ended": _ended(one.ended), "by": one.by}
                | ({} if one.outcome is None else {"outcome": one.outcome})
                for one in tally.pending
            ],
        }
    )


def _key(key: FireKey) -> dict[str, Any]:
    return {"fire": time_text(key.at), "trigger": key.trigger}


def _ended(ended: Mapping[int, ItemEnd]) -> dict[str, str]:
    by_end: dict[str, list[int]] = {}
    for item, end in ended.items():
        by_end.setdefault(end, []).append(item)
    return {end: format_items(items) for end, items in sorted(by_end.items())}


def decode_tally(path: str, value: bytes) -> Tally:
    """Return the record stored at ``/fires/{job}``.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    return Tally(
        uid=fields.text("uid"),
        open=tuple(
            OpenFire(
                key=_read_key(fire),
                items=_read_items(fire),
                begun_by=fire.text("begun_by", ""),
                ended=_read_ended(fire),
            )
            for fire in fields.objects("open")
        ),
        closed=tuple(
            ClosedFire(key=_read_key(fire), outcome=fire.choice("outcome", FireOutcome))
            for fire in fields.objects("closed")
        ),
        pending=tuple(
            PendingCall(
                call=one.choice("call", FireCall),
                key=_read_key(one),
                items=_read_items(one),
                ended=_read_ended(one),
                outcome=one.choice("outcome", FireOutcome) if one.has("outcome") else None,
                by=one.text("by", ""),
            )
            for one in fields.objects("pending")
        ),
    )


def _read_key(fields: Fields) -> FireKey:
    return FireKey(at=fields.time("fire"), trigger=fields.integer("trigger", 0))


def _read_items(fields: Fields) -> int:
    return fields.integer("items", low=1, high=MAX_ITEM_COUNT)


def _read_ended(fields: Fields) -> dict[int, ItemEnd]:
    count, ended = _read_items(fields), {}
    for word, text in fields.texts("ended").items():
        try:
            end, items = ItemEnd(word), parse_items(text)
        except (ValueError, ItemParameterError) as error:
            raise fields.corrupt(Sentence("'ended' cannot be read: %(error)s", error=str(error)[:120])) from None
        if any(item >= count or item in ended for item in items):
            raise fields.corrupt(
                Sentence("'ended' has an item twice, or one that the fire of %(count)s items has not", count=count)
            )
        ended.update(dict.fromkeys(items, end))
    return ended
