"""Reading the items that were gained, a chunk of them in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.core.plan import usable_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.coordination.book import Book
    from shardsched.core.view import JobEntry

READ_CHUNK = 1_000
"""Items read by one step; the rest is read by the next, so that a large gain does not hold up what is due."""


class Reading:
    """The reading part of the loop. **Thread:** the loop's."""

    def __init__(self, *, name: str, book: Book) -> None:
        self._name = name
        self._book = book

    def read(self, entries: Iterable[JobEntry]) -> tuple[list[JobEntry], bool]:
        """Read items that are not known; return the jobs that can be planned by now, and whether some are left.

        Raises:
            RegistryUnavailableError: No answer; nothing is taken note of.
        """
        ready: list[JobEntry] = []
        unread: list[tuple[JobEntry, int]] = []
        is_more = False
        for entry in entries:
            usable = usable_entry(entry)
            if isinstance(usable, str):
                ready.append(entry)
                continue
            owned = usable[2].owners.get(self._name, ())
            self._book.retain(entry.name, usable[0].uid, owned)
            known = self._book.items(entry.name)
            missing = [(entry, item) for item in owned if item not in known]
            if not missing or len(unread) < READ_CHUNK:
                ready.append(entry)
                unread.extend(missing)
            else:
                is_more = True
        if unread:
            self._book.read(unread)
        return ready, is_more
