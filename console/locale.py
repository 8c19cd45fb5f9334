"""Language and time zone of whoever looks, and how times and numbers are written for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from babel import Locale
from babel.dates import format_datetime, format_timedelta
from flask import request
from flask_babel import Babel, get_locale

from console.context import actor_or_none, context
from console.text import gettext
from shardsched.core.zone import load_zone
from shardsched.errors import CronExpressionError

if TYPE_CHECKING:
    from datetime import datetime, timedelta, tzinfo

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
    """Return the code of the language: of the profile, else of the cookie, else of the browser."""
    who = actor_or_none()
    for wanted in (who.user.language if who else "", request.cookies.get(LANGUAGE_COOKIE, "")):
        if wanted in LANGUAGES:
            return wanted
    found = request.accept_languages.best_match(["en", "zh-Hans", "zh-CN", "zh-SG", "zh"], default="en")
    return "en" if found == "en" else "zh_Hans"


def locale() -> Locale:
    """Return the locale of whoever looks."""
    return get_locale() or Locale("en")


def theme() -> str:
    """Return how bright it is: ``auto``, ``light`` or ``dark``; of the profile, else of the cookie."""
    who = actor_or_none()
    wanted = who.user.theme if who else request.cookies.get(THEME_COOKIE, "")
    return wanted if wanted in THEMES else "auto"


def zone_name() -> str:
    """Return the name of the zone: of the profile, else of the browser, else UTC."""
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
    return format_datetime(
        at.astimezone(where), "yyyy-MM-dd HH:mm:ss" if seconds else "yyyy-MM-dd HH:mm", locale=locale()
    )


def ago_text(at: datetime) -> str:
    """Return how far a time is from now, such as ``3 minutes ago`` or ``in 2 hours``."""
    away = at - context().clock.now()
    if abs(away.total_seconds()) < 1:
        return gettext("now")
    return format_timedelta(away, add_direction=True, threshold=1.2, locale=locale())


def span_text(span: timedelta) -> str:
    """Return a span of time in words, such as ``3 minutes``."""
    return format_timedelta(span, threshold=1.2, locale=locale())
