"""Which exit code an error has, and how it is told."""

from __future__ import annotations

from shardsched.errors import (
    ConfigurationError,
    ConflictError,
    NotFoundError,
    RegistryUnavailableError,
    SessionLostError,
)

DONE = 0
FAILED = 1
WRONG_USAGE = 2
UNREACHABLE = 3
NOT_FOUND = 4
CONFLICT = 5

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (ConfigurationError, WRONG_USAGE),
    (RegistryUnavailableError, UNREACHABLE),
    (SessionLostError, UNREACHABLE),
    (NotFoundError, NOT_FOUND),
    (ConflictError, CONFLICT),
)


def exit_code(error: Exception) -> int:
    """Return the exit code of an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def one_line(text: str) -> str:
    """Return a text as one line without control characters."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Return a text with everything escaped that a terminal might obey or cannot show."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "backslashreplace").decode()
        for letter in text
    )
