"""Refusing what must not be."""

from __future__ import annotations


class BrokenInvariantError(AssertionError):
    """Something happened that must not."""


def demand(condition: object, what: str) -> None:
    """Refuse what must not be.

    Raises:
        BrokenInvariantError: The condition does not hold.
    """
    if not condition:
        raise BrokenInvariantError(what)
