"""Pages of lists that are counted."""

from __future__ import annotations

from dataclasses import dataclass

from flask import request

LAST = 100_000
MAX_ID = 2**31 - 1
"""Greatest number in an address: not every database takes more, and nothing has so many."""


def page_number() -> int:
    """Return the number of the wanted page, from 1 on; the first if none that makes sense is named."""
    text = request.args.get("page", "1")
    return min(int(text), LAST) if text.isascii() and text.isdigit() and int(text[:9]) > 0 else 1


@dataclass(frozen=True, slots=True)
class Pager:
    """Where a page stands in its list."""

    number: int
    """Of the page, from 1 on."""
    size: int
    """Rows on a page."""
    count: int
    """Rows in all."""

    @property
    def last(self) -> int:
        """Number of the last page."""
        return max(1, -(-self.count // self.size))

    @property
    def first_row(self) -> int:
        """Number of the first row, from 1 on; 0 where there is none."""
        return 0 if not self.count else min((self.number - 1) * self.size + 1, self.count)

    @property
    def last_row(self) -> int:
        """Number of the last row."""
        return min(self.number * self.size, self.count)

    @property
    def numbers(self) -> list[int | None]:
        """Numbers to offer: the ends and those about the present one; None for a gap."""
        wanted = sorted({1, self.last, *range(max(1, self.number - 1), min(self.last, self.number + 1) + 1)})
        shown: list[int | None] = []
        for number in wanted:
            if shown and shown[-1] is not None and number > shown[-1] + 1:
                shown.append(None)
            shown.append(number)
        return shown
