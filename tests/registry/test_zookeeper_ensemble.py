"""The ZooKeeper registry on three servers, and its watches under random changes and faults."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING

import pytest

from shardsched.errors import RegistryError
from shardsched.registry.base import Check, Committed, Create, Delete, Put, SessionState
from shardsched.registry.zookeeper import ZooKeeperRegistry
from tests.conftest import missing
from tests.tcp_proxy import Mode, TcpProxy
from tests.waiting import Picture, Recorder, eventually, pass_time
from tests.zookeeper_server import Ensemble, ZooKeeperMissingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.registry.base import Changes, Operation, Outcome

    Make = Callable[..., ZooKeeperRegistry]

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ensemble]:
    """Three servers of the test's own."""
    try:
        servers = Ensemble(tmp_path_factory.mktemp("ensemble"))
    except ZooKeeperMissingError as error:
        missing(str(error))
        return
    try:
        servers.start()
        yield servers
    finally:
        servers.close()


def test_session_on_an_ensemble_outlives_any_one_server(ensemble: Ensemble) -> None:
    """Each server is killed and comes back: the session and its ephemerals stay, and writes go on."""
    registry = ZooKeeperRegistry(ensemble.hosts, chroot="/t", session_timeout_s=6.0, tick_s=ensemble.tick_s)
    registry.open()
    states: Recorder[SessionState] = Recorder()
    registry.on_session(states)
    session_id = registry.session_id
    picture = Picture()
    registry.watch("/", picture)
    registry.transact([Create("/fence", b"", ephemeral=True)])

    def write() -> Outcome | None:
        try:
            return registry.transact([Check("/fence"), Put("/fence", b"")], timeout_s=5)
        except RegistryError:
            return None

    for server in ensemble.servers:
        server.kill()
        assert isinstance(eventually(write, 15), Committed)
        server.start()
    assert registry.session_id == session_id
    assert SessionState.LOST not in states.values
    picture.wait_for(lambda it: "/fence" in it.nodes and it.nodes["/fence"].owner == session_id)
    registry.close()


def test_fresh_read_on_another_server_sees_what_was_committed(ensemble: Ensemble) -> None:
    """A follower may lag behind; a fresh read does not."""
    registries = [ZooKeeperRegistry(server.hosts, chroot="/t") for server in ensemble.servers]
    for registry in registries:
        registry.open()
    writer, *readers = registries
    writer.transact([Create("/n")])
    for number in range(100):
        writer.transact([Put("/n", str(number).encode())])
        for reader in readers:
            node = reader.get("/n", fresh=True)
            assert node is not None
            assert node.value == str(number).encode()
    for registry in registries:
        registry.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_watch_under_random_changes_and_faults_ends_with_the_truth(
    make_zk: Make, zk_proxy: TcpProxy, seed: int
) -> None:
    """However changes, cuts and session losses interleave, the reports add up to what is there."""
    chance = random.Random(seed)  # noqa: S311 - it tells a story again
    writer, registry = make_zk(), make_zk(zk_proxy.address, session_timeout_s=1.5)
    picture = Picture()
    went_back: list[str] = []
    newest: dict[str, tuple[int, int]] = {}

    def watch(changes: Changes) -> None:
        picture(changes)
        for path, node in picture.nodes.items():
            if (node.created_id, node.version) < newest.get(path, (0, 0)):
                went_back.append(path)
            newest[path] = node.created_id, node.version

    registry.watch("/w", watch)
    stop = threading.Event()
    write_count = 0

    def write() -> None:
        nonlocal write_count
        while not stop.is_set():
            path = f"/w/{chance.randrange(40)}"
            kinds: list[Operation] = [Create(path), Put(path, bytes([chance.randrange(256)])), Delete(path)]
            writer.transact([chance.choice(kinds)])
            if chance.random() < 0.01:
                names = writer.children("/w")
                writer.transact([*(Delete(f"/w/{name}") for name in names), Delete("/w")])
                writer.transact([Create("/w")])
            write_count += 1

    writer.transact([Create("/w")])
    thread = threading.Thread(target=write)
    thread.start()
    for mode, seconds in [(Mode.REFUSE, 0.3), (Mode.PASS, 0.4), (Mode.STALL, 0.5), (Mode.PASS, 0.4), (Mode.STALL, 3.0)]:
        zk_proxy.set_mode(mode)
        pass_time(seconds)
    zk_proxy.set_mode(Mode.PASS)
    pass_time(1.0)
    for _ in range(5):
        zk_proxy.drop()
        pass_time(chance.random() * 0.3)
    stop.set()
    thread.join(10)
    truth = {f"/w/{name}" for name in writer.children("/w")} | {"/w"}
    expected = {path: node for path, node in zip(truth, writer.read(list(truth)), strict=True) if node}
    picture.wait_for(lambda it: it.nodes == expected)
    assert write_count > 100
    assert picture.complete_count > 3
    assert went_back == []
