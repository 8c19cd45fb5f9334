"""What a spectator of 1,000 jobs of 100 items costs: requests, processor time, memory; print figures.

Run by hand: ``python -m benchmarks.live_fleet``. One ZooKeeper, 50 executors that exist in it only.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.stage.crowd import Crowd, Size
from benchmarks.stage.fleet import pause
from shardsched.admin.live import LiveFleet
from shardsched.core.paths import Paths
from shardsched.registry.url import open_registry
from tests.zookeeper_source import running_server

WINDOW_S = 30.0
RATES = (0, 100, 500)
"""Items that end, and others that begin, each second."""


def main() -> None:
    """Measure and print."""
    paths = Paths("bench")
    with (
        tempfile.TemporaryDirectory(prefix="shardsched-bench-") as folder,
        running_server(Path(folder) / "zk") as server,
    ):
        url = f"zk://{server.hosts}/live?tick=0.5"
        with open_registry(url) as fleet_side, open_registry(url) as console_side:
            crowd = Crowd(fleet_side, paths, Size())
            began = time.monotonic()
            crowd.build()
            print(f"fleet written in {time.monotonic() - began:.1f} s; load {os.getloadavg()[0]:.1f}")
            process = psutil.Process()
            memory = process.memory_info().rss
            live = LiveFleet(console_side, paths)
            live.start()
            _fill(live)
            print(f"memory: {(process.memory_info().rss - memory) / 2**20:.0f} MiB more than before")
            text = live.change_text() or ""
            began, cpu = time.monotonic(), time.process_time()
            for _ in range(10):
                live.change_text()
            print(f"whole picture: {len(text) / 1000:.0f} kB, {(time.process_time() - cpu) * 100:.1f} ms to make")
            for rate in RATES:
                _window(live, crowd, rate)
            live.stop()


def _fill(live: LiveFleet) -> None:
    began, cpu, looks = time.monotonic(), time.thread_time(), 0
    while not live.look().is_filled:
        looks += 1
        pause(max(0.0, looks - (time.monotonic() - began)))
    print(
        f"all items read after {time.monotonic() - began:.1f} s, {looks} looks; "
        f"{time.thread_time() - cpu:.1f} s of processor time in the looking thread"
    )


def _window(live: LiveFleet, crowd: Crowd, rate: int) -> None:
    crowd.end(10_000)
    crowd.begin(3 * rate)
    live.look()
    requests, cpu, looking, began, worst = live.request_count, 0.0, 0.0, time.monotonic(), 0.0
    seconds = 0
    while time.monotonic() - began < WINDOW_S:
        if rate:
            crowd.end(rate)
            crowd.begin(rate)
        before, thread, start = time.process_time(), time.thread_time(), time.monotonic()
        live.look()
        cpu += time.process_time() - before
        looking += time.thread_time() - thread
        worst = max(worst, time.monotonic() - start)
        seconds += 1
        pause(max(0.0, seconds - (time.monotonic() - began)))
    elapsed = time.monotonic() - began
    print(
        f"{rate} runs end and begin a second: {(live.request_count - requests) / seconds:.0f} requests a look, "
        f"{cpu / seconds * 1000:.0f} ms of processor time a look ({looking / seconds * 1000:.0f} in the looking thread), "
        f"longest look {worst:.2f} s, {seconds / elapsed:.2f} looks a second; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
