"""The ZooKeeper registry on a real server: what the contract does not say about it."""

from __future__ import annotations

import os
import threading
import time
import warnings
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.errors import RegistryUnavailableError, SettingsError, ValueTooLargeError
from shardsched.registry.base import (
    MAX_VALUE_BYTES,
    Check,
    Committed,
    Create,
    Delete,
    Put,
    Refusal,
    Refused,
    SessionState,
)
from tests.waiting import Picture, Recorder, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.registry.zookeeper import ZooKeeperRegistry
    from tests.tcp_proxy import TcpProxy
    from tests.zookeeper_server import Server

    Make = Callable[..., ZooKeeperRegistry]

pytestmark = pytest.mark.zookeeper


def watch_count(server: Server) -> int:
    """Return how many watches the server holds."""
    return int(server.mntr()["zk_watch_count"])


def test_open_makes_a_chroot_of_any_depth(make_zk: Make, zk_chroot: str) -> None:
    """Missing levels are made; a second client finds them, and another chroot is another registry."""
    first = make_zk(chroot=f"{zk_chroot}/a/b/c")
    second = make_zk(chroot=f"{zk_chroot}/a/b/c/")
    third = make_zk(chroot=f"{zk_chroot}/a/b/d")
    first.transact([Create("/jobs", b"1")])
    assert second.children("/", fresh=True) == ("jobs",)
    assert third.children("/", fresh=True) == ()
    node = make_zk(chroot=zk_chroot).get("/a/b/c/jobs", fresh=True)
    assert node is not None
    assert node.value == b"1"


def test_time_out_in_force_is_the_servers(make_zk: Make, zookeeper: Server) -> None:
    """The servers allow 2 to 20 of their ticks, and the lease must be reckoned with what they gave."""
    assert make_zk(session_timeout_s=1000.0).session_timeout_s == 20 * zookeeper.tick_s
    assert make_zk(session_timeout_s=0.2).session_timeout_s == 2 * zookeeper.tick_s
    assert make_zk(session_timeout_s=4.0).session_timeout_s == 4.0


def test_session_id_equals_the_owner_of_what_it_made(make_zk: Make) -> None:
    """Ephemerals carry the session's identity, persistent nodes none."""
    registry = make_zk()
    registry.transact([Create("/mine", b"", ephemeral=True), Create("/ours")])
    mine, ours = registry.read(("/mine", "/ours"))
    assert mine is not None
    assert mine.owner == registry.session_id
    assert ours is not None
    assert ours.owner is None


def test_child_of_an_ephemeral_is_refused_as_without_a_parent(make_zk: Make) -> None:
    """An ephemeral parent is no parent."""
    registry = make_zk()
    registry.transact([Create("/mine", b"", ephemeral=True)])
    outcome = registry.transact([Create("/mine/child")])
    assert isinstance(outcome, Refused)
    assert outcome.reason is Refusal.NO_NODE


def test_value_over_the_limit_leaves_the_connection_alone(make_zk: Make) -> None:
    """It is refused before it is sent: the servers would drop the connection, and everything under way with it."""
    registry = make_zk()
    states: Recorder[SessionState] = Recorder()
    registry.on_session(states)
    with pytest.raises(ValueTooLargeError):
        registry.submit([Create("/a", b"x" * (2 * 1024 * 1024))])
    with pytest.raises(ValueTooLargeError):
        registry.submit([Create(f"/{number}", b"x" * MAX_VALUE_BYTES) for number in range(2)])
    assert isinstance(registry.transact([Create("/a", b"x" * MAX_VALUE_BYTES)]), Committed)
    largest = [Create(f"/a{number}", b"y" * 60_000) for number in range(13)]
    assert isinstance(registry.transact(largest), Committed)
    assert isinstance(registry.transact([Check("/a")] * 9_000), Committed)
    assert states.values == [SessionState.CONNECTED]


@pytest.mark.parametrize("path", ["/a/../b", "/\ud800", "/a\0", "a", "/a/"])
def test_path_that_cannot_be_is_refused_before_it_is_sent(make_zk: Make, path: str) -> None:
    """A lone surrogate would end kazoo's connection thread; the registry still works afterwards."""
    registry = make_zk()
    with pytest.raises(SettingsError):
        registry.submit([Create(path)])
    with pytest.raises(SettingsError):
        registry.get(path)
    with pytest.raises(SettingsError):
        registry.watch(path, Picture())
    assert registry.children("/") == ()


