"""Names for jobs that had none, or none that can be taken."""

from __future__ import annotations

from shardsched.core.name import name_fault

_MAX_LENGTH = 60
"""Longest name made of a text, in characters; a longer one fits no column."""


def name_of(text: str) -> str:
    """Return a name made of a text: its letters and digits, with dashes for all else; empty where it has none."""
    letters = "".join(letter if letter.isalnum() and not name_fault(letter) else _stand_in(letter) for letter in text)
    words = [word for word in letters.split("-") if word]
    return "-".join(words)[:_MAX_LENGTH].strip("-._")


def _stand_in(letter: str) -> str:
    return letter if letter in "_." else "-"


class Names:
    """The names that one file gives, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """Return a name, with a number after it where it is taken; it is taken from now on."""
        name, number = wanted, self._last.get(wanted, 1)
        while name in self._taken:
            number += 1
            name = f"{wanted}-{number}"
        self._last[wanted] = number
        self._taken.add(name)
        return name
