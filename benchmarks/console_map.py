"""The shard map of 1,000 jobs of 100 items in a real browser, against the budgets of the console; print figures.

Run by hand: ``python -m benchmarks.console_map``. One ZooKeeper, 50 executors that exist in it only, the console as a
process of its own on gunicorn, Chromium.
"""

from __future__ import annotations

import contextlib
import gzip
import http.cookiejar
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from benchmarks.stage.crowd import Crowd, Size
from benchmarks.stage.fleet import ROOT, pause, until
from shardsched.core.paths import Paths
from shardsched.registry.url import open_registry
from tests.console.page import Window, chromium
from tests.zookeeper_server import free_port
from tests.zookeeper_source import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

PASSWORD = "an otter paints seven bridges"  # noqa: S105 - of a user who does not exist
REQUESTS = 200
LIVE_S = 8.0
_FRAMES = """(ms) => new Promise((resolve) => { let frames = 0; const begin = performance.now();
  const next = () => { frames += 1; const now = performance.now();
    if (now - begin < ms) requestAnimationFrame(next); else resolve(1000 * frames / (now - begin)); };
  requestAnimationFrame(next); })"""
_SHIFT = """() => new Promise((resolve) => new PerformanceObserver((list) => resolve(
  list.getEntries().reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0)))
  .observe({type: "layout-shift", buffered: true}) || setTimeout(() => resolve(0), 500))"""


class Client:
    """A viewer without a browser.

    Args:
        address: Of the console.
        process: The console's.

    Attributes:
        requests: How often it asks to measure something.
    """

    def __init__(self, address: str, process: psutil.Process | None = None) -> None:
        self.address = address
        self.requests = REQUESTS
        self._processes = [] if process is None else [process, *process.children(recursive=True)]
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), urllib.request.HTTPErrorProcessor()
        )

    def sign_in(self) -> None:
        """Sign in by the form."""
        found = re.search(r'name="csrf-token" content="([^"]+)"', self.get("/login")[1].decode())
        form = {"csrf_token": found[1] if found else "", "name": "viewer", "password": PASSWORD}
        with self._opener.open(f"{self.address}/login", urllib.parse.urlencode(form).encode()):
            pass

    def get(self, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
        """Return status, body and headers of an answer."""
        request = urllib.request.Request(self.address + path, headers=headers)  # noqa: S310 - http on the loopback
        try:
            with self._opener.open(request) as answer:
                return answer.status, answer.read(), dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, error.read(), dict(error.headers)

    def is_filled(self) -> bool:
        """Whether the console has seen the whole fleet."""
        status, body, _ = self.get("/live")
        return status == 200 and bool(json.loads(body)["filled"])

    def cpu_s(self) -> float:
        """Return the processor time of the console so far."""
        return sum(sum(one.cpu_times()[:2]) for one in self._processes)

    def memory_bytes(self) -> int:
        """Return the memory of the console."""
        return sum(one.memory_info().rss for one in self._processes)

    def time(self, what: str, path: str, budget_ms: float, **headers: str) -> None:
        """Print how long answers take."""
        took, before = [], self.cpu_s()
        for _ in range(self.requests):
            began = time.perf_counter()
            self.get(path, **headers)
            took.append((time.perf_counter() - began) * 1000)
            pause(0.005)
        took.sort()
        cpu = (self.cpu_s() - before) / self.requests * 1000
        print(
            f"{what}: {cpu:.1f} ms of processor time, looking on included; p50 {took[self.requests // 2]:.1f} ms, p95 {took[self.requests * 95 // 100]:.1f} ms "
            f"(budget of server time: {budget_ms:g} ms); load {os.getloadavg()[0]:.1f}"
        )


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="shardsched-bench-") as name, running_server(Path(name) / "zk") as server:
        folder = Path(name)
        url = f"zk://{server.hosts}/map?tick=0.5"
        with open_registry(url) as registry:
            crowd = Crowd(registry, Paths("bench"), Size())
            crowd.build()
            with console(folder, url) as client:
                client.sign_in()
                began = time.monotonic()
                until(client.is_filled, "all items", 240.0)
                print(f"all items seen {time.monotonic() - began:.0f} s after the first request")
                measure_server(client)
                browser = shutil.which("chromium")
                if browser is None:
                    raise SystemExit("there is no Chromium; install it with apt-get install chromium")
                with chromium(browser) as started, Window.open(started, client.address) as window:
                    measure_browser(window, crowd)


