"""Sharding items: their numbers as text, and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shardsched.errors import ItemParameterError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_ITEM_COUNT = 10_000
"""Most items of one job; a fire of more would not fit one transaction's bounds in reasonable chunks."""


def format_items(items: Iterable[int]) -> str:
    """Return items as short text, such as ``0-3,7``."""
    parts: list[str] = []
    first = last = -1
    for item in sorted(set(items)):
        if first >= 0 and item == last + 1:
            last = item
            continue
        if first >= 0:
            parts.append(_span(first, last))
        first = last = item
    if first >= 0:
        parts.append(_span(first, last))
    return ",".join(parts)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def parse_items(text: str) -> tuple[int, ...]:
    """Return the items that a text such as ``0-3,7`` names, in rising order.

    Raises:
        ItemParameterError: It is not such a text, or names an item of 10,000 or above, or more than 10,000 in all.
    """
    items: set[int] = set()
    named_count = 0
    for part in text.split(",") if text else ():
        low, dash, high = part.partition("-")
        if not _is_number(low) or (dash and not _is_number(high)):
            message = Sentence(
                "items %(text)s: %(part)s is not a number or a range; write items such as 0-3,7",
                text=_shown(text),
                part=_shown(part),
            )
            raise ItemParameterError(message)
        first, last = int(low), int(high or low)
        if first > last or last >= MAX_ITEM_COUNT:
            message = Sentence(
                "items %(text)s: %(part)r is not a rising range below %(most)s",
                text=_shown(text),
                part=part,
                most=MAX_ITEM_COUNT,
            )
            raise ItemParameterError(message)
        named_count += last + 1 - first
        if named_count > MAX_ITEM_COUNT:
            # A stored text of half a megabyte could else name the same ten thousand items seventy thousand times.
            message = Sentence(
                "items %(text)s: it names more than %(most)s items; write each once",
                text=_shown(text),
                most=MAX_ITEM_COUNT,
            )
            raise ItemParameterError(message)
        items.update(range(first, last + 1))
    return tuple(sorted(items))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5


def is_item_name(name: str) -> bool:
    """Whether a node's name is that of an item, written as we write it."""
    return _is_number(name) and name == str(int(name))


def parse_item_params(text: str) -> dict[int, str]:
    """Return the parameters that a text such as ``0=a,1=b`` gives to items.

    A value that holds a comma or an equals sign is put in double quotes, a double quote in it is doubled.

    Raises:
        ItemParameterError: It is not such a text, or names an item twice.
    """
    params: dict[int, str] = {}
    for part in _split_unquoted(text):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not _is_number(key):
            message = Sentence(
                "item parameters: %(part)r is not ITEM=VALUE; write them such as 0=a,1=b", part=part.strip()
            )
            raise ItemParameterError(message)
        if int(key) in params:
            message = Sentence("item parameters: item %(item)s is given twice; give each item one value", item=int(key))
            raise ItemParameterError(message)
        params[int(key)] = _unquoted(value.strip())
    return params


def format_item_params(params: Mapping[int, str]) -> str:
    """Return parameters as the text that `parse_item_params` reads."""
    return ",".join(f"{item}={_quoted(value)}" for item, value in sorted(params.items()))


def _split_unquoted(text: str) -> list[str]:
    parts: list[str] = []
    start, is_quoted = 0, False
    for position, character in enumerate(text):
        if character == '"':
            is_quoted = not is_quoted
        elif character == "," and not is_quoted:
            parts.append(text[start:position])
            start = position + 1
    if is_quoted:
        message = Sentence(
            "item parameters: a double quote is not closed; close it, or double it inside a quoted value"
        )
        raise ItemParameterError(message)
    parts.append(text[start:])
    return [part for part in parts if part.strip()] if len(parts) == 1 else parts


def _quoted(value: str) -> str:
    is_plain = value == value.strip() and not any(character in value for character in ',="') and value
    return value if is_plain else '"' + value.replace('"', '""') + '"'


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1].replace('""', '"')
    return value


def check_item_params(params: Any, item_count: int) -> None:
    """Refuse parameters for items that do not exist, or that are not texts.

    Raises:
        ItemParameterError: With the item at fault and the range allowed.
    """
    if not isinstance(params, Mapping):
        raise ItemParameterError(Sentence("item parameters are not a mapping; give each item's text by its number"))
    for item, value in params.items():
        if isinstance(item, bool) or not isinstance(item, int) or not 0 <= item < item_count:
            message = Sentence(
                "item parameters: there is no item %(item)r; with %(count)s items they are 0 to %(last)s",
                item=item,
                count=item_count,
                last=item_count - 1,
            )
            raise ItemParameterError(message)
        if not isinstance(value, str):
            message = Sentence("item parameters: the value for item %(item)s is not a text; give a str", item=item)
            raise ItemParameterError(message)


def check_known_items(job: str, items: Iterable[int], item_count: int) -> None:
    """Refuse items that a job does not have.

    Raises:
        ItemParameterError: With the first of them and the range allowed.
    """
    unknown = sorted(item for item in items if not 0 <= item < item_count)
    if unknown:
        message = Sentence(
            "job %(job)r has no item %(item)s; its items are 0 to %(last)s",
            job=job,
            item=unknown[0],
            last=item_count - 1,
        )
        raise ItemParameterError(message)


def make_item_params(value: Any) -> dict[int, str]:
    """Return item parameters given as a mapping or as text such as ``0=a,1=b``.

    Raises:
        ItemParameterError: They are neither.
    """
    if value is None:
        return {}
    if isinstance(value, str):
        return parse_item_params(value)
    if not isinstance(value, Mapping):
        raise ItemParameterError(
            Sentence("item parameters are neither a mapping nor a text; write them such as 0=a,1=b")
        )
    return dict(value)
