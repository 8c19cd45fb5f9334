"""The statements of a registry in an SQL database; each function works within its caller's transaction.

A transaction that writes begins by counting ``sequence`` up. In PostgreSQL that locks the row until the end, so writers
come one after the other, see all that was committed before, and their sequences are in the order of their commits. (In
SQLite the file is locked already.) A renewal takes no such lock: it writes nothing but its session's own row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, insert, or_, select, true, update

from shardsched.errors import SessionLostError
from shardsched.registry.base import Committed
from shardsched.registry.sql_table import CHANGES, NODES, REGISTRY, SESSION_MARK, SESSIONS, prepare
from shardsched.registry.sql_tree import chunks, draft, stubs, write_changes, write_draft
from shardsched.registry.tree import Draft
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

    from shardsched.registry.base import Check, Operation, Outcome
    from shardsched.registry.sql_dialect import Dialect

KEPT_SEQUENCES = 4096
"""Transactions whose changes are kept. A watcher looks 20 times a second; one further behind reads everything anew."""
PRUNE_EVERY = 256
"""How many transactions go by between two prunings."""


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
            raise SessionLostError(Sentence("the session has ended and nothing was written; begin anew"))

    def renew(self, connection: Connection, session_id: str, check: Check) -> Outcome:
        """Give a session its time-out anew and check one node.

        Raises:
            SessionLostError: It is over.
        """
        self.extend(connection, session_id)
        return Draft(stubs(connection, [check.path]).get, lambda _: 0).apply((check,))

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

    def _is_over(self, moment: Moment | None = None) -> ColumnElement[bool]:
        now = self._dialect.session_us() if moment is None else moment.session_us
        return or_(SESSIONS.c.expires_us <= now, SESSIONS.c.era != self._dialect.era)

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
        # In PostgreSQL one that is being renewed is waited for, and looked at again: it stays.
        statement = delete(SESSIONS).where(self._is_over(moment)).returning(SESSIONS.c.id)
        gone = connection.execute(statement).scalars().all()
        if gone:
            self._bury(connection, gone, moment.sequence)
        return bool(gone)

    def _bury(self, connection: Connection, sessions: Sequence[str], sequence: int) -> None:
        paths = [
            path
            for some in chunks(sessions)
            for path in connection.execute(
                delete(NODES).where(NODES.c.owner.in_(some)).returning(NODES.c.path)
            ).scalars()
        ]
        write_changes(connection, [*paths, *(SESSION_MARK + session for session in sessions)], sequence)
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
        is_written = self._check_sessions(connection, session_id, moment)
        outcomes: list[Outcome] = []
        for number, operations in enumerate(transactions, 1):
            tried = draft(connection, operations)
            outcome = tried.apply(operations)
            outcomes.append(outcome)
            if isinstance(outcome, Committed) and tried.touched:
                write_draft(connection, tried, session_id, moment.sequence + number, moment.wall_us)
                is_written = True
        if is_written:
            self._dialect.announce(connection)
            last = moment.sequence + len(transactions)
            if last % PRUNE_EVERY <= len(transactions):
                _prune(connection, last - KEPT_SEQUENCES)
        return outcomes, is_written

    def _check_sessions(self, connection: Connection, session_id: str, moment: Moment) -> bool:
        """Make sure that a session lives; reap others, and say whether there were any."""
        over = self._is_over(moment)
        statement = select(SESSIONS.c.id, over).where(or_(SESSIONS.c.id == session_id, over))
        is_over = {name: bool(flag) for name, flag in connection.execute(statement)}
        if is_over.pop(session_id, True):
            raise SessionLostError(Sentence("the session has ended and nothing was written; begin anew"))
        return bool(is_over) and self._reap(connection, moment)

    # Reading

    def news(self, connection: Connection, after: int | None) -> News:
        """Return what happened after a sequence; None as the sequence: everything."""
        sequence, pruned = connection.execute(select(REGISTRY.c.sequence, REGISTRY.c.pruned)).one()
        if after is None or sequence < after or after < pruned:
            return News(sequence, None)
        if sequence == after:
            return News(sequence, frozenset())
        between = (CHANGES.c.sequence > after) & (CHANGES.c.sequence <= sequence)
        return News(sequence, frozenset(connection.execute(select(CHANGES.c.path).where(between)).scalars()))


def _prune(connection: Connection, last: int) -> None:
    if last > 0:
        connection.execute(delete(CHANGES).where(CHANGES.c.sequence <= last))
        connection.execute(update(REGISTRY).where(true()).values(pruned=last))