def test_transactions_under_way_together_take_about_one_round_trip(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """300 transactions over a link of 0.1 s take a few round trips, not 300, and fail one by one."""
    registry = make_zk(zk_proxy.address)
    registry.transact([Create("/taken")])
    zk_proxy.delay_s = 0.05
    began = time.monotonic()
    futures = [
        registry.submit([Create("/taken" if number % 3 == 0 else f"/n{number}", str(number).encode())])
        for number in range(300)
    ]
    outcomes = [future.result(20) for future in futures]
    assert time.monotonic() - began < 5.0
    assert [isinstance(outcome, Refused) for outcome in outcomes] == [number % 3 == 0 for number in range(300)]
    zk_proxy.delay_s = 0.0
    assert len(registry.children("/")) == 201


def test_reads_of_many_paths_go_in_a_pipeline(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """1,000 nodes over a link of 0.1 s are read in a few round trips, missing ones as None."""
    registry = make_zk(zk_proxy.address)
    for start in range(0, 1000, 200):
        registry.transact([Create(f"/n{number}", str(number).encode()) for number in range(start, start + 200)])
    paths = [f"/n{number}" for number in range(1000)] + ["/missing"]
    zk_proxy.delay_s = 0.05
    began = time.monotonic()
    nodes = registry.read(paths, fresh=True)
    assert time.monotonic() - began < 8.0
    assert [node.value.decode() for node in nodes[:-1] if node] == [str(number) for number in range(1000)]
    assert nodes[-1] is None
    assert registry.read(()) == ()
    assert registry.read_children(("/missing", "/n1")) == (None, ())


def test_future_whose_callback_submits_hundreds_more_does_not_hang(make_zk: Make) -> None:
    """Callbacks run on the connection's thread, and submitting there never waits for it."""
    registry = make_zk()
    registry.transact([Create("/a")])
    outcomes: Recorder[Any] = Recorder()

    def submit_more(_: Any) -> None:
        for _ in range(1000):
            registry.submit([Put("/a", b"")]).add_done_callback(outcomes)

    registry.submit([Put("/a", b"")]).add_done_callback(submit_more)
    outcomes.wait_for(lambda seen: len(seen) == 1000, 30)
    assert {type(future.result()) for future in outcomes.values} == {Committed}


def test_callback_that_blocks_holds_up_neither_requests_nor_the_session(make_zk: Make) -> None:
    """The callback thread is not the connection's: a stuck callback costs no heartbeat."""
    registry = make_zk(session_timeout_s=1.0)
    release = threading.Event()
    session_id = registry.session_id
    registry.transact([Create("/fence", b"", ephemeral=True)])

    def block(_: SessionState) -> None:
        release.wait(10)

    registry.on_session(block)
    for _ in range(10):
        assert isinstance(registry.renew(Check("/fence")).result(5), Committed)
        threading.Event().wait(0.2)
    assert registry.session_id == session_id
    release.set()


def test_ephemerals_made_again_in_the_session_callback_are_made(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """A callback may submit, and may even wait: answers do not need its thread."""
    registry = make_zk(zk_proxy.address)
    outcomes: Recorder[Any] = Recorder()

    def register(state: SessionState) -> None:
        if state is SessionState.CONNECTED:
            outcomes(registry.transact([Create(f"/e{len(outcomes.values)}", b"", ephemeral=True)], timeout_s=5))

    registry.on_session(register)
    outcomes.wait_for(lambda seen: len(seen) == 1)
    zk_proxy.drop()
    outcomes.wait_for(lambda seen: len(seen) == 2)
    assert registry.children("/") == ("e0", "e1")


def test_watches_in_their_hundreds_need_no_thread_each(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """300 watches take no thread, also when all of them are read again after a cut."""
    registry = make_zk(zk_proxy.address)
    registry.transact([Create("/w"), *(Create(f"/w/{number}") for number in range(300))])
    before = threading.active_count()
    pictures = [Picture() for _ in range(300)]
    for number, picture in enumerate(pictures):
        registry.watch(f"/w/{number}", picture)
    for picture in pictures:
        picture.wait_for(lambda it: it.complete_count == 1)
    assert threading.active_count() <= before
    zk_proxy.drop()
    most = 0
    for picture in pictures:
        picture.wait_for(lambda it: it.complete_count == 2)
        most = max(most, threading.active_count())
    # The proxy has two for each connection, and an outage of ours one while it lasts.
    assert most <= before + 5


def test_watches_cancelled_leave_nothing_on_the_server_or_the_client(make_zk: Make, zookeeper: Server) -> None:
    """Watches, threads and kazoo's own tables return to what they were."""
    registry = make_zk()
    registry.transact([Create("/w"), *(Create(f"/w/{number}") for number in range(50))])
    kazoo = registry._session.standing().client._kazoo
    base = watch_count(zookeeper), threading.active_count(), len(kazoo.state_listeners)
    for _ in range(3):
        pictures = [(Picture(), path) for path in ("/w", "/missing", *(f"/w/{number}" for number in range(50)))]
        subscriptions = [registry.watch(path, picture) for picture, path in pictures]
        for picture, _ in pictures:
            picture.wait_for(lambda it: it.complete_count == 1)
        assert watch_count(zookeeper) > base[0]
        for subscription in subscriptions:
            subscription.cancel()
            subscription.cancel()
    eventually(lambda: watch_count(zookeeper) == base[0])
    registry.get("/w")
    assert (threading.active_count(), len(kazoo.state_listeners)) == base[1:]
    assert not any(kazoo._data_watchers.values())
    assert not any(kazoo._child_watchers.values())


def test_watch_goes_on_when_one_that_overlaps_is_cancelled(make_zk: Make) -> None:
    """The servers keep one watch for a path; ending one subscription must not blind the others."""
    registry, other = make_zk(), make_zk()
    registry.transact([Create("/w"), Create("/w/a"), Create("/w/a/x")])
    above, below, same = Picture(), Picture(), Picture()
    registry.watch("/w", above)
    first = registry.watch("/w/a", below)
    registry.watch("/w/a", same)
    for picture in (above, below, same):
        picture.wait_for(lambda it: it.complete_count == 1)
    first.cancel()
    other.transact([Put("/w/a", b"1")])
    above.wait_for(lambda it: it.nodes["/w/a"].value == b"1")
    same.wait_for(lambda it: it.nodes["/w/a"].value == b"1")
    third = registry.watch("/w/a/x", Picture())
    third.cancel()
    other.transact([Put("/w/a/x", b"2"), Create("/w/a/y")])
    same.wait_for(lambda it: "/w/a/y" in it.nodes and it.nodes["/w/a/x"].value == b"2")
    assert below.nodes["/w/a"].value == b""


def test_watch_survives_the_deletion_of_its_prefix(make_zk: Make) -> None:
    """The node and its children may go and come back as often as they like."""
    registry, other = make_zk(), make_zk()
    picture = Picture()
    registry.watch("/w", picture)
    for text in (b"1", b"2", b"3", b"4", b"5"):
        other.transact([Create("/w"), Create("/w/a", text)])
        picture.wait_for(partial(_has, text))
        other.transact([Delete("/w/a"), Delete("/w")])
        picture.wait_for(lambda it: not it.nodes)


def _has(text: bytes, picture: Picture) -> bool:
    return "/w/a" in picture.nodes and picture.nodes["/w/a"].value == text


def test_watch_of_a_thousand_nodes_tells_them_in_few_reports(make_zk: Make) -> None:
    """The first report has them all; a burst of changes becomes far fewer reports than changes."""
    registry, other = make_zk(), make_zk()
    for start in range(0, 1000, 250):
        other.transact([Create("/w")] * (start == 0) + [Create(f"/w/{number}") for number in range(start, start + 250)])
    picture = Picture()
    registry.watch("/w", picture)
    picture.wait_for(lambda it: it.complete_count == 1, 20)
    assert len(picture.nodes) == 1001
    assert picture.report_count == 1
    other.transact([Put(f"/w/{number}", b"new") for number in range(1000)])
    picture.wait_for(lambda it: all(it.nodes[f"/w/{number}"].value == b"new" for number in range(1000)), 20)
    assert picture.report_count < 100


def test_server_time_is_right_and_leaves_nothing_behind(make_zk: Make, zookeeper: Server) -> None:
    """The stamp is the server's, which runs by our own clock here; nobody ever sees the node."""
    registry, other = make_zk(), make_zk()
    names: Recorder[Any] = Recorder()
    other.watch("/", names)
    names.wait_for(lambda seen: len(seen) == 1)
    count = zookeeper.mntr()["zk_znode_count"]
    before = datetime.now(UTC)  # noqa: TID251 - the wall clock is what is being tried
    times = [registry.server_time() for _ in range(20)]
    after = datetime.now(UTC)  # noqa: TID251
    slack = timedelta(milliseconds=20)
    assert all(before - slack <= time <= after + slack for time in times)
    assert zookeeper.mntr()["zk_znode_count"] == count
    assert registry.children("/", fresh=True) == ()
    assert len(names.values) == 1


def test_end_of_another_session_takes_its_nodes_at_once(make_zk: Make) -> None:
    """With the ticket of a dead process its nodes go without waiting for T; a living owner learns that it is over."""
    dead, registry = make_zk(session_timeout_s=10.0), make_zk()
    states: Recorder[SessionState] = Recorder()
    dead.on_session(states)
    dead.transact([Create("/name", b"", ephemeral=True)])
    ticket, old_id = dead.session_ticket, dead.session_id
    began = time.monotonic()
    registry.end_session(ticket)
    assert registry.get("/name", fresh=True) is None
    assert time.monotonic() - began < 3.0
    states.wait_for(lambda seen: seen[-2:] == [SessionState.LOST, SessionState.CONNECTED])
    assert dead.session_id != old_id
    registry.end_session(ticket)
    registry.end_session("")
    registry.end_session("no ticket: at all")
    registry.end_session(f"{'0' * 16}:{'0' * 32}")
    assert registry.children("/") == ()


def test_registry_used_after_a_fork_says_so(make_zk: Make) -> None:
    """Kazoo's threads do not come along; without this the child would wait for ever."""
    registry = make_zk()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            registry.get("/")
        except RegistryUnavailableError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert registry.children("/") == ()
