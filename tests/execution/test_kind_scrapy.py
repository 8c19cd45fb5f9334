"""Runs that are Scrapy spiders."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from examples.pydoc_site import PydocServer, PydocSite
from shardsched.execution.pool import Outcome
from tests.execution.pool_harness import stopwatch
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.execution.pool import RunEnded
    from tests.execution.pool_harness import PoolUnderTest

SPIDERS = "tests.execution.spiders"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """A site of few pages."""
    with PydocServer(PydocSite(("json", "this_is_missing", "zipapp"))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


@pytest.fixture
def crawl(make_pool: Callable[..., PoolUnderTest], site: str) -> Callable[..., tuple[PoolUnderTest, RunEnded]]:
    """Runs a spider to its end, with Scrapy imported once."""
    pool = make_pool(modules=["scrapy", SPIDERS])
    pool.start()

    def run(spider: str, param: str = "", **task: Any) -> tuple[PoolUnderTest, RunEnded]:
        args = {"site": site} | task.pop("args", {})
        run_id = pool.launch("@scrapy", param, task={"spider": spider, "args": args, **task})
        return pool, pool.ended(run_id, 60)

    return run


def test_spider_crawls_and_its_counts_are_kept(crawl: Callable[..., tuple[PoolUnderTest, RunEnded]]) -> None:
    """It visits the site, its log is the run's, and what Scrapy counted is in the record."""
    pool, end = crawl(f"{SPIDERS}:Pages")
    assert (end.outcome, end.message) == (Outcome.OK, "")
    assert end.stats["finish_reason"] == "finished"
    assert end.stats["response_received_count"] > end.stats["item_scraped_count"] >= 5
    log = pool.log(end)
    assert "for item 0 of 1" in log
    assert "listening" not in log
    assert "DEBUG scrapy" not in log


def test_spider_gets_its_run_and_its_own_arguments(crawl: Callable[..., tuple[PoolUnderTest, RunEnded]]) -> None:
    """What tells of the run are arguments, as are those of the task; settings of the task win."""
    pool, end = crawl(
        f"{SPIDERS}:Told", "fiction", args={"shelf": "top"}, settings={"LOG_LEVEL": "DEBUG", "USER_AGENT": "shelf-bot"}
    )
    assert end.outcome is Outcome.OK
    log = pool.log(end)
    assert "'item': 0, 'items': 1, 'param': 'fiction'" in log
    assert "'fire_time': '2026-01-01T00:00:00+00:00', 'run_id': 'run1', 'fencing_token': 0, 'shelf': 'top'" in log
    assert "DEBUG scrapy.core.engine: Crawled (200)" in log


@pytest.mark.parametrize(
    ("spider", "settings", "word"),
    [
        (f"{SPIDERS}:Gone", {}, "could not run: no such shelf"),
        (f"{SPIDERS}:Torn", {}, "reason 'start_error'"),
        (f"{SPIDERS}:Endless", {"CLOSESPIDER_PAGECOUNT": 2}, "reason 'closespider_pagecount'"),
        (f"{SPIDERS}:Missing", {}, "cannot be imported"),
        ("no.such.module:Pages", {}, "cannot be imported"),
        ("no-spider-of-the-project", {}, "no-spider-of-the-project"),
    ],
)
def test_spider_that_does_not_finish_has_failed(
    crawl: Callable[..., tuple[PoolUnderTest, RunEnded]], spider: str, settings: dict[str, Any], word: str
) -> None:
    """One that cannot begin, or is closed for another reason than that it has finished, has failed with that."""
    _, end = crawl(spider, settings=settings)
    assert end.outcome is Outcome.FAILED
    assert word in end.message


def test_spider_that_fails_on_pages_has_finished(crawl: Callable[..., tuple[PoolUnderTest, RunEnded]]) -> None:
    """What a callback raises is Scrapy's to pass over, and is counted."""
    pool, end = crawl(f"{SPIDERS}:Clumsy")
    assert end.outcome is Outcome.OK
    assert end.stats["spider_exceptions/LookupError"] == 1
    assert "no such shelf" in pool.log(end)


def test_spider_is_closed_in_order_when_stopped(make_pool: Callable[..., PoolUnderTest], site: str) -> None:
    """A request to stop closes the spider as Scrapy does, long before the grace is over, and its counts are kept."""
    pool = make_pool(modules=["scrapy", SPIDERS])
    pool.start()
    run_id = pool.launch("@scrapy", task={"spider": f"{SPIDERS}:Endless", "args": {"site": site}})
    log = Path(pool.pool._log_dir / f"{run_id}.log")
    eventually(lambda: log.exists() and "visited" in log.read_text(), 60)
    begun = stopwatch()
    pool.pool.stop_run(run_id, "asked by the test", 50)
    end = pool.ended(run_id, 60)
    assert end.outcome is Outcome.STOPPED
    assert stopwatch() - begun < 20
    assert end.stats["finish_reason"] == "shutdown"
    assert "closed in order: shutdown" in pool.log(end)
