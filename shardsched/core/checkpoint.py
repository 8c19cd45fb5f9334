"""What an item has saved of its work: a small JSON value that outlives its runs.

The state is kept as the text that the item's own process wrote, so that nothing on its way reads it otherwise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shardsched.core.codec import Fields, encode, time_text
from shardsched.errors import CheckpointError
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    from datetime import datetime

MAX_STATE_BYTES = 64 * 1024
"""Largest state as JSON in UTF-8. A guess: room for a thousand addresses, and far below what a registry takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What one item saved last, at ``/checkpoints/{job}/{i}``."""

    uid: str
    """The job's."""
    token: int
    """The fencing token of the claim under which it was saved."""
    run: str
    """Identity of the run that saved it."""
    number: int
    """Which of that run's requests it was: by it a run knows its own save again when the answer was lost."""
    fire: datetime
    """The fire of that run."""
    saved_at: datetime
    """When it was saved, by the executor's clock."""
    state: str | None
    """The value as JSON text, None once it was cleared."""


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    """Return the stored form."""
    fields = {name: getattr(checkpoint, name) for name in checkpoint.__dataclass_fields__}
    return encode(fields | {"fire": time_text(checkpoint.fire), "saved_at": time_text(checkpoint.saved_at)})


def decode_checkpoint(path: str, value: bytes) -> Checkpoint:
    """Return the record stored at ``/checkpoints/{job}/{i}``.

    Raises:
        CorruptNodeError: The value is not such a record, or its state is not JSON.
    """
    fields = Fields(path, value)
    checkpoint = Checkpoint(
        uid=fields.text("uid"),
        token=fields.integer("token"),
        run=fields.text("run"),
        number=fields.integer("number"),
        fire=fields.time("fire"),
        saved_at=fields.time("saved_at"),
        state=fields.text("state") if fields.has("state") else None,
    )
    try:
        json.loads("null" if checkpoint.state is None else checkpoint.state)
    except (ValueError, RecursionError):
        raise fields.corrupt(Sentence("'state' is not JSON")) from None
    return checkpoint


def state_text(job: str, item: int, state: Any) -> str | None:
    """Return a state as the text to be stored, None for one that clears.

    Raises:
        CheckpointError: It is not JSON, or too large.
    """
    if state is None:
        return None
    try:
        text = json.dumps(state, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        size = len(text.encode())
    except UnicodeEncodeError:
        fault = Sentence("its state holds half a character (a lone surrogate); the earlier one stays")
    except (TypeError, ValueError, RecursionError) as error:
        fault = Sentence("its state is not JSON (%(error)s); the earlier one stays", error=Foreign(error))
    else:
        if size <= MAX_STATE_BYTES:
            return text
        fault = Sentence(
            "its state has %(size)s bytes as JSON, %(most)s are allowed; save less of it",
            size=size,
            most=MAX_STATE_BYTES,
        )
    raise CheckpointError(
        Sentence("the checkpoint of %(job)s/%(item)s was not saved: %(fault)s", job=job, item=item, fault=fault)
    )
