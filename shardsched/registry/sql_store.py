"""The statements of a registry in an SQL database; each function works within its caller's transaction.

A transaction that writes begins by counting ``sequence`` up. In PostgreSQL that locks the row until the end, so writers
come one after the other, see all that was committed before, and their sequences are in the order of their commits. (In
SQLite the file is locked already.) A renewal takes no such lock: it writes nothing but its session's own row.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, delete, func, insert, or_, select, true, update

from shardsched.errors import SessionLostError
from shardsched.registry.base import Committed, Create, Delete, Node
from shardsched.registry.sql_table import CHANGES, NODES, REGISTRY, SESSION_MARK, SESSIONS, prepare
from shardsched.registry.tree import Draft, Stub, parent_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Row

    from shardsched.registry.base import Check, Operation, Outcome
    from shardsched.registry.sql_dialect import Dialect

CHUNK = 500
"""Values in one ``IN``: databases limit the parameters of a statement."""
KEPT_SEQUENCES = 4096
"""Transactions whose changes are kept. A watcher looks 20 times a second; one further behind reads everything anew."""
PRUNE_EVERY = 256
"""How many transactions go by between two prunings."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_PUT = (
    update(NODES)
    .where(NODES.c.path == bindparam("at"))
    .values(value=bindparam("new_value"), version=bindparam("new_version"))
)


class Moment(NamedTuple):
    """When a transaction that writes takes place."""

    sequence: int
    """The first of its numbers."""
    session_us: int
    """By the clock of the sessions."""
    wall_us: int
    """By the wall clock."""


class News(NamedTuple):
    """What happened since a watcher looked last."""

    sequence: int
    """Where it is to go on."""
    paths: frozenset[str] | None
    """What was touched; None: too much happened, or the store is another one, so read everything."""


class Store:
    """The tree and the sessions in one database."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def prepare(self, connection: Connection) -> None:
        """Create the tables if they are missing.

        Raises:
            SettingsError: They are of a later version, or the database cannot hold them.
        """
        self._dialect.prepare(connection)
        prepare(connection, connection.execute(select(self._dialect.wall_us())).scalar_one())

    # Sessions

    def begin(self, connection: Connection, session_id: str, secret: str, timeout_s: float) -> None:
        """Begin a session, after those that are over have been removed."""
        moment = self._take(connection, 1)
        self._reap(connection, moment)
        timeout_us = int(timeout_s * 1e6)
        row = {
            "id": session_id,
            "secret": secret,
            "era": self._dialect.era,
            "timeout_us": timeout_us,
            "expires_us": moment.session_us + timeout_us,
        }
        connection.execute(insert(SESSIONS), row)

    def end(self, connection: Connection, session_id: str, secret: str) -> None:
        """End a session, if it exists; its ephemeral nodes go."""
        moment = self._take(connection, 1)
        mine = (SESSIONS.c.id == session_id) & (SESSIONS.c.secret == secret)
        if connection.execute(delete(SESSIONS).where(mine)).rowcount:
            self._bury(connection, [session_id], moment.sequence)

    def extend(self, connection: Connection, session_id: str) -> None:
        """Give a session its time-out anew.

        Raises:
            SessionLostError: It is over.
        """
        now = self._dialect.session_us()
        statement = (
            update(SESSIONS)
            .where(SESSIONS.c.id == session_id, SESSIONS.c.era == self._dialect.era, SESSIONS.c.expires_us > now)
            .values(expires_us=now + SESSIONS.c.timeout_us)
        )
        if connection.execute(statement).rowcount == 0:
            raise SessionLostError("the session has ended and nothing was written; begin anew")

    def renew(self, connection: Connection, session_id: str, check: Check) -> Outcome:
        """Give a session its time-out anew and check one node.

        Raises:
            SessionLostError: It is over.
        """
        self.extend(connection, session_id)
        return Draft(_stubs(connection, [check.path]).get, lambda _: 0).apply((check,))

    def is_alive(self, connection: Connection, session_id: str) -> bool:
        """Say whether a session is not over."""
        row = connection.execute(select(self._is_over()).where(SESSIONS.c.id == session_id)).first()
        return row is not None and not row[0]

    def has_expired(self, connection: Connection) -> bool:
        """Say whether there is a session to be reaped."""
        return connection.execute(select(SESSIONS.c.id).where(self._is_over()).limit(1)).first() is not None

    def reap(self, connection: Connection) -> None:
        """Remove the sessions that are over, with their nodes."""
        self._reap(connection, self._take(connection, 1))

    def _is_over(self) -> ColumnElement[bool]:
        return or_(SESSIONS.c.expires_us <= self._dialect.session_us(), SESSIONS.c.era != self._dialect.era)

    def _take(self, connection: Connection, count: int) -> Moment:
        sequence = REGISTRY.c.sequence
        statement = (
            update(REGISTRY)
            .where(true())
            .values(sequence=sequence + count)
            .returning(sequence, self._dialect.session_us(), self._dialect.wall_us())
        )
        last, session_us, wall_us = connection.execute(statement).one()
        return Moment(last - count + 1, session_us, wall_us)

    def _reap(self, connection: Connection, moment: Moment) -> bool:
        over = or_(SESSIONS.c.expires_us <= moment.session_us, SESSIONS.c.era != self._dialect.era)
        gone = connection.execute(delete(SESSIONS).where(over).returning(SESSIONS.c.id)).scalars().all()
        if gone:
            self._bury(connection, gone, moment.sequence)
        return bool(gone)

    def _bury(self, connection: Connection, sessions: Sequence[str], sequence: int) -> None:
        paths = [
            path
            for some in _chunks(sessions)
            for path in connection.execute(
                delete(NODES).where(NODES.c.owner.in_(some)).returning(NODES.c.path)
            ).scalars()
        ]
        _tell(connection, [*paths, *(SESSION_MARK + session for session in sessions)], sequence)
        self._dialect.announce(connection)

    # Writing

    def transact(
        self, connection: Connection, session_id: str, transactions: Sequence[Sequence[Operation]]
    ) -> tuple[list[Outcome], bool]:
        """Do transactions of one session, each all or nothing; say also whether anything was written.

        Raises:
            SessionLostError: The session is over; nothing may be committed.
        """
        moment = self._take(connection, len(transactions) + 1)
        is_written = self._reap(connection, moment)
        if connection.execute(select(SESSIONS.c.id).where(SESSIONS.c.id == session_id)).first() is None:
            raise SessionLostError("the session has ended and nothing was written; begin anew")
        outcomes: list[Outcome] = []
        for number, operations in enumerate(transactions, 1):
            draft = _draft(connection, operations)
            outcome = draft.apply(operations)
            outcomes.append(outcome)
            if isinstance(outcome, Committed) and draft.touched:
                _write(connection, draft, session_id, moment.sequence + number, moment.wall_us)
                is_written = True
        if is_written:
            self._dialect.announce(connection)
            last = moment.sequence + len(transactions)
            if last % PRUNE_EVERY <= len(transactions):
                _prune(connection, last - KEPT_SEQUENCES)
        return outcomes, is_written

    # Reading

    def nodes(self, connection: Connection, paths: Iterable[str]) -> dict[str, Node]:
        """Return the nodes that exist of these paths."""
        return {
            row.path: _node(row)
            for some in _chunks(sorted(set(paths)))
            for row in connection.execute(select(NODES).where(NODES.c.path.in_(some)))
        }

    def around(self, connection: Connection, prefix: str) -> dict[str, Node]:
        """Return a node and its children."""
        statement = select(NODES).where(or_(NODES.c.path == prefix, NODES.c.parent == prefix))
        return {row.path: _node(row) for row in connection.execute(statement)}

    def names(self, connection: Connection, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the sorted names of the children of those paths that exist."""
        names: dict[str, list[str]] = {}
        for some in _chunks(sorted(set(paths))):
            statement = select(NODES.c.path, NODES.c.parent).where(
                or_(NODES.c.path.in_(some), NODES.c.parent.in_(some))
            )
            wanted = set(some)
            for path, parent in connection.execute(statement):
                if path in wanted:
                    names.setdefault(path, [])
                if parent in wanted:
                    names.setdefault(parent, []).append(path.rpartition("/")[2])
        return {path: tuple(sorted(each)) for path, each in names.items()}

    def news(self, connection: Connection, after: int | None) -> News:
        """Return what happened after a sequence; None as the sequence: everything."""
        sequence, pruned = connection.execute(select(REGISTRY.c.sequence, REGISTRY.c.pruned)).one()
        if after is None or sequence < after or after < pruned:
            return News(sequence, None)
        if sequence == after:
            return News(sequence, frozenset())
        between = (CHANGES.c.sequence > after) & (CHANGES.c.sequence <= sequence)
        return News(sequence, frozenset(connection.execute(select(CHANGES.c.path).where(between)).scalars()))


