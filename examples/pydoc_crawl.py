"""The job that ``shardsched demo`` shows: a crawl of the pydoc site, each page once per fire, whoever dies.

Every item reads the index pages and crawls the pages that are its own. What it has crawled stands in a file of its
own, so that a run which takes over from a killed one goes on after the last page written.

Three environment variables say what to crawl and where to put it: ``PYDOC_SITE`` (address of the site),
``PYDOC_RESULTS`` (a folder), and ``PYDOC_DELAY_S`` (seconds between two pages, 0.1 unless told).
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin, urlsplit

from examples.json_lines import JsonLines
from shardsched import ShardingContext, sharded_job

try:
    import httpx
    from selectolax.lexbor import LexborHTMLParser
except ImportError as missing:
    name = str(missing.name).partition(".")[0]
    message = f"examples.pydoc_crawl needs {name}: install it with pip install 'shardsched[examples]'"
    raise ImportError(message) from None

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_DELAY_S = 0.1
"""Pause between two pages of one item; a real site deserves a longer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page as it was found."""

    url: str
    """Its address."""
    status: int
    """The HTTP status."""
    title: str
    """Its title."""
    links: tuple[str, ...]
    """Pages of the same site to which it links, in order, each once."""
    size: int
    """Bytes of its body."""


class Browser:
    """Fetches pages of one site.

    Attributes:
        home: Address of its first page.
    """

    def __init__(self, home: str) -> None:
        self.home = home
        # The crawl is of this machine: a proxy in the environment would not reach it.
        self._client = httpx.Client(timeout=30.0, trust_env=False)

    def __enter__(self) -> Browser:
        """Use the connection for a while."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._client.close()

    def fetch(self, url: str) -> Page:
        """Return a page, whatever its status.

        Raises:
            httpx.HTTPError: The site does not answer; the run fails, and what it has written stays.
        """
        answer = self._client.get(url)
        tree = LexborHTMLParser(answer.content)
        title = tree.css_first("title")
        return Page(
            url=url,
            status=answer.status_code,
            title=title.text(strip=True) if title else "",
            links=self._links(url, (node.attributes.get("href") or "" for node in tree.css("a"))),
            size=len(answer.content),
        )

    def _links(self, url: str, targets: Iterable[str]) -> tuple[str, ...]:
        found = dict.fromkeys(urldefrag(urljoin(url, target)).url for target in targets if target)
        site = urlsplit(self.home).netloc
        return tuple(link for link in found if urlsplit(link).netloc == site and link != url)

    def all_pages(self) -> list[str]:
        """Return the pages that the index pages list, sorted."""
        pages: set[str] = set()
        for index in self.fetch(self.home).links:
            pages.update(self.fetch(index).links)
        return sorted(pages)


class Notebook:
    """What one item has crawled (``pages-{item}.jsonl``) and when its runs went (``runs-{item}.jsonl``)."""

    def __init__(self, folder: Path, ctx: ShardingContext) -> None:
        self._pages = JsonLines(folder / f"pages-{ctx.item}.jsonl")
        self._runs = JsonLines(folder / f"runs-{ctx.item}.jsonl")
        self._fire = ctx.fire_time.isoformat()
        self._run: dict[str, Any] = {
            "job": ctx.job,
            "item": ctx.item,
            "executor": ctx.executor,
            "fire": self._fire,
            "run_id": ctx.run_id,
            "attempt": ctx.attempt,
            "cause": str(ctx.cause),
            "token": ctx.fencing_token,
        }

    def crawled(self) -> set[str]:
        """Return the pages that this item has of this fire, by whichever run."""
        return {str(record.get("url")) for record in self._pages.read() if record.get("fire") == self._fire}

    def begin(self) -> None:
        """Record that the run goes."""
        self._runs.append({"event": "start", **self._run, "start": _now()})

    def end(self, *, is_finished: bool) -> None:
        """Record that the run is over, and whether it did all that it had to."""
        self._runs.append({"event": "end", **self._run, "end": _now(), "finished": is_finished})

    def add(self, page: Page, started: str) -> None:
        """Record a page."""
        found = {"url": page.url, "title": page.title, "links": len(page.links), "bytes": page.size}
        self._pages.append({**self._run, **found, "status": page.status, "started": started, "ended": _now()})


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _setting(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        message = f"the environment variable {name} is not set; 'shardsched demo' sets it"
        raise RuntimeError(message) from None


@sharded_job("pydoc", cron="*/10 * * * * ?", items=6, misfire="all", timeout=120)
def crawl_pydoc(ctx: ShardingContext) -> None:
    """Crawl the pages of this item that this fire has not yet."""
    notebook = Notebook(Path(_setting("PYDOC_RESULTS")), ctx)
    delay_s = float(os.environ.get("PYDOC_DELAY_S") or DEFAULT_DELAY_S)
    pause = threading.Event()
    notebook.begin()
    is_finished = False
    try:
        with Browser(_setting("PYDOC_SITE")) as browser:
            crawled = notebook.crawled()
            for url in ctx.mine(browser.all_pages()):
                if url in crawled:
                    continue
                ctx.checkpoint()
                started = _now()
                notebook.add(browser.fetch(url), started)
                pause.wait(delay_s)
        is_finished = True
    finally:
        notebook.end(is_finished=is_finished)
