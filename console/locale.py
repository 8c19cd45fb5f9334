"""Language and time zone of whoever looks, and how times and numbers are written for them."""

from __future__ import annotations

import math
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from babel import Locale
from babel.dates import format_timedelta
from babel.numbers import format_decimal, format_percent
from flask import g, request
from flask_babel import Babel, get_locale

from console.context import actor_or_none, context
from console.text import gettext
from shardsched.core.zone import load_zone
from shardsched.errors import CronExpressionError

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from flask import Flask

LANGUAGES = {"en": "English", "zh_Hans": "简体中文"}
"""By code, what each calls itself."""
LANGUAGE_COOKIE = "language"
ZONE_COOKIE = "zone"
THEME_COOKIE = "theme"
THEMES = ("auto", "light", "dark")


def init_locale(app: Flask) -> None:
    """Have texts come in the language of whoever looks."""
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = "translations"
    Babel(app, locale_selector=language)


def language() -> str:
    """Return the code of the language: as a program with a token asks, else as in the profile, cookie or browser."""
    who = actor_or_none()
    is_program = who is not None and who.token is not None and bool(request.accept_languages)
    for wanted in ("" if who is None or is_program else who.user.language, request.cookies.get(LANGUAGE_COOKIE, "")):
        if wanted in LANGUAGES:
            return wanted
    found = request.accept_languages.best_match(["en", "zh-Hans", "zh-CN", "zh-SG", "zh"], default="en")
    return "en" if found == "en" else "zh_Hans"


def locale() -> Locale:
    """Return the locale of whoever looks."""
    if "locale" not in g:
        g.locale = get_locale() or Locale("en")
    found: Locale = g.locale
    return found


def theme() -> str:
    """Return how bright it is: ``auto``, ``light`` or ``dark``; of the profile, else of the cookie."""
    who = actor_or_none()
    wanted = who.user.theme if who else request.cookies.get(THEME_COOKIE, "")
    return wanted if wanted in THEMES else "auto"


def zone_name() -> str:
    """Return the name of the zone: of the profile, else of the browser, else UTC."""
    if "zone_name" not in g:
        g.zone_name = _wanted_zone()
    return str(g.zone_name)


def _wanted_zone() -> str:
    who = actor_or_none()
    for wanted in (who.user.zone if who else "", request.cookies.get(ZONE_COOKIE, "")):
        if wanted and is_zone(wanted):
            return wanted
    return "UTC"


def zone() -> tzinfo:
    """Return the zone of whoever looks."""
    return load_zone(zone_name())


def is_zone(name: str) -> bool:
    """Whether there is a zone of that name."""
    try:
        load_zone(name)
    except CronExpressionError:
        return False
    return True


def time_text(at: datetime, zone_of: tzinfo | str | None = None, *, seconds: bool = True) -> str:
    """Return a time in a zone, that of whoever looks if none is told, such as ``2026-12-01 14:02:11``."""
    where = load_zone(zone_of) if isinstance(zone_of, str) else (zone_of or zone())
    return at.astimezone(where).replace(tzinfo=None).isoformat(" ", "seconds" if seconds else "minutes")


def ago_text(at: datetime) -> str:
    """Return how far a time is from now, such as ``3 minutes ago`` or ``in 2 hours``; ``time.js`` says the same."""
    away_s = int((at - context().clock.now()).total_seconds())
    if away_s == 0:
        return gettext("now")
    count, unit = rough(abs(away_s))
    return _away_text(count, unit, locale(), is_past=away_s < 0)


UNITS = {
    "year": 31_536_000,
    "month": 2_592_000,
    "week": 604_800,
    "day": 86_400,
    "hour": 3_600,
    "minute": 60,
    "second": 1,
}
"""Seconds of each, the longest first."""


def rough(seconds: int) -> tuple[int, str]:
    """Return a span in the longest unit of which it has at least 1.2, rounded; half a unit counts as one."""
    unit = next((unit for unit, size in UNITS.items() if 5 * seconds >= 6 * size), "second")
    return (2 * seconds + UNITS[unit]) // (2 * UNITS[unit]), unit


@lru_cache(maxsize=4096)
def _away_text(count: int, unit: Any, where: Locale, *, is_past: bool) -> str:
    span = timedelta(seconds=count * UNITS[unit])
    return format_timedelta(
        -span if is_past else span, granularity=unit, threshold=math.inf, add_direction=True, locale=where
    )


def span_text(span: timedelta) -> str:
    """Return a span of time in words, such as ``3 minutes``."""
    return format_timedelta(span, threshold=1.2, locale=locale())


def number_text(number: float, pattern: str | None = None) -> str:
    """Return a number as people write it, by a pattern of Unicode's, such as ``#,##0.0``."""
    return _number_text(number, pattern, locale())


@lru_cache(maxsize=8192)
def _number_text(number: float, pattern: str | None, where: Locale) -> str:
    return str(format_decimal(number, format=pattern, locale=where))


def share_text(share: float, pattern: str) -> str:
    """Return a share of one in percent, by a pattern of Unicode's."""
    return _share_text(share, pattern, locale())


@lru_cache(maxsize=8192)
def _share_text(share: float, pattern: str, where: Locale) -> str:
    return str(format_percent(share, format=pattern, locale=where))
