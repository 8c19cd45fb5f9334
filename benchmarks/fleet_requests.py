"""Requests to ZooKeeper for each fire, and idle, counted by the server itself; print counts.

Run by hand: ``python -m benchmarks.fleet_requests``. Three executor processes, one job of ten items, process isolation.
ElasticJob needs 218 requests for such a fire by its source, 290 with failover.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.fleet.fleet_harness import fleet_on, let_pass, wait_until
from tests.zookeeper_source import running_server

FIRES = 10
IDLE_S = 20.0


def main() -> None:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory(prefix="shardsched-bench-") as folder,
        running_server(Path(folder) / "zk") as server,
        fleet_on(f"zk://{server.hosts}/bench?tick=0.5", Path(folder) / "fleet") as fleet,
    ):

        def packets() -> int:
            return int(server.mntr()["zk_packets_received"])

        idle = 0.0
        fleet.start("e1", "e2", "e3")
        for jobs in (1, 50):
            for number in range(jobs):
                if f"idle{number}" not in {job["name"] for job in fleet.status()["jobs"]}:
                    fleet.create(f"idle{number}", items=10)
            let_pass(3.0)
            before, began = packets(), time.monotonic()
            let_pass(IDLE_S)
            idle = (packets() - before) / (time.monotonic() - began)
            print(f"idle, {jobs} jobs: {idle:.2f} requests a second for 3 executors (heartbeats, pings, load reports)")
        fleet.create("j", items=10)
        let_pass(2.0)
        fleet.admin.jobs.update("j", {"cron": "0/2 * * * * ?"})
        wait_until(lambda: len(fleet.runs("j")) >= 20, "the first fires")
        wait_until(lambda: len(fleet.runs("j")) % 10 == 0, "a whole fire")
        let_pass(0.5)

        def fires_cost(what: str) -> None:
            before, began, runs = packets(), time.monotonic(), len(fleet.runs("j"))
            let_pass(2.0 * FIRES)
            seconds, done = time.monotonic() - began, len(fleet.runs("j")) - runs
            fires = done / 10
            each = (packets() - before - idle * seconds) / fires
            print(f"{fires:g} fires of 10 items on 3 executors: {each:.1f} requests for each fire{what}")

        fires_cost(" (target: at most 16)")
        fleet.create("k", after=["j"])
        let_pass(2.5)
        fires_cost(", with a job of one item that fires after it")


if __name__ == "__main__":
    main()
