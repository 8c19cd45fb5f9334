"""Every page of a site, found by following its links: what a crawl of it must find.

It shares no code with the crawl that it is the measure of.
"""

from __future__ import annotations

import http.client
import re
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

_HREF = re.compile(rb'href="([^"]+)"')
_INDEX = re.compile(r"/(index-\w\.html)?")


def link_closure(home: str, on_page: Callable[[int], None]) -> frozenset[str]:
    """Return the addresses of all pages below the home page, without the index pages themselves.

    Args:
        home: Address of the first page.
        on_page: Told the number of pages read, after each.

    Raises:
        OSError: The site does not answer.
    """
    site = urlsplit(home).netloc
    connection = http.client.HTTPConnection(site, timeout=60.0)
    found, waiting = {home}, [home]
    try:
        for count in range(1, 100_000):
            url = waiting.pop()
            for link in _links(connection, url):
                if link not in found and urlsplit(link).netloc == site:
                    found.add(link)
                    waiting.append(link)
            on_page(count)
            if not waiting:
                break
    finally:
        connection.close()
    return frozenset(url for url in found if not _INDEX.fullmatch(urlsplit(url).path))


def _links(connection: http.client.HTTPConnection, url: str) -> set[str]:
    connection.request("GET", urlsplit(url).path)
    body = connection.getresponse().read()
    return {urldefrag(urljoin(url, target.decode(errors="replace"))).url for target in _HREF.findall(body)}
