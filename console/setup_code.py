"""The one-time code with which the first user is made: who reads the log may set up, and nobody else."""

from __future__ import annotations

import hmac
import secrets
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shardsched.clock import Clock

LIFE_S = 3600.0
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without those that look alike."""


class SetupCode:
    """A code that is valid for an hour and once; a restart makes another. **Thread:** any."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._code: str | None = "-".join("".join(secrets.choice(_LETTERS) for _ in range(5)) for _ in range(4))
        self._until = clock.boot() + LIFE_S

    @property
    def text(self) -> str | None:
        """The code, None once it is used or its time is over."""
        return self._code if self._clock.boot() < self._until else None

    def matches(self, given: str) -> bool:
        """Whether it is the code, however it was spaced."""
        code = self.text
        plain = "".join(letter for letter in given.upper() if letter.isalnum())
        return code is not None and hmac.compare_digest(plain.encode(), code.replace("-", "").encode())

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Hold off everyone else who has it, and make it void if the block succeeds."""
        with self._lock:
            yield
            self._code = None
