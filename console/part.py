"""Parts of pages that keep themselves up to date: made again only where something that they show has changed.

A part is asked for every few seconds by every open page. Its tag is a digest of the values that its template is given,
and of who looks; it costs a fraction of the rendering, and whoever has that content already gets 304. Times are no part
of it: "3 minutes ago" is kept true by the browser (``console.js``), so templates show them by ``ui.moment`` only.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from functools import cache
from operator import attrgetter
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import TYPE_CHECKING, Any

from flask import current_app, render_template, request
from flask_babel import LazyString

from console.away import away
from console.context import actor_or_none, context
from console.locale import language, zone_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flask import Response

_BOOT = secrets.token_hex(8)
"""Tags of another process mean nothing: templates may be others."""
_PLAIN = frozenset({str, int, float, bool, NoneType, datetime, date, timedelta, bytes})
"""What is told apart as it is written."""
_CODE = (ModuleType, FunctionType, BuiltinFunctionType, type)
"""What does not change while the console runs."""


def page_or_part(
    page: str, part: str, values: Mapping[str, Any], more: Callable[[], Mapping[str, Any]] = dict
) -> str | Response:
    """Return a whole page, or only its changing part where htmx asks for that; 304 if that has not changed.

    Args:
        page: The template of the page, which includes that of the part and gives `part_tag` to its element.
        part: The template of the part. What it shows must come from the values and from who looks.
        values: For both: values, collections and dataclasses of them, functions and modules.
        more: Gives what only the page shows; not asked for a part.

    Raises:
        TypeError: A value is of a kind that cannot be told apart.
    """
    if "HX-Request" in request.headers:
        return part_or_seen(part, values)
    return render_template(page, **values, **more(), part_tag=part_tag(values))


def part_or_seen(part: str, values: Mapping[str, Any]) -> Response:
    """Return a part of a page, or 304 if whoever asks has that content already; see `page_or_part`."""
    tag = part_tag(values)
    is_seen = request.headers.get("HX-PTag") == tag
    response = current_app.make_response("" if is_seen else render_template(part, **values))
    response.status_code = 304 if is_seen else 200
    response.headers["HX-PTag"] = tag
    return response


def part_tag(values: Mapping[str, Any]) -> str:
    """Return what tells the contents of a part apart: of these values, at this address, for who looks."""
    who, sight = actor_or_none(), context().fleet.sight(wait_s=0)
    viewer = (who.user.id, who.role.value) if who else None
    place = (request.path, sorted(request.args.items(multi=True)))
    around = (_BOOT, place, viewer, language(), zone_name(), sight.fault, sight.status is None, away().history)
    return hashlib.blake2b(repr((around, plain(values))).encode("utf-8", "replace"), digest_size=12).hexdigest()


def plain(value: Any) -> Any:
    """Return a value as what is written alike only where it is alike: tuples of plain values.

    A class whose objects have a `shown_key` is told apart by that.

    Raises:
        TypeError: There is no rule for its kind.
    """
    kind: Any = type(value)
    return value if kind in _PLAIN else _rule(kind)(value)


@cache
def _rule(kind: Any) -> Callable[[Any], Any]:
    """Return how a value of a kind is made plain."""
    if hasattr(kind, "shown_key"):
        return attrgetter("shown_key")
    if issubclass(kind, _CODE):
        return lambda _code: None
    if issubclass(kind, Enum):
        return attrgetter("value")
    if issubclass(kind, (str, LazyString)):
        return str
    if is_dataclass(kind):
        return _fields_of(kind)
    for some, rule in _COLLECTIONS.items():
        if issubclass(kind, some):
            return rule
    raise TypeError(f"a part shows a {kind.__name__}, which has no rule for its tag")


def _fields_of(kind: Any) -> Callable[[Any], Any]:
    names = tuple(field.name for field in fields(kind))
    if not names:
        return lambda _value: ()
    get = attrgetter(*names)
    return (lambda value: (plain(get(value)),)) if len(names) == 1 else (lambda value: _sequence(get(value)))


def _sequence(values: Any) -> tuple[Any, ...]:
    return tuple([each if type(each) in _PLAIN else plain(each) for each in values])


def _mapping(values: Any) -> tuple[Any, ...]:
    return tuple([(plain(key), plain(value)) for key, value in values.items()])


_COLLECTIONS: dict[type, Callable[[Any], Any]] = {
    tuple: _sequence,
    list: _sequence,
    dict: _mapping,
    frozenset: lambda values: sorted(map(repr, values)),
    set: lambda values: sorted(map(repr, values)),
}
