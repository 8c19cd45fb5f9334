"""Time zones by name: IANA names, and the fixed offsets that users of other schedulers write."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shardsched.errors import CronExpressionError
from shardsched.sentence import Sentence

_OFFSET = re.compile(r"(?:GMT|UTC)([+-])(\d{1,2})(?::?([0-5]\d))?", re.ASCII)

_FOREIGN = re.compile(r"(?:localtime|posixrules|Factory)$|(?:posix|right)/")
"""What else a zone database may hold: the machine's own zone, a default, no zone at all, and second copies, of which
``right/`` counts leap seconds and so reads every instant half a minute off."""


@lru_cache(maxsize=1024)
def load_zone(name: str) -> tzinfo:
    """Return the zone of a name such as ``Europe/Paris``, ``UTC`` or ``GMT+8`` (eight hours ahead, as it reads).

    Raises:
        CronExpressionError: There is no such zone.
    """
    if name == "UTC":
        return UTC
    if _FOREIGN.match(name):
        raise _unknown(name)
    match = _OFFSET.fullmatch(name)
    if match:
        hours, minutes = int(match[2]), int(match[3] or 0)
        offset = timedelta(hours=hours, minutes=minutes)
        if offset <= timedelta(hours=18):
            return timezone(offset if match[1] == "+" else -offset)
        raise _unknown(name)
    try:
        if not name or len(name) > 64 or not name.isascii():
            raise _unknown(name)
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _unknown(name) from None


def _unknown(name: object) -> CronExpressionError:
    reason = Sentence("there is no such zone; write an IANA name such as Europe/Paris, UTC, or an offset such as GMT+8")
    return CronExpressionError(expression=str(name)[:64], reason=reason, field=Sentence("timezone"))
