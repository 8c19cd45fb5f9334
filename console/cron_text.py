"""A cron expression in words, for people; when it fires is decided by the scheduler's own engine, never here."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from babel.dates import get_day_names, get_month_names
from cron_descriptor import FormatError, MissingFieldError, Options, WrongArgumentError, get_description

from shardsched.core.cron import Dialect, parse_cron
from shardsched.core.cron_unix import expand_macro
from shardsched.errors import CronExpressionError

if TYPE_CHECKING:
    from babel import Locale

_UNIX_SUNDAY = re.compile(r"(?<![\d/-])7(?![\d-])")
_ENGLISH_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ENGLISH_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)


@lru_cache(maxsize=4096)
def cron_words(expression: str, locale: Locale) -> str | None:
    """Return an expression in words, None where there are none that are surely right.

    cron-descriptor 2.2.1 leaves days and months in English, has no Chinese words for ``L-3``, and takes both day fields
    of a Unix expression to be required together, where either is enough.
    """
    try:
        cron = parse_cron(expression)
    except CronExpressionError:
        return None
    text = expand_macro(expression.strip()) if expression.strip().startswith("@") else expression
    fields = text.split()
    is_unix = cron.dialect is Dialect.UNIX
    if is_unix:
        fields[4] = _without_repeats(_UNIX_SUNDAY.sub("0", fields[4]))
    if _is_misread(fields, is_unix=is_unix, is_chinese=locale.language == "zh"):
        return None
    options = Options()
    options.locale_code = "zh_CN" if locale.language == "zh" else "en_US"
    options.use_24hour_time_format = True
    options.day_of_week_start_index_zero = is_unix
    try:
        words = get_description(" ".join(fields), options)
    except (FormatError, MissingFieldError, WrongArgumentError, ValueError, IndexError):
        return None
    return _localized(words, locale).strip()


def _is_misread(fields: list[str], *, is_unix: bool, is_chinese: bool) -> bool:
    if is_unix:
        return "*" not in (fields[2][0], fields[4][0])
    return is_chinese and "L-" in fields[3]


def _without_repeats(text: str) -> str:
    return ",".join(dict.fromkeys(text.split(",")))


def _localized(words: str, locale: Locale) -> str:
    if locale.language == "en":
        return words
    days, months = get_day_names(locale=locale), get_month_names(locale=locale)
    for number, name in enumerate(_ENGLISH_DAYS):
        words = words.replace(name, days[number])
    for number, name in enumerate(_ENGLISH_MONTHS, 1):
        words = re.sub(rf"\b{name}\b", months[number], words)
    return re.sub(r"(?<=[\u4e00-\u9fff]) | (?=[\u4e00-\u9fff])", "", words.replace(", ", "\uff0c"))
