"""One door to the console's records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.clock import SYSTEM_CLOCK
from shardsched.history.engine import Database
from shardsched.people.audit import Audit
from shardsched.people.idempotency import IdempotencyKeys
from shardsched.people.revision import Revisions
from shardsched.people.token import Tokens
from shardsched.people.user import Users
from shardsched.people.web_session import WebSessions

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.history.outage import Outage


CONNECTION_COUNT = 8
"""Kept connections; every request of a browser asks for its sign-in."""


class People:
    """The console's records in one database. **Thread:** any.

    Attributes:
        users: Who may sign in.
        sessions: Who is signed in.
        tokens: What programs use the API with.
        audit: What was done in the namespace.
        revisions: What its objects looked like.
        idempotency: What was answered to requests that must not act twice.
        place: Which database it is, without a password.

    Args:
        url: ``sqlite:///…`` or ``postgresql://…``.
        namespace: The fleet's.
        clock: The machine's clocks.
        patience_s: How long people wait for the database until it counts as away for a while; None for ever anew.

    Raises:
        SettingsError: The URL cannot be read.
    """

    def __init__(
        self, url: str, namespace: str, clock: Clock = SYSTEM_CLOCK, *, patience_s: float | None = None
    ) -> None:
        self._database = Database(url, connection_count=CONNECTION_COUNT, patience_s=patience_s, clock=clock)
        self.place = self._database.place
        self.users = Users(self._database, clock)
        self.sessions = WebSessions(self._database, clock)
        self.tokens = Tokens(self._database, clock)
        self.audit = Audit(self._database, clock, namespace)
        self.revisions = Revisions(self._database, clock, namespace)
        self.idempotency = IdempotencyKeys(self._database, clock)

    @property
    def reading_outage(self) -> Outage | None:
        """Since when nothing can be read, None while it can as far as is known."""
        return self._database.reading_outage

    @property
    def writing_outage(self) -> Outage | None:
        """Since when nothing can be written, None while it can as far as is known."""
        return self._database.writing_outage

    def probe(self) -> None:
        """Ask the database whether it can be read and written, also while it counts as away.

        Raises:
            HistoryError: Not so.
        """
        self._database.probe()

    def check(self) -> None:
        """Ask the database for an answer.

        Raises:
            HistoryUnavailableError: It gives none.
        """
        self._database.version()

    def close(self) -> None:
        """Close all connections."""
        self._database.close()
