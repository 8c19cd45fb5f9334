"""Pages of rows, and where the next one begins."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from shardsched.errors import ConfigurationError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

Row = TypeVar("Row")
Stored = tuple[Any, ...]
"""A row as the database has it."""
Key = tuple[int, str]
"""A time in microseconds, and what tells rows of one moment apart."""


class Rows(Sequence[Row]):
    """Rows, each made when somebody reads it: who only wants to know whether they changed need not pay for that.

    Args:
        stored: The rows as the database has them.
        make: Makes a row of one.
    """

    def __init__(self, stored: Sequence[Stored], make: Callable[[Stored], Row]) -> None:
        self._stored = stored
        self._make = make
        self._made: dict[int, Row] = {}

    @property
    def shown_key(self) -> tuple[Stored, ...]:
        """The rows as the database has them: where these are equal, the rows are."""
        return tuple(map(tuple, self._stored))

    def __len__(self) -> int:
        return len(self._stored)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...

    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(index, slice):
            return tuple([self[number] for number in range(*index.indices(len(self)))])
        number = range(len(self._stored))[index]
        if number not in self._made:
            self._made[number] = self._make(self._stored[number])
        return self._made[number]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Rows, tuple)) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # equal to a tuple of its rows, which cost something to make

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, newest first."""

    rows: Rows[Row]
    """The rows."""
    next: str | None
    """Where the next page begins; None if there is none."""


def encode_key(key: Key) -> str:
    """Return a place as text that goes into a URL."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def decode_key(text: str) -> Key:
    """Return the place that a text stands for.

    Raises:
        ConfigurationError: `encode_key` did not make it.
    """
    try:
        time, identity = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        identity.encode()
    except (ValueError, TypeError, AttributeError, RecursionError):
        time, identity = None, ""
    if type(time) is not int or abs(time) >= 2**63 or "\0" in identity:
        raise ConfigurationError(Sentence("%(text)a is no place in a list; begin again without it", text=text[:40]))
    return (time, identity)
