"""What is the same for all who look at one picture of the fleet is worked out once."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Subject = TypeVar("Subject")
Value = TypeVar("Value")


def once(make: Callable[[Subject], Value]) -> Callable[[Subject], Value]:
    """Have a function of something that never changes keep its last answer. **Thread:** any."""
    kept: list[tuple[Subject, Value]] = []

    @wraps(make)
    def ask(subject: Subject) -> Value:
        last = kept[-1:]
        if last and last[0][0] is subject:
            return last[0][1]
        value = make(subject)
        kept[:] = [(subject, value)]
        return value

    return ask
