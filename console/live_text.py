"""What is sent to who looks on at the fleet: what changed, and the words that only the console has."""

from __future__ import annotations

import functools
import json
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from babel import Locale
from flask import current_app

from console.context import context
from console.cron_text import cron_words
from console.locale import locale
from console.sentence_text import said
from shardsched.admin.live_value import change_text, changed_jobs
from shardsched.errors import HistoryUnavailableError
from shardsched.history.figure import Ranked

if TYPE_CHECKING:
    from shardsched.admin.live_value import Picture

RATES_EVERY_S = 30.0
RATES_SINCE = timedelta(hours=24)


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


class Rates:
    """The share of runs that succeeded, by job, over the last day; read again every half minute. **Thread:** any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read_at: float | None = None
        self._rates: dict[str, float] = {}

    def get(self) -> dict[str, float]:
        """Return them, from 0 to 1; the last ones while the history database is away."""
        parts = context()
        now = parts.clock.boot()
        with self._lock:
            if self._read_at is not None and now - self._read_at < RATES_EVERY_S:
                return self._rates
            self._read_at = now
        try:
            totals = parts.history.totals(Ranked.JOBS, since=parts.clock.now() - RATES_SINCE)
        except HistoryUnavailableError:
            return self._rates
        self._rates = {name: round(rate, 4) for name, sum_ in totals.items() if (rate := sum_.success_rate) is not None}
        return self._rates


def success_rates() -> dict[str, float]:
    """Return the success rate of each job that ran during the last day."""
    rates: Rates = current_app.extensions.setdefault("success_rates", Rates())
    return rates.get()
