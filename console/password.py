"""Passwords: what is taken, and how it is kept."""

from __future__ import annotations

import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from zxcvbn import zxcvbn

from shardsched.people.error import AccountError
from shardsched.sentence import Sentence

MIN_LENGTH = 12
MAX_LENGTH = 128
MIN_SCORE = 3
"""Of zxcvbn's 0 to 4: not guessed in 10^8 tries."""
_AT_ONCE = 2
"""Each takes 64 MiB while it is worked on."""


class Passwords:
    """Hashes and checks passwords by argon2id. **Thread:** any."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._dummy = self._hasher.hash("nobody has this password")

    def hash(self, password: str) -> str:
        """Return what is stored of a password."""
        with self._room:
            return self._hasher.hash(_composed(password))

    def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether a password is the one; where there is no such user it takes as long and is not."""
        with self._room:
            try:
                self._hasher.verify(password_hash or self._dummy, _composed(password))
            except (VerificationError, InvalidHashError):
                return False
        return password_hash is not None

    def is_outdated(self, password_hash: str) -> bool:
        """Whether it should be hashed anew, with today's parameters."""
        return self._hasher.check_needs_rehash(password_hash)


def check_password(password: str, user_name: str) -> str:
    """Return a password if it may be a user's.

    Raises:
        AccountError: With ``code``: ``short``, ``long``, ``name`` (it is that of the user), or ``guessable``.
    """
    composed = _composed(password)
    if len(composed) < MIN_LENGTH:
        raise AccountError(
            Sentence("the password has fewer than %(count)s characters", count=MIN_LENGTH),
            field="password",
            code="short",
        )
    if len(composed) > MAX_LENGTH:
        raise AccountError(
            Sentence("the password has more than %(count)s characters", count=MAX_LENGTH),
            field="password",
            code="long",
        )
    if user_name and user_name.casefold() in composed.casefold() and len(composed) < len(user_name) + MIN_LENGTH:
        raise AccountError(Sentence("the password is mostly the user's name"), field="password", code="name")
    # It looks at the first 72 characters only; it would be slow for more.
    if zxcvbn(composed[:72], user_inputs=[user_name, "shardsched"])["score"] < MIN_SCORE:
        raise AccountError(
            Sentence("the password is easily guessed; take four or five unusual words"),
            field="password",
            code="guessable",
        )
    return password


def _composed(password: str) -> str:
    """Return it composed alike however it was typed; half characters cannot be typed and are replaced."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "replace").decode()
