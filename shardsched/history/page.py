"""Pages of rows, newest first, each found through an index however many rows there are.

A page begins behind a key, never at an offset, so rows that are added meanwhile neither shift nor repeat any. What is
asked for is split into lanes, such as one for each outcome: in a lane the rows stand in an index in the order of the
page. Conditions that no index serves are tried on a stretch of so many rows of each lane; a page may therefore have
few rows, or none, and still go on.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from sqlalchemy import select, tuple_

from shardsched.errors import ConfigurationError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Column, ColumnElement, Connection, RowMapping, Tuple

STRETCH = 5_000
"""How many rows of a lane are tried for one page: some 10 ms of work."""
MAX_LIMIT = 1_000
"""Most rows of a page."""

Row = TypeVar("Row")
Key = tuple[int, str]
"""A time in microseconds, and what tells rows of one moment apart."""


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, newest first."""

    rows: tuple[Row, ...]
    """The rows."""
    next: str | None
    """Where the next page begins; None if there is none."""


class Order(NamedTuple):
    """How a table is paged through."""

    time: Column[int]
    """The column with the time."""
    identity: Column[str]
    """The column that tells rows of one moment apart."""
    columns: Sequence[Column[Any]]
    """What is read, these two included."""

    @property
    def place(self) -> Tuple:
        """Both columns together, as one thing to compare."""
        return tuple_(self.time, self.identity)

    def key(self, row: RowMapping) -> Key:
        """Return the place of a row."""
        return (row[self.time.name], row[self.identity.name])


class Lane(NamedTuple):
    """Rows that stand in an index in the order of the page. No row is in two lanes of a search."""

    served: Sequence[ColumnElement[bool]]
    """Conditions that the index serves."""
    others: Sequence[ColumnElement[bool]] = ()
    """Conditions that none serves."""


def find(
    connection: Connection, order: Order, lanes: Sequence[Lane], *, after: str | None, limit: int
) -> Page[RowMapping]:
    """Return a page.

    Args:
        connection: To read with.
        order: Of which table, in which order.
        lanes: Which rows.
        after: Where it begins, from the page before; None for the newest rows.
        limit: How many rows at most.

    Raises:
        ConfigurationError: The place or the limit cannot be.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise ConfigurationError(
            Sentence("a page of %(limit)s rows is asked for; give 1 to %(most)s", limit=limit, most=MAX_LIMIT)
        )
    bounds = () if after is None else (order.place < tuple_(*decode_key(after)),)
    searched = [_search(connection, order, lane._replace(served=[*lane.served, *bounds]), limit) for lane in lanes]
    # Each lane has been searched down to here, so all newer rows are known.
    floor = max((end for _, end in searched if end is not None), default=None)
    found = sorted((row for rows, _ in searched for row in rows), key=order.key, reverse=True)
    known = [row for row in found if floor is None or order.key(row) >= floor]
    if len(known) > limit:
        floor = order.key(known[limit - 1])
    return Page(tuple(known[:limit]), None if floor is None else encode_key(floor))


def _search(connection: Connection, order: Order, lane: Lane, limit: int) -> tuple[Sequence[RowMapping], Key | None]:
    """Return rows of a lane, and down to where it was searched; None for its end."""
    newest = (order.time.desc(), order.identity.desc())
    within, end = lane.served, None
    if lane.others:
        places = select(order.time, order.identity).where(*lane.served).order_by(*newest)
        last = connection.execute(places.offset(STRETCH - 1).limit(1)).first()
        if last is not None:
            end = (last[0], last[1])
            within = [*within, order.place >= tuple_(*end)]
    statement = select(*order.columns).where(*within, *lane.others).order_by(*newest).limit(limit + 1)
    rows = connection.execute(statement).mappings().all()
    return (rows, order.key(rows[-1]) if len(rows) > limit else end)


def encode_key(key: Key) -> str:
    """Return a place as text that goes into a URL."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def decode_key(text: str) -> Key:
    """Return the place that a text stands for.

    Raises:
        ConfigurationError: `encode_key` did not make it.
    """
    try:
        time, identity = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        identity.encode()
    except (ValueError, TypeError, AttributeError, RecursionError):
        time, identity = None, ""
    if type(time) is not int or abs(time) >= 2**63 or "\0" in identity:
        raise ConfigurationError(Sentence("%(text)a is no place in a list; begin again without it", text=text[:40]))
    return (time, identity)
