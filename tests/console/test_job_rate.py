"""How often the runs of each job went well, for all pages that show it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from console.job_rate import REFRESH_S
from tests.history.stage import make_end, run_record, store

if TYPE_CHECKING:
    from tests.console.site import Site


def test_rates_are_the_same_everywhere_and_stay_while_history_is_away(site: Site) -> None:
    """They are added up twice a minute at most; those of before are shown when that cannot be done."""
    ended_at = site.clock.now() - timedelta(minutes=5)
    runs = [make_end(number, outcome, ended_at=ended_at) for number, outcome in enumerate(("ok", "ok", "failed"))]
    store(site.history.database, [run_record(run) for run in runs])
    browser = site.client("viewer")
    assert browser.get("/map/success").json == {"books": 0.6667}
    more = make_end(9, "failed", ended_at=ended_at)
    store(site.history.database, [run_record(more)])
    assert browser.get("/map/success").json == {"books": 0.6667}
    site.clock.advance(REFRESH_S)
    assert browser.get("/map/success").json == {"books": 0.5}
    site.database.rename(site.database.with_suffix(".away"))
    site.clock.advance(REFRESH_S)
    assert dict(site.parts.rates.by_job()) == {"books": 0.5}
