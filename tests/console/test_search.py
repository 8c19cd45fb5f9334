"""What the search in the top bar finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.page.search import HITS
from tests.console.crew import Crew
from tests.history.stage import make_end, run_record, store

if TYPE_CHECKING:
    from tests.console.site import Site


def test_search_finds_by_name_and_id(site: Site) -> None:
    """Pages, jobs and executors by any part of their names, a run by its whole id; of many a few, and where all are."""
    crew = Crew(site)
    crew.join("crawler-a")
    for number in range(HITS + 3):
        crew.job(f"shop-{number}", {"crawler-a": (0,)})
    crew.show()
    store(site.history.database, [run_record(make_end(7, job="shop-1"))])
    browser = site.client("viewer")
    jobs = browser.get("/search?q=SHOP").text
    assert jobs.count('href="/jobs/shop-') == HITS
    assert 'href="/jobs?q=SHOP">and 3 more' in jobs
    assert "Users" not in browser.get("/search?q=user", headers={"HX-Request": "true"}).text
    assert 'href="/executors/crawler-a"' in browser.get("/search?q=rawler").text
    assert 'href="/executions/run-000007"' in browser.get("/search?q=run-000007").text
    assert "no execution has that id" in browser.get("/search?q=run-00000").text
    assert "Type at the top" in browser.get("/search").text
