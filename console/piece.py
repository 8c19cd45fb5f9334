"""Small pieces of pages that stand in every row: made here, as a macro takes several times as long.

What is filled in is escaped by `safe`, piece by piece; nothing else becomes `Markup`.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flask import g
from flask_wtf.csrf import generate_csrf
from markupsafe import Markup

from console import label as labels
from console.asset import icon
from console.locale import ago_text, time_text, zone_name
from console.text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping


def _made(text: str) -> Markup:
    return Markup(text)  # noqa: S704 - of our own words and of escaped values


def moment(at: Any, exact: bool = False, missing: str = "\u2013") -> Markup:
    """Return a time: how far away, with the exact one on hover, or the other way round.

    The browser keeps "3 minutes ago" true, so it is no part of what tells contents apart (``console.part``).

    Args:
        at: The time; where it is none, or not defined, `missing` stands instead.
        exact: Whether the exact time is shown.
        missing: In the language of whoever looks.
    """
    if not isinstance(at, datetime):
        return _made(f'<span class="muted">{safe(missing)}</span>')
    clock, ago, zone = time_text(at), safe(ago_text(at)), safe(zone_name())
    start = f'<time class="nowrap" datetime="{at.isoformat()}"'
    if exact:
        return _made(f'{start} title="{ago} · {zone}" data-ago="title">{clock}</time>')
    return _made(f'{start} title="{clock} · {zone}" data-ago>{ago}</time>')


def away(at: datetime) -> Markup:
    """Return how far away a time is that stands exactly beside it."""
    return _made(f'<time class="nowrap" datetime="{at.isoformat()}" data-ago>{safe(ago_text(at))}</time>')


def state(code: str, title: str = "") -> Markup:
    """Return a state by its code: shape, glyph and word, never colour alone. The codes are in ``console/label.py``."""
    look = labels.state_look(code)
    return _state(look.kind, look.icon, str(look.text), str(title or ""))


@lru_cache(maxsize=4096)
def _state(kind: str, icon_name: str, text: str, title: str) -> Markup:
    return _made(f'<span class="badge badge-{kind}"{_title(title)}>{icon(icon_name)}{safe(text)}</span>')


@lru_cache(maxsize=4096)
def owner(number: int, name: str = "") -> Markup:
    """Return the number of an executor, counted from 1, in its colour."""
    return _made(f'<span class="owner owner-{(number - 1) % 8 + 1}"{_title(name)}>{number}</span>')


def _title(text: str) -> str:
    return f' title="{safe(text)}"' if text else ""


def csrf() -> Markup:
    """Return the field that every form carries."""
    if "csrf_field" not in g:
        g.csrf_field = _hidden("csrf_token", generate_csrf())
    field: Markup = g.csrf_field
    return field


def _hidden(name: str, value: Any) -> Markup:
    return _made(f'<input type="hidden" name="{safe(name)}" value="{safe(value)}">')


def attributes(given: Mapping[str, Any]) -> Markup:
    """Return attributes of an element: underscores become dashes, True stands alone, False and None are left out."""
    pairs = ((safe(name.replace("_", "-")), value) for name, value in given.items())
    kept = ((name, value) for name, value in pairs if value is not None and value is not False)
    return _made("".join(f" {name}" if value is True else f' {name}="{safe(value)}"' for name, value in kept))


def button(text: str = "", icon_name: str = "", kind: str = "", why: str = "", **given: Any) -> Markup:
    """Return a button that stays in its place when it cannot be used, and says why.

    Args:
        text: In the language of whoever looks; without it the icon alone is shown.
        icon_name: Of its icon.
        kind: Of its colour.
        why: Why it cannot be used, empty where it can.
        **given: Attributes of the element; ``label`` is what it is called where there is no text, ``note`` the id of
            the reason, which is one of its own otherwise.
    """
    label, element, mark = given.pop("label", ""), given.pop("type", "submit"), given.pop("note", "")
    classes = f"btn{f' btn-{kind}' if kind else ''}{'' if text else ' btn-square'}"
    named = f' aria-label="{safe(label)}" title="{safe(why or label)}"' if label else _title(why)
    off = note = ""
    if why:
        mark = mark or f"w{_unique()}"
        off = f' aria-disabled="true" aria-describedby="{mark}"'
        note = f'<span class="only-read" id="{mark}">{safe(why)}</span>'
    drawing = icon(icon_name) if icon_name else ""
    more = attributes(given) if given else ""
    start = f'<button class="{classes}" type="{element}"{more}{named}{off}>'
    return _made(f"{start}{drawing}{safe(text)}</button>{note}")


def act(address: str, text: str, icon_name: str = "", kind: str = "", why: str = "", **given: Any) -> Markup:
    """Return a form of nothing but a button that acts.

    Args:
        address: Where it is sent.
        text: See `button`, and so for the next three.
        icon_name: Of its icon.
        kind: Of its colour.
        why: Why it cannot be used.
        **given: What is sent; ``confirm`` is a question that is asked first, ``confirm_name`` a name that must be typed
            then, and ``label`` as for `button`.
    """
    confirm, confirm_name = given.pop("confirm", ""), given.pop("confirm_name", "")
    label = given.pop("label", "")
    question = f' data-confirm="{safe(confirm)}"' if confirm else ""
    if confirm_name:
        question += f' data-confirm-name="{safe(confirm_name)}"'
    sent = {"confirm": "", **given} if confirm_name else given
    fields = "".join([_hidden(name, value) for name, value in sent.items()])
    start = f'<form method="post" action="{safe(address)}" class="d-inline"{question}>'
    return _made(f"{start}{csrf()}{fields}{button(text, icon_name, kind, why, label=label)}</form>\n")


def row_act(address: str, icon_name: str, text: str, why: str = "", confirm: str = "") -> Markup:
    """Return a small button in a row that sends the form ``row``, which stands outside of what is polled.

    Args:
        address: Where it is sent.
        icon_name: Of its icon.
        text: What it is called.
        why: Why it cannot be used, empty where it can.
        confirm: A question that is asked first.
    """
    off = ' aria-disabled="true"' if why else ""
    asked = f' data-confirm="{safe(confirm)}"' if confirm else ""
    start = f'<button class="btn btn-square" type="submit" form="row" formaction="{safe(address)}"'
    named = f'aria-label="{safe(text)}" title="{safe(why or text)}"'
    return _made(f"{start} {named}{off}{asked}>{icon(icon_name)}</button>")


def row_link(address: str, icon_name: str, text: str) -> Markup:
    """Return a link in a row that looks like `row_act`."""
    named = f'aria-label="{safe(text)}" title="{safe(text)}"'
    return _made(f'<a class="btn btn-square" href="{safe(address)}" {named}>{icon(icon_name)}</a>')


def together(*pieces: Markup) -> Markup:
    """Return pieces one after the other; what is no HTML yet becomes it."""
    return Markup("\n").join(pieces)


def _unique() -> int:
    """Return a number that no other element of the page has."""
    g.unique = g.get("unique", 0) + 1
    return int(g.unique)
