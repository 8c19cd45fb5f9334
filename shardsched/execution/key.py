"""Which sharding item a key belongs to: the same answer on every machine, Python and day.

Python's own ``hash`` will not do, since it differs between processes. Keys that Python calls equal are one key here
too: ``1``, ``True`` and ``1.0`` go to the same item, and so do a named tuple and the plain tuple of its values. A text
and the bytes of it are not equal and are two keys. Only types whose value is plain are taken; for the others the
caller must say what makes two of them the same.
"""

from __future__ import annotations

import math
import struct
from hashlib import blake2b
from typing import TypeAlias, Union

Key: TypeAlias = Union[str, bytes, int, float, "tuple[Key, ...]"]
"""What can be hashed the same everywhere: text, bytes, numbers (no NaN), and tuples of these."""

_LENGTH = struct.Struct(">Q")
_DOUBLE = struct.Struct(">d")


def item_of(key: Key, item_count: int) -> int:
    """Return the item, from 0 to ``item_count - 1``, to which a key belongs.

    Raises:
        TypeError: The key is of another type than `Key` names, or is NaN, which equals nothing.
    """
    digest = blake2b(_canonical(key), digest_size=8).digest()
    return int.from_bytes(digest, "big") % item_count


def _canonical(key: object) -> bytes:
    """Return bytes that are equal exactly where the keys are."""
    # The base type's method is named, since a subclass (an enum member, say) may print itself differently.
    if isinstance(key, str):
        return b"s" + str.encode(key, "utf-8", "surrogatepass")
    if isinstance(key, bytes):
        return b"b" + key
    if isinstance(key, int):
        # Hexadecimal, since Python refuses to write out very long decimal numbers.
        return b"i" + format(int.__index__(key), "x").encode()
    if isinstance(key, float):
        return _canonical_float(key)
    if isinstance(key, tuple):
        parts = [_canonical(part) for part in key]
        return b"t" + b"".join(_LENGTH.pack(len(part)) + part for part in parts)
    message = (
        f"a key of type {type(key).__name__} has no hash that is the same everywhere; "
        "give a str, bytes, int, float or a tuple of these, such as key=lambda row: row.id"
    )
    raise TypeError(message)


def _canonical_float(key: float) -> bytes:
    if math.isnan(key):
        message = "NaN is no key: it equals nothing, not even itself; leave such rows out or give another key"
        raise TypeError(message)
    if float.is_integer(key):
        return _canonical(int(key))
    return b"f" + _DOUBLE.pack(key)
