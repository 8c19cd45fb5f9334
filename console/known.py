"""Who has signed in or used a token lately: with it people may go on to look while the history database is away.

Nothing here lets anybody in who was not let in by the database a short while ago, and what this process knows to be
ended is forgotten at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from console.actor import Actor
from shardsched.people.web_session import IDLE, LIFE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from shardsched.clock import Clock
    from shardsched.people.token import Token
    from shardsched.people.user import User
    from shardsched.people.web_session import WebSession

KEPT = timedelta(minutes=15)
"""How long after the database let somebody in they may look without it."""
MOST = 2_000
"""Sign-ins and tokens kept at most; of more, those used last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Somebody whom the database let in."""

    user: User
    """The user."""
    session: WebSession | None = None
    """Their sign-in, None for a token."""
    token: Token | None = None
    """The token, None for a browser."""
    boot: float
    """When, by the boot clock, in seconds."""


def recalled(known: Known, now: datetime, boot: float) -> Actor | None:
    """Return who may look without the database, None if that is over; whatever they may else, they only look."""
    left_s = known.boot + KEPT.total_seconds() - boot
    if not 0 <= left_s <= KEPT.total_seconds():
        return None
    if known.session is not None and (now - known.session.created_at > LIFE or now - known.session.seen_at > IDLE):
        return None
    if known.token is not None and known.token.state(now) != "active":
        return None
    return Actor(user=known.user, session=known.session, token=known.token, looks_until=now + timedelta(seconds=left_s))


class KnownPeople:
    """Those whom the database let in lately. **Thread:** any.

    Args:
        clock: The machine's clocks.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._endings = 0

    def begin(self) -> int:
        """Return what `keep` needs; call it before the database is asked."""
        return self._endings

    def keep(self, secret: str, actor: Actor, begun: int) -> None:
        """Keep that the database let somebody in, unless something was ended since it was asked."""
        known = Known(user=actor.user, session=actor.session, token=actor.token, boot=self._clock.boot())
        key = _key(secret)
        with self._lock:
            if begun != self._endings:
                return
            self._known[key] = known
            self._known.move_to_end(key)
            while len(self._known) > MOST:
                self._known.popitem(last=False)

    def verify(self, secret: str, find: Callable[[str], Actor | None]) -> Actor | None:
        """Return who has a secret by the database, None if nobody has, and take note of it.

        Args:
            secret: Of a sign-in or a token.
            find: Asks the database; what it raises is raised.
        """
        begun = self.begin()
        actor = find(secret)
        if actor is None:
            self.forget(secret)
        else:
            self.keep(secret, actor, begun)
        return actor

    def recall(self, secret: str) -> Actor | None:
        """Return who may look without the database by a secret, None if nobody may."""
        with self._lock:
            known = self._known.get(_key(secret))
        return None if known is None else recalled(known, self._clock.now(), self._clock.boot())

    def forget(self, secret: str) -> None:
        """Forget who has a secret, as the database does not let them in."""
        with self._lock:
            self._known.pop(_key(secret), None)

    def forget_ended(self, *, user_id: int | None = None, session_id: str = "", token_id: str = "") -> None:
        """Forget what was ended: all of a user, one sign-in, or one token."""
        with self._lock:
            self._endings += 1
            for key, known in list(self._known.items()):
                is_theirs = known.user.id == user_id
                is_session = known.session is not None and known.session.id == session_id
                if is_theirs or is_session or (known.token is not None and known.token.id == token_id):
                    del self._known[key]

    @contextlib.contextmanager
    def ending(self, *, user_id: int | None = None, token_id: str = "", session_id: str = "") -> Iterator[None]:
        """Forget what is ended in the body, also if nobody knows whether it was."""
        self.forget_ended(user_id=user_id, token_id=token_id, session_id=session_id)
        try:
            yield
        finally:
            # Again, for those who were let in just before.
            self.forget_ended(user_id=user_id, token_id=token_id, session_id=session_id)


def _key(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
