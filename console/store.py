"""Whether the history database answers; a thread finds out when it is back, so that nobody who looks on waits."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.errors import HistoryError
from shardsched.sentence import sentence_of

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.people import People

PROBE_EVERY_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFault:
    """Why nothing can be changed."""

    since: datetime
    """Since when."""
    text: str
    """What the database said last."""
    is_readable: bool
    """Whether it can be read, and only takes nothing in."""


class Store:
    """What is known of the database of users, sign-ins and the audit. **Thread:** any.

    Args:
        people: What is kept there.
    """

    def __init__(self, people: People) -> None:
        self._people = people
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def fault(self) -> StoreFault | None:
        """Return why nothing can be changed, None if it can as far as is known; nothing is asked for that."""
        reading, writing = self._people.reading_outage, self._people.writing_outage
        if writing is None:
            return None
        self._watch()
        return StoreFault(since=writing.since, text=sentence_of(writing.error), is_readable=reading is None)

    def close(self) -> None:
        """End the thread."""
        self._end.set()
        if self._thread is not None:
            self._thread.join(10)

    def _watch(self) -> None:
        with self._lock:
            if self._end.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._run, name="store", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while self._people.writing_outage is not None and not self._end.wait(PROBE_EVERY_S):
            with contextlib.suppress(HistoryError):
                self._people.probe()
