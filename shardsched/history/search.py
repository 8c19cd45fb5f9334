"""Finding pages of rows, newest first, each through an index however many rows there are.

A page begins behind a key, never at an offset, so rows that are added meanwhile neither shift nor repeat any. What is
asked for is split into lanes, such as one for each outcome: in a lane the rows stand in an index in the order of the
page. Conditions that no index serves are tried on a stretch of so many rows of each lane; a page may therefore have
few rows, or none, and still go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, or_, select, tuple_, union_all

from shardsched.errors import ConfigurationError
from shardsched.history.page import Key, Stored, decode_key, encode_key
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Column, ColumnElement, Connection, Executable, Tuple

STRETCH = 5_000
"""How many rows of a lane are tried for one page: some 10 ms of work."""
MAX_LIMIT = 1_000
"""Most rows of a page."""


class Order(NamedTuple):
    """How a table is paged through."""

    namespace: Column[str]
    """The column with the namespace."""
    time: Column[int]
    """The column with the time."""
    identity: Column[str]
    """The column that tells rows of one moment apart; no two rows of a namespace have the same."""
    others: Sequence[Column[Any]]
    """What is read besides."""

    @property
    def columns(self) -> tuple[Column[Any], ...]:
        """What is read, the key first."""
        return (self.time, self.identity, *self.others)

    @property
    def place(self) -> Tuple:
        """The columns of the key, as one thing to compare."""
        return tuple_(self.time, self.identity)

    def bound(self, name: str) -> Tuple:
        """Return a key that is told when the statement is executed, as ``<name>_time`` and ``<name>_identity``."""
        time = bindparam(f"{name}_time", type_=self.time.type)
        return tuple_(time, bindparam(f"{name}_identity", type_=self.identity.type))


class Lane(NamedTuple):
    """Rows that stand in an index in the order of the page. No row is in two lanes of a search."""

    served: Sequence[ColumnElement[bool]]
    """Conditions that the index serves."""
    others: Sequence[ColumnElement[bool]] = ()
    """Conditions that none serves."""


class _LaneReading(NamedTuple):
    """The statements that read one lane."""

    stretch: Executable | None
    """Finds the last place of the stretch; None where the index serves all conditions."""
    within: Executable
    """Reads the rows of a stretch."""
    rest: Executable
    """Reads the rows where the stretch reaches the end."""


class _Merging(NamedTuple):
    """The statements that read lanes whose conditions are all served."""

    places: Executable
    """Finds the keys of the first rows of every lane."""
    rows: Executable
    """Reads the rows of the page."""


class Search:
    """One way to ask for rows. **Thread:** any.

    Its statements are made once and take their values when they are executed: SQLAlchemy takes longer to make them
    than SQLite to answer.

    Args:
        order: Of which table, in which order.
        lanes: Which rows, in any namespace; conditions may have values that are told at each asking.
    """

    def __init__(self, order: Order, lanes: Sequence[Lane]) -> None:
        self._order = order
        self._lanes = lanes
        self._is_served = len(lanes) > 1 and not any(lane.others for lane in lanes)
        self._made: dict[bool, _Merging | list[_LaneReading]] = {}

    def find(
        self, connection: Connection, values: Mapping[str, Any], *, after: str | None, limit: int
    ) -> tuple[list[Stored], str | None]:
        """Return the rows of a page, with the columns of the order, and where the next page begins.

        Args:
            connection: To read with.
            values: Of the conditions, and ``namespace``.
            after: Where it begins, from the page before; None for the newest rows.
            limit: How many rows at most.

        Raises:
            ConfigurationError: The place or the limit cannot be.
        """
        if not 1 <= limit <= MAX_LIMIT:
            raise ConfigurationError(
                Sentence("a page of %(limit)s rows is asked for; give 1 to %(most)s", limit=limit, most=MAX_LIMIT)
            )
        values = {**values, "most": limit + 1, "skipped": STRETCH - 1}
        if after is not None:
            values |= _bound("after", decode_key(after))
        statements = self._statements(is_later=after is not None)
        if isinstance(statements, _Merging):
            return self._merged(connection, statements, values, limit)
        searched = [self._read(connection, reading, values, limit) for reading in statements]
        # Each lane has been searched down to here, so all newer rows are known.
        floor = max((end for _, end in searched if end is not None), default=None)
        found = sorted((row for rows, _ in searched for row in rows), key=_key, reverse=True)
        known = [row for row in found if floor is None or _key(row) >= floor]
        if len(known) > limit:
            floor = _key(known[limit - 1])
        return known[:limit], None if floor is None else encode_key(floor)

    def _merged(
        self, connection: Connection, merging: _Merging, values: dict[str, Any], limit: int
    ) -> tuple[list[Stored], str | None]:
        keys = sorted((_key(row) for row in connection.execute(merging.places, values)), reverse=True)
        values["identities"] = [identity for _, identity in keys[:limit]]
        # A row that was removed since, or has changed, is missing; the page goes on all the same.
        rows = sorted(connection.execute(merging.rows, values), key=_key, reverse=True) if keys else []
        return [*rows], encode_key(keys[limit - 1]) if len(keys) > limit else None

    def _read(
        self, connection: Connection, reading: _LaneReading, values: dict[str, Any], limit: int
    ) -> tuple[Sequence[Stored], Key | None]:
        """Return rows of a lane, and down to where it was searched; None for its end."""
        end, statement = None, reading.rest
        if reading.stretch is not None:
            last = connection.execute(reading.stretch, values).first()
            if last is not None:
                end, statement = _key(last), reading.within
                values = values | _bound("end", end)
        rows = connection.execute(statement, values).all()
        return rows, _key(rows[-1]) if len(rows) > limit else end

    def _statements(self, *, is_later: bool) -> _Merging | list[_LaneReading]:
        if is_later not in self._made:
            order = self._order
            bounds = [order.namespace == bindparam("namespace"), *([order.place < order.bound("after")] * is_later)]
            lanes = [lane._replace(served=[*bounds, *lane.served]) for lane in self._lanes]
            self._made[is_later] = (
                _merging(order, lanes) if self._is_served else [_reading(order, one) for one in lanes]
            )
        return self._made[is_later]


def _merging(order: Order, lanes: Sequence[Lane]) -> _Merging:
    newest, most = (order.time.desc(), order.identity.desc()), bindparam("most", type_=order.time.type)
    each = [
        # SQLite takes a limit within a union only one level down.
        select(select(order.time, order.identity).where(*lane.served).order_by(*newest).limit(most).subquery())
        for lane in lanes
    ]
    identities = order.identity.in_(bindparam("identities", expanding=True))
    # A run may have ended since, and so have left its lane.
    still = or_(*(and_(*lane.served) for lane in lanes))
    rows = select(*order.columns).where(order.namespace == bindparam("namespace"), identities, still)
    return _Merging(union_all(*each), rows)


def _reading(order: Order, lane: Lane) -> _LaneReading:
    newest, most = (order.time.desc(), order.identity.desc()), bindparam("most", type_=order.time.type)
    rest = select(*order.columns).where(*lane.served, *lane.others).order_by(*newest).limit(most)
    places = select(order.time, order.identity).where(*lane.served).order_by(*newest)
    stretch = places.offset(bindparam("skipped", type_=order.time.type)).limit(1)
    return _LaneReading(stretch if lane.others else None, rest.where(order.place >= order.bound("end")), rest)


def _key(row: Sequence[Any]) -> Key:
    return (row[0], row[1])


def _bound(name: str, key: Key) -> dict[str, Any]:
    return {f"{name}_time": key[0], f"{name}_identity": key[1]}
