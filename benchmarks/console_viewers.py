"""Fifty people who look at the console of 1,000 jobs of 100 items for some minutes; print figures.

Run by hand: ``python -m benchmarks.console_viewers [MINUTES]``. One ZooKeeper, 50 executors that exist in it only, of
whose items a hundred begin and a hundred end each second; the console as a process of its own on gunicorn, a million
runs in SQLite. Every viewer signs in, opens a page and asks for its parts as a browser does that stays on it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from benchmarks.console_lists import RUNS, large_console
from benchmarks.console_map import PASSWORD
from benchmarks.stage.fleet import pause

if TYPE_CHECKING:
    from benchmarks.console_map import Client
    from benchmarks.stage.crowd import Crowd

VIEWERS = 50
MINUTES = 2.0
CHANGES = 100
"""Items that begin, and others that end, each second."""
PAGES = ("/map", "/jobs", "/overview", "/executors", "/executions", "/jobs/shop-jd-price", "/executors/crawler-01")
"""Each is open as often as the others; two of the first for one of them."""
_POLLED = re.compile(r'hx-get="([^"]+)" hx-trigger="every (\d+)s')
_MB = 2**20


@dataclass
class Sheet:
    """What the viewers met."""

    took_ms: list[float] = field(default_factory=list)
    """Of each answer."""
    answers: Counter[int] = field(default_factory=Counter)
    """How many of each status."""
    faults: Counter[str] = field(default_factory=Counter)
    """What was no answer."""


class Viewer:
    """Somebody who looks at one page.

    Args:
        address: Of the console.
        page: The page.
        sheet: Where to write what is met.
        ending: Set when it is time to go.
    """

    def __init__(self, address: str, page: str, sheet: Sheet, ending: asyncio.Event) -> None:
        self._client = httpx.AsyncClient(base_url=address, trust_env=False, timeout=30.0)
        self._page = page
        self._sheet = sheet
        self._ending = ending

    async def look(self) -> None:
        """Sign in, open the page, and stay."""
        async with self._client:
            found = re.search(r'name="csrf-token" content="([^"]+)"', (await self._client.get("/login")).text)
            form = {"csrf_token": found[1] if found else "", "name": "viewer", "password": PASSWORD}
            await self._client.post("/login", data=form)
            text = (await self._client.get(self._page)).text
            parts = [(path.replace("&amp;", "&"), float(every)) for path, every in _POLLED.findall(text)]
            polls = [self._poll(path, every) for path, every in parts]
            await asyncio.gather(*polls, *([self._follow()] if self._page == "/map" else []))

    async def _poll(self, path: str, every_s: float) -> None:
        tag = "-"
        while not await self._is_over(every_s):
            answer = await self._ask(path, {"HX-Request": "true", "HX-PTag": tag, "Accept-Encoding": "br, gzip"})
            if answer is not None:
                tag = answer.headers.get("HX-PTag", tag)

    async def _follow(self) -> None:
        version = ""
        while not await self._is_over(1.0):
            answer = await self._ask(f"/live?since={version}", {"Accept-Encoding": "br, gzip"})
            if answer is not None and answer.status_code == 200:
                version = json.loads(answer.content)["version"]

    async def _is_over(self, wait_s: float) -> bool:
        try:
            await asyncio.wait_for(self._ending.wait(), wait_s)
        except TimeoutError:
            return False
        return True

    async def _ask(self, path: str, headers: dict[str, str]) -> httpx.Response | None:
        began = time.perf_counter()
        try:
            answer = await self._client.get(path, headers=headers)
        except httpx.HTTPError as error:
            self._sheet.faults[type(error).__name__] += 1
            return None
        self._sheet.took_ms.append((time.perf_counter() - began) * 1000)
        self._sheet.answers[answer.status_code] += 1
        return answer


def main() -> None:
    """Measure and print."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES
    with large_console(RUNS) as (client, crowd):
        watch(client, crowd, minutes)


def watch(client: Client, crowd: Crowd, minutes: float) -> None:
    """Have everybody look for so many minutes; print once a minute what that took."""
    ending = threading.Event()
    churn = threading.Thread(target=_churn, args=(crowd, ending), daemon=True)
    churn.start()
    asyncio.run(_everybody(client, minutes))
    ending.set()
    churn.join()


async def _everybody(client: Client, minutes: float) -> None:
    sheet, ending = Sheet(), asyncio.Event()
    pages = [("/map", *PAGES)[number % (len(PAGES) + 1)] for number in range(VIEWERS)]
    looking = [asyncio.create_task(Viewer(client.address, page, sheet, ending).look()) for page in pages]
    await asyncio.sleep(15.0)  # all have signed in, which takes a password's hash each
    for minute in range(1, round(minutes) + 1):
        before, began = client.cpu_s(), time.monotonic()
        sheet.took_ms.clear()
        await asyncio.sleep(60.0)
        seconds, took = time.monotonic() - began, sorted(sheet.took_ms)
        print(
            f"minute {minute}: {len(took) / seconds:.0f} answers a second, p50 {took[len(took) // 2]:.1f} ms, "
            f"p95 {took[len(took) * 95 // 100]:.1f} ms, worst {took[-1]:.0f} ms; "
            f"{(client.cpu_s() - before) / seconds:.0%} of a core, {client.memory_bytes() / _MB:.0f} MB; "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    ending.set()
    await asyncio.gather(*looking)
    print(f"answers by status: {dict(sorted(sheet.answers.items()))}; no answer: {dict(sheet.faults) or 'never'}")


def _churn(crowd: Crowd, ending: threading.Event) -> None:
    crowd.begin(3 * CHANGES)
    while not ending.is_set():
        crowd.end(CHANGES)
        crowd.begin(CHANGES)
        pause(1.0)


if __name__ == "__main__":
    main()
