"""Coming into the fleet while the registry does not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.arrival import FIRST_PAUSE_S, LONGEST_PAUSE_S, arrive
from shardsched.clock import SYSTEM_CLOCK
from shardsched.coordination.membership import Membership
from shardsched.coordination.session import Lease
from shardsched.core.executor import ExecutorRecord
from shardsched.core.paths import Paths
from shardsched.errors import RegistryAccessError, RegistryUnavailableError
from shardsched.registry.zookeeper import ZooKeeperRegistry
from shardsched.testing import MemoryRegistry
from tests.coordination.stage import NOON, TICK_S, TIMEOUT_S, Stage
from tests.tcp_proxy import Mode, TcpProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shardsched.registry.base import Operation, Registry
    from tests.zookeeper_server import Server

    Pause = Callable[[float], object]


class Newcomer:
    """An executor that has not joined."""

    def __init__(self, registry: Registry, paths: Paths) -> None:
        self.registry = registry
        self.paths = paths
        self.lease = Lease(registry, paths, SYSTEM_CLOCK, lambda _: None)
        record = ExecutorRecord(
            name="e1",
            incarnation="",
            host="h",
            ip="",
            pid=2**22 + 1,
            process_start="here:1",
            started_at=NOON,
            version="",
            handlers={},
        )
        self.membership = Membership(registry, paths, SYSTEM_CLOCK, self.lease, record, None)
        self.pauses: list[float] = []

    def arrive(self, then: Pause = lambda _: None) -> None:
        """Join, and take note of the pauses instead of waiting; do something in each."""

        def pause(seconds: float) -> None:
            self.pauses.append(seconds)
            then(seconds)

        arrive(self.registry, self.paths, SYSTEM_CLOCK, self.membership, pause, open_s=0.5)


@pytest.fixture
def newcomer(stage: Stage) -> Newcomer:
    """One whose registry is in memory, beside those of the stage."""
    registry = MemoryRegistry(stage.store, session_timeout_s=TIMEOUT_S, tick_s=TICK_S, inline=True)
    return Newcomer(registry, Paths("other"))


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_each_request_may_be_lost_once_and_it_joins(stage: Stage, newcomer: Newcomer, moment: str) -> None:
    """Whichever answer is lost, the step is repeated, and in the end the place is taken once."""
    answered: set[tuple[str, ...]] = set()

    def fault(now: str, operations: Sequence[Operation]) -> None:
        paths = tuple(one.path.rpartition("/")[0] for one in operations)
        if now == moment and paths not in answered:
            answered.add(paths)
            raise RegistryUnavailableError("no answer")

    newcomer.registry.fault = fault  # type: ignore[attr-defined]  # it is one in memory
    newcomer.arrive()
    assert newcomer.pauses
    assert newcomer.lease.is_confirmed
    assert stage.people.children(newcomer.paths.under("executors")) == ("e1",)


def test_pauses_grow_to_a_bound_and_each_is_told(newcomer: Newcomer, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody has to guess what an executor waits for, nor how long."""

    def fault(_: str, __: object) -> None:
        if len(newcomer.pauses) < 6:
            raise RegistryUnavailableError("the servers sleep")

    newcomer.registry.fault = fault  # type: ignore[attr-defined]  # it is one in memory
    newcomer.arrive()
    assert newcomer.pauses == [1.0, 2.0, 4.0, 8.0, LONGEST_PAUSE_S, LONGEST_PAUSE_S]
    told = [record for record in caplog.records if vars(record).get("event") == "registry_awaited"]
    assert len(told) == 6
    assert told[1].getMessage() == "cannot join the fleet yet and tries again in 2 s: the servers sleep"


def test_what_no_waiting_cures_ends_the_start(stage: Stage, newcomer: Newcomer) -> None:
    """Refused credentials are not tried again."""

    def refuse(_: str, __: object) -> None:
        raise RegistryAccessError("not you")

    newcomer.registry.fault = refuse  # type: ignore[attr-defined]  # it is one in memory
    with pytest.raises(RegistryAccessError):
        newcomer.arrive()
    assert newcomer.pauses == []


@pytest.mark.zookeeper
@pytest.mark.parametrize("mode", [Mode.REFUSE, Mode.STALL, Mode.REQUESTS_ONLY])
def test_first_answer_of_zookeeper_is_waited_for(zookeeper: Server, zk_chroot: str, mode: Mode) -> None:
    """Servers that are away, and a link that loses what they answer, hold the start up and do not end it."""
    with TcpProxy.to(zookeeper.hosts) as proxy:
        proxy.set_mode(mode)
        registry = ZooKeeperRegistry(proxy.address, chroot=zk_chroot, session_timeout_s=4.0, tick_s=zookeeper.tick_s)
        newcomer = Newcomer(registry, Paths("fleet"))
        try:
            newcomer.arrive(lambda _: proxy.set_mode(Mode.PASS))
            assert newcomer.pauses == [FIRST_PAUSE_S]
            assert newcomer.lease.is_confirmed
        finally:
            registry.close()
