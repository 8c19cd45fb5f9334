"""Two people changed one job: what each of them changed, setting by setting. This module decides; it does not act."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MINE = "mine"
THEIRS = "theirs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One setting in which two versions differ."""

    setting: str
    """Its name, as people use it."""
    base: Any
    """What both began with, None where that is not known."""
    mine: Any
    """The value of whoever comes later."""
    theirs: Any
    """The value that is stored."""
    pick: str
    """`MINE` or `THEIRS` where only one of them changed it; empty where both did, and a person must say."""


def differences(base: Mapping[str, Any] | None, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[Difference]:
    """Return the settings in which mine and theirs differ.

    Args:
        base: What both began with, None where that is not known: then every difference is a question.
        mine: All settings as one person wants them, as JSON.
        theirs: All settings as they are stored, as JSON.
    """
    found = []
    for setting in theirs:
        if setting not in mine or mine[setting] == theirs[setting]:
            continue
        pick, before = "", None
        if base is not None and setting in base:
            before = base[setting]
            pick = MINE if before == theirs[setting] else THEIRS if before == mine[setting] else ""
        found.append(Difference(setting=setting, base=before, mine=mine[setting], theirs=theirs[setting], pick=pick))
    return found


def undecided(found: Iterable[Difference], picks: Mapping[str, str]) -> list[str]:
    """Return the settings for which nobody has said whose value counts."""
    return [one.setting for one in found if picks.get(one.setting) not in {MINE, THEIRS}]


def base_of(text: str) -> dict[str, Any] | None:
    """Return what a form says that its writer began with, None where it cannot be read."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
