"""Every text is there in every language."""

from __future__ import annotations

import gettext
import re
from typing import TYPE_CHECKING

import pytest
from babel import Locale

from console.cron_text import cron_words
from console.locale import LANGUAGES
from console.tools.translate import catalogues, extracted, read

if TYPE_CHECKING:
    from pathlib import Path

CATALOGUES = catalogues()
_PLACE = re.compile(r"%\(\w+\)\d*\w|%%")


def test_languages_have_catalogues() -> None:
    """All but English, which the texts are written in."""
    assert {*CATALOGUES, "en"} == set(LANGUAGES)


@pytest.mark.parametrize(("language", "path"), CATALOGUES.items(), ids=list(CATALOGUES))
def test_catalogue_has_every_text_translated(language: str, path: Path) -> None:
    """Otherwise run python -m console.tools.translate, and translate what is empty."""
    catalog = read(language, path)
    known = {message.id for message in catalog if message.id}
    wanted = {message.id for message in extracted() if message.id}
    assert wanted == known
    assert [
        message.id for message in catalog if message.id and (not all(_texts(message.string)) or message.fuzzy)
    ] == []
    odd = [
        message.id
        for message in catalog
        if message.id and any(_places(text) != _places(_texts(message.id)[-1]) for text in _texts(message.string))
    ]
    assert odd == []


@pytest.mark.parametrize(("language", "path"), CATALOGUES.items(), ids=list(CATALOGUES))
def test_compiled_catalogue_is_up_to_date(language: str, path: Path) -> None:
    """What programs read is what people wrote."""
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for message in read(language, path):
        if isinstance(message.id, str) and message.id:
            assert compiled.gettext(message.id) == message.string


@pytest.mark.parametrize(
    ("expression", "english", "chinese"),
    [
        ("*/10 * * * *", "Every 10 minutes", "每10分钟"),
        ("0 6 * * 1-5", "At 06:00, Monday through Friday", "在06:00\uff0c星期一到星期五"),
        ("0 0 * * 0,7", "At 00:00, only on Sunday", "在00:00\uff0c仅在星期日"),
        ("0 30 8 ? * 2-6", "At 08:30, Monday through Friday", "在08:30\uff0c星期一到星期五"),
        ("@hourly", "Every hour", "每小时"),
        ("0 0 13 * 5", None, None),
        ("0 0 12 L-3 * ?", "At 12:00, 3 days before the last day of the month", None),
        ("nonsense", None, None),
    ],
)
def test_cron_in_words_is_right_or_silent(expression: str, english: str | None, chinese: str | None) -> None:
    """Where the library is known to be wrong, nothing is said; the next fires are shown in any case."""
    assert cron_words(expression, Locale("en")) == english
    assert cron_words(expression, Locale.parse("zh_Hans")) == chinese


def _texts(text: str | tuple[str, ...] | list[str] | None) -> list[str]:
    return [text or ""] if isinstance(text, str | None) else list(text)


def _places(text: str) -> set[str]:
    return set(_PLACE.findall(text))
