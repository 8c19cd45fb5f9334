"""The demo's job crawls each page once per fire, however its runs end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from examples.pydoc_crawl import crawl_pydoc
from examples.pydoc_site import PydocServer, PydocSite
from shardsched import ShardingContext
from shardsched.demo.audit import audit
from shardsched.demo.record import RecordFolder
from shardsched.execution.stop_flag import StopFlag, StopRequested

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = (
    "abc",
    "bisect",
    "cmd",
    "collections",
    "collections.abc",
    "heapq",
    "json",
    "json.decoder",
    "nt",
    "stat",
    "this",
)
ITEM_COUNT = 3
FIRE = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)


class CountingSite(PydocSite):
    """A site that counts what is asked for, and can call back at a page."""

    def __init__(self) -> None:
        super().__init__(NAMES)
        self.asked: Counter[str] = Counter()
        self.stop_after: tuple[int, StopFlag] | None = None

    def page(self, path: str) -> tuple[int, bytes]:
        """Return a page and count it."""
        self.asked[path] += 1
        if self.stop_after and path[1:-5] in NAMES:
            left, flag = self.stop_after
            self.stop_after = (left - 1, flag)
            if left == 1:
                flag.request()
        return super().page(path)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingSite]:
    """A small site being served, told to the job by its environment variables."""
    site = CountingSite()
    with PydocServer(site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        monkeypatch.setenv("PYDOC_SITE", server.url)
        monkeypatch.setenv("PYDOC_RESULTS", str(tmp_path))
        monkeypatch.setenv("PYDOC_DELAY_S", "0")
        yield site
        server.shutdown()
        thread.join()


def context(item: int, *, attempt: int = 1, flag: StopFlag | None = None) -> ShardingContext:
    """One run of one item of the fire."""
    return ShardingContext(
        job="pydoc",
        item=item,
        items=ITEM_COUNT,
        fire_time=FIRE,
        run_id=f"r{item}-{attempt}",
        attempt=attempt,
        fencing_token=attempt,
        executor=f"e{attempt}",
        stop_flag=flag,
    )


def largest_item() -> int:
    """The item with most pages: four at least, wherever the site's port puts them."""
    urls = [f"{os.environ['PYDOC_SITE']}{name}.html" for name in NAMES]
    return max(range(ITEM_COUNT), key=lambda item: sum(map(context(item).owns, urls)))


def crawled(folder: Path) -> list[str]:
    """The modules whose pages were recorded, in order, whole lines only."""
    pages = RecordFolder(folder).read().pages
    return sorted(page.url.rpartition("/")[2].removesuffix(".html") for page in pages)


def test_crawl_by_all_items_has_every_page_once(site: CountingSite, tmp_path: Path) -> None:
    """The items split the site without gap or overlap, error pages included, and the audit agrees."""
    for item in range(ITEM_COUNT):
        crawl_pydoc(context(item))
    assert crawled(tmp_path) == sorted(NAMES)
    assert all(site.asked[f"/{name}.html"] == 1 for name in NAMES)
    records = RecordFolder(tmp_path).read()
    assert audit(records, frozenset(page.url for page in records.pages), ITEM_COUNT).faults == ()
    lines = [json.loads(line) for path in tmp_path.glob("pages-*") for line in path.read_text().splitlines()]
    assert {line["url"].rpartition("/")[2]: line["status"] for line in lines}["nt.html"] == 500
    assert {line["title"] for line in lines} >= {"Python: abc", "Error"}


def test_crawl_after_a_killed_run_goes_on_behind_its_last_page(site: CountingSite, tmp_path: Path) -> None:
    """Pages of the killed run are neither fetched nor recorded again, and its torn line is crawled anew."""
    for item in range(ITEM_COUNT):
        crawl_pydoc(context(item))
    item, path = max(
        ((item, tmp_path / f"pages-{item}.jsonl") for item in range(ITEM_COUNT)), key=lambda one: one[1].stat().st_size
    )
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) >= 3
    path.write_bytes(b"".join(lines[:2]) + lines[2][:30])
    runs = tmp_path / f"runs-{item}.jsonl"
    runs.write_bytes(runs.read_bytes().splitlines(keepends=True)[0])
    site.asked.clear()
    crawl_pydoc(context(item, attempt=2))
    assert crawled(tmp_path) == sorted(NAMES)
    assert sum(site.asked[f"/{name}.html"] for name in NAMES) == len(lines) - 2
    records = RecordFolder(tmp_path).read()
    assert records.unreadable_count == 1
    assert audit(records, frozenset(page.url for page in records.pages), ITEM_COUNT).faults == ()


def test_crawl_asked_to_stop_ends_and_the_next_attempt_finishes(site: CountingSite, tmp_path: Path) -> None:
    """A stop ends the run after the page at hand, as not finished; what it did counts."""
    flag = StopFlag()
    site.stop_after = (2, flag)
    with pytest.raises(StopRequested):
        crawl_pydoc(context(largest_item(), flag=flag))
    assert len(crawled(tmp_path)) == 2
    assert [run.is_finished for run in RecordFolder(tmp_path).read().runs] == [False]
    for again in range(ITEM_COUNT):
        crawl_pydoc(context(again, attempt=2))
    assert crawled(tmp_path) == sorted(NAMES)


def test_crawl_of_the_next_fire_has_every_page_again(site: CountingSite, tmp_path: Path) -> None:
    """What counts is the fire: another one begins from nothing."""
    for hour in (8, 9):
        ctx = context(largest_item())
        ctx.fire_time = FIRE.replace(hour=hour)
        ctx.run_id = f"r{hour}"
        crawl_pydoc(ctx)
    counts = Counter(crawled(tmp_path))
    assert set(counts.values()) == {2}
    assert sum(site.asked[f"/{name}.html"] for name in counts) == 2 * len(counts)


def test_crawl_without_its_settings_names_the_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which environment variable is missing."""
    monkeypatch.delenv("PYDOC_RESULTS", raising=False)
    with pytest.raises(RuntimeError, match="PYDOC_RESULTS is not set"):
        crawl_pydoc(context(0))


@pytest.mark.parametrize("library", ["httpx", "selectolax.lexbor"])
def test_crawl_without_its_libraries_says_what_to_install(library: str) -> None:
    """The examples extra is optional, and the error names it in one sentence."""
    code = f"import sys; sys.modules[{library!r}] = None; import examples.pydoc_crawl"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last_line = answer.stderr.strip().splitlines()[-1]
    needed = library.partition(".")[0]
    assert last_line == (
        f"ImportError: examples.pydoc_crawl needs {needed}: install it with pip install 'shardsched[examples]'"
    )