@contextlib.contextmanager
def console(folder: Path, url: str) -> Iterator[Client]:
    """Run the console, and give a viewer of it."""
    port, places = free_port(), ["--registry", url, "--namespace", "bench", "--history", f"sqlite:///{folder}/h.db"]
    environment = os.environ | {"XDG_STATE_HOME": str(folder), "PYTHONPATH": str(ROOT)}
    password = folder / "password"
    password.write_text(PASSWORD)
    command = [sys.executable, "-m", "shardsched", "console"]
    add = [*command, "user", "add", "viewer", "--password-file", str(password), *places]
    subprocess.run(add, check=True, env=environment, stdout=subprocess.DEVNULL)
    with (folder / "console.log").open("w") as log:
        process = subprocess.Popen([*command, "--port", str(port), *places], env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: _answers(address), "the console", 60.0)
        yield Client(address, psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait(20)


def _answers(address: str) -> bool:
    try:
        return Client(address).get("/healthz")[0] == 200
    except OSError:
        return False


def measure_server(client: Client) -> None:
    """Print sizes and times of answers."""
    page = client.get("/map")[1]
    print(f"page: {len(page) / 1000:.0f} kB, {len(gzip.compress(page, 6)) / 1000:.1f} kB gzipped (budget 40)")
    whole = client.get("/live")[1]
    print(f"whole state: {len(whole) / 1000:.0f} kB, {len(gzip.compress(whole, 6)) / 1000:.1f} kB gzipped (budget 60)")
    client.time("page /map", "/map", 20)
    client.time("page /overview", "/overview", 20)
    client.time("part of the map", "/map", 10, **{"HX-Request": "true"})
    tag = client.get("/map", **{"HX-Request": "true"})[2].get("HX-PTag", "")
    client.time("part of the map, unchanged", "/map", 3, **{"HX-Request": "true", "HX-PTag": tag})
    version = json.loads(client.get("/live")[1])["version"]
    client.time("state, unchanged (304)", f"/live?since={version}", 3)


def measure_browser(window: Window, crowd: Crowd) -> None:
    """Print what the browser makes of it."""
    page, transferred = window.page, [0]
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on(
        "Network.loadingFinished", lambda event: transferred.__setitem__(0, transferred[0] + event["encodedDataLength"])
    )
    window.sign_in("viewer", PASSWORD)
    for visit in ("first", "second"):
        transferred[0] = 0
        page.goto("/map")
        page.wait_for_selector(".map-body .cell")
        built = _applied(page)
        pause(1.0)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        nodes = page.evaluate("document.querySelectorAll('*').length")
        print(
            f"{visit} visit: {transferred[0] / 1000:.0f} kB transferred, first paint {paint:.0f} ms (budget 1000), "
            f"map built in {built:.0f} ms (budget 300), {nodes} nodes (budget 8000), "
            f"layout shift {page.evaluate(_SHIFT):.3f} (budget 0.05); load {os.getloadavg()[0]:.1f}"
        )
    measure_moves(page, crowd)
    ending = threading.Event()
    churn = threading.Thread(target=_churn, args=(crowd, ending), daemon=True)
    churn.start()
    page.evaluate("document.querySelector('.map-body').scrollIntoView()")
    rates, worst = [], 0.0
    for _ in range(int(LIVE_S)):
        rates.append(page.evaluate(_FRAMES, 1000))
        worst = max(worst, _applied(page))
    ending.set()
    churn.join()
    print(
        f"live, {crowd.running_count} items run and most jobs change: {min(rates):.0f} to {max(rates):.0f} frames a "
        f"second (budget 30), changes applied in {worst:.0f} ms at most (budget 50); load {os.getloadavg()[0]:.1f}"
    )
    print(f"faults that the browser told: {window.faults or 'none'}")


def measure_moves(page: Page, crowd: Crowd) -> None:
    """Print how soon items that moved show."""
    took = []
    for shift in range(1, 6):
        before = page.locator(".map-body .cell").first.get_attribute("aria-label")
        job = page.locator(".map-body .map-job :is(a, b)").first.text_content() or ""
        began = time.monotonic()
        crowd.move(job, shift)
        page.wait_for_function(
            "(before) => document.querySelector('.map-body .cell').getAttribute('aria-label') !== before", arg=before
        )
        took.append(time.monotonic() - began)
    print(
        f"items that moved show after {min(took):.2f} to {max(took):.2f} s (budget 1.5 s); load {os.getloadavg()[0]:.1f}"
    )


def _applied(page: Page) -> float:
    found: Any = page.evaluate("performance.getEntriesByName('map')[0]?.duration ?? 0")
    return float(found)


def _churn(crowd: Crowd, ending: threading.Event) -> None:
    crowd.begin(2_000)
    while not ending.is_set():
        crowd.end(1_000)
        crowd.begin(1_000)
        pause(0.5)


if __name__ == "__main__":
    main()