def _draft(connection: Connection, operations: Sequence[Operation]) -> Draft:
    paths = {operation.path for operation in operations}
    paths |= {parent_path(operation.path) for operation in operations if isinstance(operation, Create)}
    stubs = _stubs(connection, paths)
    deleted = sorted({operation.path for operation in operations if isinstance(operation, Delete)})
    counts: dict[str, int] = {}
    for some in _chunks(deleted):
        statement = select(NODES.c.parent, func.count()).where(NODES.c.parent.in_(some)).group_by(NODES.c.parent)
        counts.update((parent, count) for parent, count in connection.execute(statement))
    return Draft(stubs.get, lambda path: counts.get(path, 0))


def _stubs(connection: Connection, paths: Iterable[str]) -> dict[str, Stub]:
    columns = (NODES.c.path, NODES.c.version, NODES.c.owner)
    return {
        path: Stub(version, owner is not None)
        for some in _chunks(sorted(paths))
        for path, version, owner in connection.execute(select(*columns).where(NODES.c.path.in_(some)))
    }


def _write(connection: Connection, draft: Draft, session_id: str, sequence: int, wall_us: int) -> None:
    for some in _chunks(sorted(draft.removed)):
        connection.execute(delete(NODES).where(NODES.c.path.in_(some)))
    new = [
        {
            "path": path,
            "parent": parent_path(path),
            "value": stub.value or b"",
            "version": stub.version,
            "created_id": sequence,
            "created_us": wall_us,
            "owner": session_id if stub.is_ephemeral else None,
        }
        for path, stub in draft.touched.items()
        if stub is not None and stub.is_new
    ]
    if new:
        connection.execute(insert(NODES), new)
    put = [
        {"at": path, "new_value": stub.value, "new_version": stub.version}
        for path, stub in draft.touched.items()
        if stub is not None and not stub.is_new
    ]
    if put:
        connection.execute(_PUT, put)
    _tell(connection, draft.touched, sequence)


def _tell(connection: Connection, paths: Iterable[str], sequence: int) -> None:
    connection.execute(insert(CHANGES), [{"sequence": sequence, "path": path} for path in paths])


def _prune(connection: Connection, last: int) -> None:
    if last > 0:
        connection.execute(delete(CHANGES).where(CHANGES.c.sequence <= last))
        connection.execute(update(REGISTRY).where(true()).values(pruned=last))


def _node(row: Row[Any]) -> Node:
    created_at = _EPOCH + timedelta(microseconds=row.created_us)
    return Node(row.path, row.value, row.version, row.created_id, row.owner, created_at)


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]
