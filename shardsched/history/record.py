"""What a recorder is told, one thing after the other, as the database takes it and as a line on disk."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sqlalchemy import Column, Float, Table, Text

from shardsched.core.codec import Fields, encode
from shardsched.history.table import EVENTS, FORGOTTEN, RUNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Reader: TypeAlias = Callable[[Fields], Any]

_INTEGER_BOUND = 2**63 - 1


class Kind(StrEnum):
    """What was told."""

    RUN = "run"
    """A run was claimed or began; or ended, if it has an outcome."""
    LOST = "lost"
    """A run will never be finished by anyone."""
    EVENT = "event"
    """Something happened."""
    FORGET = "forget"
    """A job was deleted; what is older than that goes."""


class Record(NamedTuple):
    """One thing that was told."""

    kind: Kind
    """What."""
    values: dict[str, Any]
    """The columns it sets, without the namespace."""


def to_line(record: Record) -> bytes:
    """Return a record as one line of JSON."""
    return encode({"record": record.kind} | record.values) + b"\n"


def from_line(line: bytes, place: str) -> Record:
    """Return the record in a line.

    Args:
        line: One line of JSON.
        place: Where it was found, for messages.

    Raises:
        CorruptNodeError: It is not a record of ours.
    """
    form = Fields(place, line)
    kind = form.choice("record", Kind)
    return Record(kind, {name: read(form) for name, read in _READERS[kind].items()})


def _of_table(table: Table) -> Mapping[str, _Reader]:
    return {column.name: _of_column(column) for column in table.c if column.name != "namespace"}


def _of_column(column: Column[Any]) -> _Reader:
    name = column.name
    read: Callable[[Fields, str], Any] = _integer
    if isinstance(column.type, Text):
        read = Fields.text
    elif isinstance(column.type, Float):
        read = Fields.number
    if column.nullable:
        return lambda form: read(form, name) if form.has(name) else None
    return lambda form: read(form, name)


def _integer(form: Fields, name: str) -> int:
    return form.integer(name, low=-_INTEGER_BOUND, high=_INTEGER_BOUND)


_READERS: Mapping[Kind, Mapping[str, _Reader]] = {
    Kind.RUN: _of_table(RUNS),
    Kind.LOST: {name: _of_column(RUNS.c[name]) for name in ("run_id", "ended_us", "message")},
    Kind.EVENT: _of_table(EVENTS),
    Kind.FORGET: _of_table(FORGOTTEN),
}
