"""Statistics: figures of a period beside the one before, rankings, and a table for spreadsheets."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console.run_text import bytes_text, offset_text, percent_text, seconds_text, timeline
from tests.console.run_stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.console.site import Site


@pytest.fixture
def stage(site: Site) -> Iterator[Stage]:
    """A past of two hours, in which the second was worse."""
    made = Stage(site)
    for number in range(40):
        made.keep(
            made.run(queued_at=made.now - timedelta(minutes=115 - number), duration_s=2.0),
            made.run(
                queued_at=made.now - timedelta(minutes=50 - number),
                job="=HYPERLINK(1)" if number % 2 else "prices",
                outcome="failed" if number % 4 == 0 else "ok",
                duration_s=8.0,
            ),
        )
    yield made
    made.close()


def test_period_is_compared_with_the_one_before(site: Site, stage: Stage) -> None:
    """Success, failures and durations, with what they were."""
    figures = site.app.test_client().get("/api/v1/stats/summary?range=1h", headers=site.token("viewer")).json
    assert figures is not None
    assert figures["figures"]["runs"] == {"now": 40.0, "before": 40.0}
    assert figures["figures"]["success_rate"] == {"now": 0.75, "before": 1.0}
    assert figures["figures"]["failed"] == {"now": 10.0, "before": 0.0}
    assert figures["figures"]["p50_s"]["now"] > 3 * figures["figures"]["p50_s"]["before"]
    page = site.client("viewer").get("/statistics?range=1h").text
    assert "75%" in page
    assert 'class="delta delta-bad"' in page
    assert page.count("data-chart=") == 2


def test_rankings_are_of_jobs_or_executors(site: Site, stage: Stage) -> None:
    """Names lead to their pages; markup in them is text."""
    browser = site.client("viewer")
    jobs = browser.get("/statistics?range=1h").text
    assert "prices" in jobs
    assert "=HYPERLINK(1)" in jobs
    executors = browser.get("/statistics?range=1h&of=executors").text
    assert 'href="/executors/crawler-a"' in executors
    one_job = browser.get("/statistics?range=1h&job=prices").text
    assert "Top 10" not in one_job
    assert "No run of this job ended in this time" in browser.get("/statistics?range=1h&job=nobody").text


def test_table_is_safe_for_spreadsheets(site: Site, stage: Stage) -> None:
    """No cell is a formula, whatever jobs are called; all jobs and executors are in it."""
    answer = site.client("viewer").get("/statistics/export.csv?range=1h")
    assert answer.mimetype == "text/csv"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {row["name"] for row in rows} == {"'=HYPERLINK(1)", "prices", "crawler-a"}
    [prices] = [row for row in rows if row["name"] == "prices"]
    assert (prices["runs"], prices["failed"], prices["busy_s"]) == ("20", "10", "160.0")


def test_figures_are_written_for_people(site: Site) -> None:
    """Durations, amounts and shares at every size."""
    with site.app.test_request_context("/"):
        spans = (None, 0, 0.0421, 0.5, 12.34, 59.97, 185, 7_500, 200_000)
        assert [seconds_text(span) for span in spans] == [
            "\u2013",
            "0 s",
            "0.042 s",
            "0.50 s",
            "12.3 s",
            "1 min 0 s",
            "3 min 5 s",
            "2 h 5 min",
            "2 d 7 h",
        ]
        assert [bytes_text(count) for count in (0, 999, 1000, 24_100_000, 10**15)] == [
            "0 B",
            "999 B",
            "1.0 KB",
            "24.1 MB",
            "1,000 TB",
        ]
        assert [offset_text(span) for span in (0.024, -1.5, -0.001)] == ["+0.02 s", "-1.50 s", "0.00 s"]
        assert [percent_text(share) for share in (None, 0.5, 0.999999, 1)] == ["\u2013", "50%", "99.99%", "100%"]


def test_attempts_stand_on_one_line_of_time(site: Site, stage: Stage) -> None:
    """From the first claim to the last end, or to now while one goes on; never outside."""
    begin = stage.now - timedelta(seconds=100)
    first = stage.run(queued_at=begin)
    live = stage.running(queued_at=begin + timedelta(seconds=50))
    bars = timeline([first, live], stage.now)
    assert bars[0].wait_at == 0
    assert bars[1].end_at == 99.25
    assert 49 < bars[1].wait_at < 50
    assert all(0 <= bar.start_at <= bar.start_at + bar.width <= 100 for bar in bars)
    assert timeline([], stage.now) == []
