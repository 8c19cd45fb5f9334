"""Faults of the ZooKeeper servers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.faults.fault import Fault, briefly, longer, struck
from tests.faults.site import NAMES, boot_s
from tests.faults.strike import Kind, Strike
from tests.fleet.fleet_harness import wait_until

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.faults.site import Site
    from tests.zookeeper_server import ServerProcess


def _server_that(site: Site, leads: str) -> ServerProcess:
    def find() -> ServerProcess | None:
        return next((one for one in site.ensemble.servers if one.mntr().get("zk_server_state") == leads), None)

    server: ServerProcess = wait_until(find, f"a server that is {leads}", 30.0)
    return server


def _kill_one(fault: str, leads: str, site: Site, _rng: random.Random) -> Strike:
    server = _server_that(site, leads)
    strike = struck(fault, Kind.TROUBLED, NAMES)
    server.kill()
    if leads == "leader":
        _await_leader(site, server)
    return strike


def _freeze_leader(fault: str, site: Site, _rng: random.Random) -> Strike:
    server = _server_that(site, "leader")
    strike = struck(fault, Kind.TROUBLED, NAMES)
    server.pause()
    _await_leader(site, server)
    return strike


def _await_leader(site: Site, without: ServerProcess) -> None:
    """Wait until the other servers are led: they give each session its whole time-out anew, of the dead ones too."""
    others = [one for one in site.ensemble.servers if one is not without]
    wait_until(lambda: any(one.mntr().get("zk_server_state") == "leader" for one in others), "a leader", 30.0)
    site.changed_at = boot_s()


def _freeze_all(fault: str, site: Site, _rng: random.Random) -> Strike:
    for server in site.ensemble.servers:
        server.pause()
    return struck(fault, Kind.SILENT, NAMES)


def _kill_many(fault: str, count: int, site: Site, rng: random.Random) -> Strike:
    for server in rng.sample(site.ensemble.servers, count):
        server.kill()
    return struck(fault, Kind.SILENT, NAMES)


def _start_all(site: Site, _strike: Strike) -> None:
    for server in site.ensemble.servers:
        if server.pid is None:
            server.launch()
    _thaw_all(site, _strike)


def _thaw_all(site: Site, _strike: Strike) -> None:
    for server in site.ensemble.servers:
        server.resume()
    for server in site.ensemble.servers:
        server.wait_until_serving(90.0)
    site.changed_at = boot_s()


def _fault(
    name: str,
    begin: Callable[[Site, random.Random], Strike],
    promise: str,
    hold_s: Callable[[float], float] = longer,
) -> Fault:
    return Fault(name=name, promise=promise, begin=begin, heal=_start_all, hold_s=hold_s)


_BACK = "items are stopped by T; no process exits; all goes on by itself when it is back"

ZOOKEEPER_FAULTS = (
    _fault(
        "zookeeper-leader-killed",
        partial(_kill_one, "zookeeper-leader-killed", "leader"),
        "sessions go on; nothing is run twice",
    ),
    _fault(
        "zookeeper-follower-killed",
        partial(_kill_one, "zookeeper-follower-killed", "follower"),
        "sessions go on; nothing is run twice",
    ),
    _fault(
        "zookeeper-leader-frozen",
        partial(_freeze_leader, "zookeeper-leader-frozen"),
        "sessions go on or items are stopped in time; nothing is run twice",
    ),
    _fault("zookeeper-quorum-lost", partial(_kill_many, "zookeeper-quorum-lost", 2), _BACK),
    _fault(
        "zookeeper-restarted",
        partial(_kill_many, "zookeeper-restarted", 3),
        "nothing is inferred from absence; no job is shut down or run twice",
        briefly,
    ),
    _fault(
        "zookeeper-frozen-briefly",
        partial(_freeze_all, "zookeeper-frozen-briefly"),
        "running items go on",
        briefly,
    ),
)
"""What may happen to ZooKeeper."""
