"""What is sent to who looks on at the fleet: what changed, and the words that only the console has."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

from babel import Locale

from console.cron_text import cron_words
from console.locale import locale
from console.sentence_text import said
from shardsched.admin.live_value import change_text, changed_jobs

if TYPE_CHECKING:
    from shardsched.admin.live_value import Picture


def live_text(picture: Picture, version: str | None) -> str:
    """Return what changed since a picture as JSON, with what is said in English there in the reader's language."""
    jobs = changed_jobs(picture, version)
    language = str(locale())
    crons = {job.status.entry.config.cron for job in jobs if job.status.entry.config}
    words = {cron: text for cron in crons if (text := _words(cron, language))}
    # Sentences that are equal as English texts were made of the same template and values.
    reasons = {text for text in (picture.fault, *(job.status.reason for job in jobs)) if text}
    told = {str(text): own for text in reasons if (own := said(text)) != text}
    more = json.dumps({"words": words, "said": told}, ensure_ascii=False)
    return f"{change_text(picture, version)[:-1]},{more[1:]}"


def schedule_words(cron: str) -> str | None:
    """Return a cron expression in words of the reader's language, None where there are none that are surely right."""
    return _words(cron, str(locale()))


@functools.lru_cache(maxsize=8_192)
def _words(cron: str, language: str) -> str | None:
    return cron_words(cron, Locale.parse(language)) if cron else None
