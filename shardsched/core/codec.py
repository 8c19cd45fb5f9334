"""Records as JSON with a format version, read as hostile.

Every stored value may have been written by hand, by a newer release or by nobody sane. `Fields` reads one field at
a time and raises `CorruptNodeError` with the reason; what it returns is of the promised type and range. Unknown
fields are passed over, so that an older release can read what a newer one of the same format adds.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from shardsched.errors import CorruptNodeError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

FORMAT = 1
"""Version of the records' form. A record of a higher one is held, never guessed at."""

_E = TypeVar("_E", bound="StrEnum")


def encode(fields: Mapping[str, Any]) -> bytes:
    """Return the record as compact JSON with its format version; None values are left out."""
    record = {"format": FORMAT} | {key: value for key, value in fields.items() if value is not None}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def time_text(at: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC with its offset."""
    return None if at is None else at.astimezone(UTC).isoformat()


class Fields:
    """The fields of one stored record."""

    def __init__(self, path: str, value: bytes) -> None:
        """Parse the value found at a path.

        Raises:
            CorruptNodeError: It is not a JSON object of a format that this release reads.
        """
        self._path = path
        try:
            record = json.loads(value.decode())
        except (ValueError, RecursionError):
            raise self.corrupt(Sentence("it is not JSON")) from None
        if not isinstance(record, dict):
            raise self.corrupt(Sentence("it is not a JSON object"))
        form = record.get("format")
        if isinstance(form, bool) or not isinstance(form, int) or form < 1:
            raise self.corrupt(Sentence("it has no format version"))
        if form > FORMAT:
            raise self.corrupt(
                Sentence(
                    "it has format %(form)s, written by a newer release; upgrade this one (it reads %(format)s)",
                    form=str(form)[:64],
                    format=FORMAT,
                )
            )
        self._record: dict[str, Any] = record

    def corrupt(self, reason: str) -> CorruptNodeError:
        """Return the error for this record."""
        return CorruptNodeError(path=self._path, reason=reason)

    def has(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return self._record.get(key) is not None

    def _value(self, key: str, kind: type, default: Any) -> Any:
        value = self._record.get(key)
        if value is None:
            if default is _REQUIRED:
                raise self.corrupt(Sentence("%(key)r is missing", key=key))
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.corrupt(Sentence("%(key)r is not of type %(kind)s", key=key, kind=kind.__name__))
        return value

    def text(self, key: str, default: Any = ...) -> str:
        """Return a text that can be encoded."""
        value: str = self._value(key, str, _REQUIRED if default is ... else default)
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise self.corrupt(Sentence("%(key)r holds half a character (a lone surrogate)", key=key)) from None
        return value

    def integer(self, key: str, default: Any = ..., *, low: int = 0, high: int = 2**62) -> int:
        """Return a whole number within bounds."""
        value: int = self._value(key, int, _REQUIRED if default is ... else default)
        if not low <= value <= high:
            raise self.corrupt(
                Sentence(
                    "%(key)r is %(value)s, outside %(low)s to %(high)s",
                    key=key,
                    value=str(value)[:64],
                    low=low,
                    high=high,
                )
            )
        return value

    def number(self, key: str, default: Any = ..., *, low: float = 0.0, high: float = 1e12) -> float:
        """Return a number within bounds."""
        value = self._record.get(key)
        if value is None and default is not ...:
            return float(default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.corrupt(Sentence("%(key)r is not a number", key=key))
        if not low <= value <= high:
            raise self.corrupt(
                Sentence(
                    "%(key)r is %(value)s, outside %(low)g to %(high)g",
                    key=key,
                    value=str(value)[:64],
                    low=low,
                    high=high,
                )
            )
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a truth value."""
        value: bool = self._value(key, bool, default)
        return value

    def time(self, key: str) -> datetime:
        """Return an aware time in UTC."""
        text = self.text(key)
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise self.corrupt(Sentence("%(key)r is not an ISO 8601 time", key=key)) from None
        if at.tzinfo is None:
            raise self.corrupt(Sentence("%(key)r has no offset", key=key))
        try:
            return at.astimezone(UTC)
        except OverflowError:
            raise self.corrupt(Sentence("%(key)r is out of range", key=key)) from None

    def time_or_none(self, key: str) -> datetime | None:
        """Return an aware time in UTC, or None where there is none."""
        return self.time(key) if self.has(key) else None

    def choice(self, key: str, kind: type[_E], default: Any = ...) -> _E:
        """Return a member of an enumeration."""
        text = self.text(key, default)
        try:
            return kind(text)
        except ValueError:
            raise self.corrupt(
                Sentence("%(key)r is %(text)r, not one of %(known)s", key=key, text=text[:64], known=", ".join(kind))
            ) from None

    def mapping(self, key: str) -> dict[str, Any]:
        """Return an object, empty where there is none."""
        value: dict[str, Any] = self._value(key, dict, {})
        return value

    def texts(self, key: str) -> dict[str, str]:
        """Return an object of texts, empty where there is none."""
        value = self.mapping(key)
        for name, text in value.items():
            if not isinstance(text, str):
                raise self.corrupt(
                    Sentence("%(key)r has a value for %(name)r that is not a text", key=key, name=name[:64])
                )
            try:
                (name + text).encode()
            except UnicodeEncodeError:
                raise self.corrupt(Sentence("%(key)r holds half a character (a lone surrogate)", key=key)) from None
        return value

    def objects(self, key: str) -> list[Fields]:
        """Return a list of records nested in this one, empty where there is none."""
        return [self._nested(key, value) for value in self._value(key, list, [])]

    def integers(self, key: str) -> tuple[int, ...] | None:
        """Return a list of whole numbers from 0, or None where there is none."""
        if not self.has(key):
            return None
        values = self._value(key, list, [])
        if any(isinstance(value, bool) or not isinstance(value, int) or value < 0 for value in values):
            raise self.corrupt(Sentence("%(key)r is not a list of whole numbers", key=key))
        return tuple(values)

    def text_list(self, key: str) -> tuple[str, ...]:
        """Return a list of texts that can be encoded, empty where there is none."""
        values = self._value(key, list, [])
        for text in values:
            if not isinstance(text, str):
                raise self.corrupt(Sentence("%(key)r holds something that is not a text", key=key))
            try:
                text.encode()
            except UnicodeEncodeError:
                raise self.corrupt(Sentence("%(key)r holds half a character (a lone surrogate)", key=key)) from None
        return tuple(values)

    def _nested(self, key: str, value: object) -> Fields:
        if not isinstance(value, dict):
            raise self.corrupt(Sentence("%(key)r holds something that is not an object", key=key))
        nested = Fields.__new__(Fields)
        nested._path = self._path  # noqa: SLF001 - the same class
        nested._record = value  # noqa: SLF001 - the same class
        return nested


_REQUIRED = object()
