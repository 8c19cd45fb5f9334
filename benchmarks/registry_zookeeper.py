"""What the ZooKeeper registry costs: rates of transactions and reads, loading of watches, requests, threads.

Run ``python -m benchmarks.registry_zookeeper [host:port]``; without an address a server is started. Each figure is the
median of three rounds. Requests are those that the server counted (mntr's packets received), less the questions.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.registry.base import Check, Committed, Create, Put
from shardsched.registry.zookeeper import ZooKeeperRegistry
from tests.waiting import Picture
from tests.zookeeper_source import OutsideServer, running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shardsched.registry.base import Operation
    from tests.zookeeper_server import Server

ROUND_COUNT = 3
NODE_COUNT = 1000


def packet_count(server: Server) -> int:
    """Return how many requests the server has taken."""
    return int(server.mntr()["zk_packets_received"])


def tell(what: str, value: float, unit: str, requests: float | None = None) -> None:
    """Print one figure."""
    more = f"   {requests:8.1f} requests" if requests is not None else ""
    print(f"{what:<62} {value:10.1f} {unit:<10}{more}")


def measure(server: Server, what: str, count: int, unit: str, work: Callable[[], None]) -> None:
    """Print the rate at which `work`, which does `count` things, goes, and the requests of one round."""
    rates, requests = [], []
    for _ in range(ROUND_COUNT):
        before = packet_count(server)
        began = time.perf_counter()
        work()
        rates.append(count / (time.perf_counter() - began))
        requests.append(packet_count(server) - before - 1)
    tell(what, statistics.median(rates), unit, statistics.median(requests))


def pipelined(registry: ZooKeeperRegistry, transactions: Sequence[Sequence[Operation]]) -> None:
    """Send all without waiting, then wait for all."""
    futures = [registry.submit(operations) for operations in transactions]
    for future in futures:
        assert isinstance(future.result(60), Committed)


def latency(registry: ZooKeeperRegistry) -> None:
    """Print how long one claim-like transaction takes, one after the other."""
    operations: list[Operation] = [
        Check("/n0"),
        Check("/n1"),
        *(Put(f"/n{number}", b"x" * 200) for number in range(2, 12)),
    ]
    times = []
    for _ in range(500):
        began = time.perf_counter()
        registry.transact(operations)
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    tell("transaction of 2 checks and 10 puts, one after the other: p50", times[len(times) // 2], "ms")
    tell("transaction of 2 checks and 10 puts, one after the other: p99", times[int(len(times) * 0.99)], "ms")


def watch_load(server: Server, registry: ZooKeeperRegistry) -> None:
    """Print how long the first report of a watch of 1,000 nodes takes, and how soon a change is told."""
    loads, requests = [], []
    for _ in range(ROUND_COUNT):
        picture = Picture()
        before = packet_count(server)
        began = time.perf_counter()
        subscription = registry.watch("/w", picture)
        picture.wait_for(lambda it: len(it.nodes) == NODE_COUNT + 1, 60)
        loads.append((time.perf_counter() - began) * 1000)
        requests.append(packet_count(server) - before - 1)
        subscription.cancel()
    tell(f"watch of {NODE_COUNT} nodes: first complete report", statistics.median(loads), "ms", requests[0])
    picture = Picture()
    registry.watch("/w", picture)
    picture.wait_for(lambda it: len(it.nodes) == NODE_COUNT + 1, 60)
    delays = []
    for number in range(200):
        value = str(number).encode()
        began = time.perf_counter()
        registry.submit([Put("/w/7", value)])
        picture.wait_for(lambda it, value=value: it.nodes["/w/7"].value == value)  # type: ignore[misc]  # bound here
        delays.append((time.perf_counter() - began) * 1000)
    tell("write to report: p50", statistics.median(delays), "ms")
    tell("write to report: max of 200", max(delays), "ms")
    before, reports = packet_count(server), picture.report_count
    began = time.perf_counter()
    registry.transact([Put(f"/w/{number}", b"burst") for number in range(NODE_COUNT)])
    picture.wait_for(lambda it: all(node.value == b"burst" for path, node in it.nodes.items() if path != "/w"), 60)
    tell("burst of 1000 changes in one transaction, all told", (time.perf_counter() - began) * 1000, "ms")
    tell("  in reports", picture.report_count - reports, "", packet_count(server) - before - 1)


def run(server: Server) -> None:
    """Measure all, and print."""
    registry = ZooKeeperRegistry(
        server.hosts, chroot=f"/bench-{uuid.uuid4().hex[:8]}", session_timeout_s=10.0, tick_s=server.tick_s
    )
    threads = threading.active_count()
    began = time.perf_counter()
    registry.open()
    tell("open (with chroot)", (time.perf_counter() - began) * 1000, "ms")
    tell("threads of one registry", threading.active_count() - threads, "")
    registry.transact([Create(f"/n{number}", b"x" * 200) for number in range(NODE_COUNT)])
    registry.transact([Create("/w"), *(Create(f"/w/{number}", b"x" * 200) for number in range(NODE_COUNT))])
    latency(registry)
    ones = [[Put(f"/n{number % NODE_COUNT}", b"y" * 200)] for number in range(3000)]
    measure(server, "transactions of 1 put, pipelined", 3000, "tx/s", lambda: pipelined(registry, ones))
    tens = [[Put(f"/n{(number * 10 + i) % NODE_COUNT}", b"y" * 200) for i in range(10)] for number in range(1000)]
    measure(server, "transactions of 10 puts, pipelined: operations", 10_000, "op/s", lambda: pipelined(registry, tens))
    hundreds = [[Put(f"/n{i}", b"y" * 200) for i in range(100)] for _ in range(100)]
    measure(
        server, "transactions of 100 puts, pipelined: operations", 10_000, "op/s", lambda: pipelined(registry, hundreds)
    )
    beats = [[Check("/n0")] for _ in range(3000)]
    measure(server, "heartbeats (one check), pipelined", 3000, "tx/s", lambda: pipelined(registry, beats))
    paths = [f"/n{number}" for number in range(NODE_COUNT)]
    measure(server, "reads of 1000 nodes in one call", 1000, "nodes/s", lambda: _read(registry, paths))
    watch_load(server, registry)
    began = time.perf_counter()
    registry.close()
    tell("close", (time.perf_counter() - began) * 1000, "ms")


def _read(registry: ZooKeeperRegistry, paths: list[str]) -> None:
    assert None not in registry.read(paths, fresh=True)


def main() -> None:
    """Measure the server of the command line, or one of our own."""
    if len(sys.argv) > 1:
        run(OutsideServer(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder, running_server(Path(folder)) as server:
        run(server)


if __name__ == "__main__":
    main()
