"""Trying a change again when somebody else was first."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from shardsched.errors import StaleVersionError

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")

ATTEMPT_COUNT = 20
"""Times to try. A guess: each loss means that another change of the same record was done."""


def until_won(attempt: Callable[[], _T | None], path: str) -> _T:
    """Return what an attempt returns that loses no race; each reads anew what it decides on.

    Args:
        attempt: Returns None when it was too late.
        path: The record that is changed, for the message.

    Raises:
        StaleVersionError: Others change it all the time.
    """
    for _ in range(ATTEMPT_COUNT):
        result = attempt()
        if result is not None:
            return result
    raise StaleVersionError(path=path)
