"""Spiders for the tests: each ends in one way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import scrapy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class Pages(scrapy.Spider):
    """Visits those pages of a site that are its item's own."""

    name = "pages"

    def __init__(self, *args: Any, site: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.site = site

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Begin with the first page."""
        yield scrapy.Request(self.site)

    def parse(self, response: Response) -> Iterator[Any]:
        """Follow the links whose number is the item's; yield what each page is called."""
        self.logger.info("visits %s for item %s of %s", response.url, self.item, self.items)  # type: ignore[attr-defined]
        yield {"title": response.css("title::text").get()}
        links = response.css("li a::attr(href)").getall()
        for number, link in enumerate(links):
            if number % self.items == self.item:  # type: ignore[attr-defined]  # arguments become attributes
                yield response.follow(link)


class Told(Pages):
    """Tells its arguments."""

    name = "told"

    def parse(self, response: Response) -> Iterator[Any]:
        """Log them."""
        names = ("item", "items", "param", "job_param", "fire_time", "run_id", "fencing_token", "shelf")
        self.logger.info("told %s", {name: getattr(self, name) for name in names})
        return iter(())


class Gone(scrapy.Spider):
    """Cannot be made."""

    name = "gone"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        message = "no such shelf"
        raise LookupError(message)


class Torn(Pages):
    """Fails while it makes its first requests."""

    name = "torn"

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Raise."""
        if self.site:
            message = "no such shelf"
            raise LookupError(message)
        yield scrapy.Request(self.site)


class Clumsy(Pages):
    """Fails on each page, which Scrapy counts and passes over."""

    name = "clumsy"

    def parse(self, response: Response) -> Iterator[Any]:
        """Raise."""
        message = "no such shelf"
        raise LookupError(message)


class Endless(Pages):
    """Visits one page again and again, and says so when it is closed."""

    name = "endless"

    async def parse(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]  # as Scrapy allows
        """Ask once more."""
        self.logger.info("visited")
        await asyncio.sleep(0.02)
        yield response.follow("/", dont_filter=True)

    def closed(self, reason: str) -> None:
        """Say why."""
        self.logger.info("closed in order: %s", reason)
