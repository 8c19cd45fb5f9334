"""Many records as one transaction writes them.

An attempt ends once: of its records only the first end counts, whatever comes later or again. Within a batch that is
decided here, against what the database has by the statements of `shardsched.history.store`. This module decides; it
does not act.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shardsched.history.record import Kind
from shardsched.history.row import LOST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.history.record import Record

Values = dict[str, Any]

FIRST = ("run_id", "job", "uid", "item", "items", "fire_us", "cause", "attempt", "queued_us")
"""What a run's first record says is what stays."""
KNOWN = ("incarnation", "log_path", "actor")
"""What stays where a later record knows nothing of it: another executor tells the end of a run whose own is dead."""


@dataclass(slots=True)
class Batch:
    """What is to be done, in this order."""

    lost: dict[str, Values] = field(default_factory=dict)
    """Ends of runs that earlier batches told of, by run id."""
    opened: dict[str, Values] = field(default_factory=dict)
    """Runs that have not ended."""
    closed: dict[str, Values] = field(default_factory=dict)
    """Runs that have."""
    events: list[Values] = field(default_factory=list)
    """Events."""
    forgotten: dict[str, Values] = field(default_factory=dict)
    """Deleted jobs, by name."""


def fold(records: Iterable[Record]) -> Batch:
    """Return the batch that comes to the same as the records one after the other."""
    batch = Batch()
    for kind, values in records:
        match kind:
            case Kind.RUN:
                _tell_run(batch, values)
            case Kind.LOST:
                _tell_lost(batch, values)
            case Kind.EVENT:
                batch.events.append(values)
            case Kind.FORGET:
                known = batch.forgotten.get(values["job"], values)
                batch.forgotten[values["job"]] = max(known, values, key=lambda one: one["before_us"])
    return batch


def _tell_run(batch: Batch, values: Values) -> None:
    run_id = values["run_id"]
    if run_id in batch.closed:
        return
    known = batch.opened.get(run_id)
    if known is not None:
        if values["started_us"] is None:
            values = values | {"started_us": known["started_us"]}
        values = values | {name: known[name] for name in FIRST} | {name: values[name] or known[name] for name in KNOWN}
    if values["outcome"] is None:
        # One that was lost before is lost, whether or not the database had heard of it: so writing the batch twice,
        # since its answer was lost, comes to the same as writing it once.
        if run_id in batch.lost:
            batch.closed[run_id] = values | batch.lost[run_id] | {"outcome": LOST}
        else:
            batch.opened[run_id] = values
    else:
        batch.opened.pop(run_id, None)
        batch.closed[run_id] = values


def _tell_lost(batch: Batch, values: Values) -> None:
    run_id = values["run_id"]
    if run_id in batch.closed:
        return
    known = batch.opened.pop(run_id, None)
    if known is not None:
        batch.closed[run_id] = known | values | {"outcome": LOST}
    else:
        batch.lost.setdefault(run_id, values)
