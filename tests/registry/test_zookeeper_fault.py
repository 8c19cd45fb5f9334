"""The ZooKeeper registry when links are cut and servers go: what is told, what is kept, what is never done."""

from __future__ import annotations

import math
import socket
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.errors import RegistryUnavailableError, SessionLostError
from shardsched.registry.base import Check, Committed, Create, Delete, Put, Refused, SessionState
from shardsched.registry.zookeeper import ZooKeeperRegistry
from tests.tcp_proxy import Mode, TcpProxy
from tests.waiting import Picture, Recorder, eventually, pass_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.zookeeper_server import Server, ServerProcess

    Make = Callable[..., ZooKeeperRegistry]

pytestmark = pytest.mark.zookeeper

CONNECTED, SUSPENDED, LOST = SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.LOST
T_S = 2.0


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word, as a server does that is just booting."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield listener.getsockname()[1]


def states_of(registry: ZooKeeperRegistry) -> Recorder[SessionState]:
    """Return a record of the states that a registry tells."""
    states: Recorder[SessionState] = Recorder()
    registry.on_session(states)
    states.wait_for(lambda seen: seen == [CONNECTED])
    return states


def is_told(*states: SessionState) -> Callable[[list[SessionState]], bool]:
    """Return whether exactly these states were told."""
    return lambda seen: tuple(seen) == states


def test_session_of_a_client_cut_off_for_longer_than_t_is_lost_and_a_new_one_follows(
    make_zk: Make, zk_proxy: TcpProxy
) -> None:
    """The states come in order, the ephemerals are gone, the new session has a new identity and works."""
    other = make_zk()
    registry = make_zk(zk_proxy.address, session_timeout_s=T_S)
    states = states_of(registry)
    old_id = registry.session_id
    registry.transact([Create("/fence", b"", ephemeral=True)])
    zk_proxy.set_mode(Mode.STALL)
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    eventually(lambda: other.get("/fence", fresh=True) is None)
    zk_proxy.set_mode(Mode.PASS)
    states.wait_for(is_told(CONNECTED, SUSPENDED, LOST, CONNECTED))
    assert registry.session_id != old_id
    assert isinstance(registry.transact([Check("/fence"), Create("/late")]), Refused)
    registry.transact([Create("/fence", b"", ephemeral=True)])
    node = other.get("/fence", fresh=True)
    assert node is not None
    assert node.owner == registry.session_id


def test_transaction_under_way_when_the_link_goes_is_unknown_and_never_comes_under_a_new_session(
    make_zk: Make, zk_proxy: TcpProxy
) -> None:
    """A write held up by the link ends as unknown, and does not appear after the session's end."""
    other = make_zk()
    registry = make_zk(zk_proxy.address, session_timeout_s=T_S)
    states = states_of(registry)
    zk_proxy.set_mode(Mode.STALL)
    held_up = registry.submit([Create("/zombie")])
    with pytest.raises(RegistryUnavailableError):
        held_up.result(10)
    eventually(lambda: registry.session_id and _session_is_over(other, registry))
    zk_proxy.set_mode(Mode.PASS)
    states.wait_for(lambda seen: seen[-2:] == [LOST, CONNECTED])
    registry.transact([Create("/alive")])
    assert other.get("/zombie", fresh=True) is None


def _session_is_over(other: ZooKeeperRegistry, registry: ZooKeeperRegistry) -> bool:
    """Wait out T plus a tick, by which the server has ended a silent session."""
    pass_time(registry.session_timeout_s + other.tick_s + 0.5)
    return True


def test_transaction_queued_in_kazoo_without_a_connection_is_not_sent_under_the_next_session(
    make_zk: Make, zk_proxy: TcpProxy
) -> None:
    """What slips past our own gate into kazoo's queue is stopped when the bytes are made."""
    registry = make_zk(zk_proxy.address, session_timeout_s=T_S)
    states = states_of(registry)
    registry.transact([Create("/a")])
    standing = registry._session.standing()
    zk_proxy.set_mode(Mode.STALL)
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    answers: Recorder[Any] = Recorder()
    operation = _kazoo_put("/a", registry)
    standing.client.commit([operation], standing.session[0], lambda _, error: answers(error))
    _session_is_over(registry, registry)
    zk_proxy.set_mode(Mode.PASS)
    states.wait_for(lambda seen: seen[-2:] == [LOST, CONNECTED])
    answers.wait_for(lambda seen: len(seen) == 1)
    # And one that is queued under the old session while the new one is there already.
    standing.client.commit([operation], standing.session[0], lambda _, error: answers(error))
    answers.wait_for(lambda seen: len(seen) == 2)
    assert isinstance(answers.values[1], SessionLostError)
    node = registry.get("/a")
    assert node is not None
    assert node.version == 0


def _kazoo_put(path: str, registry: ZooKeeperRegistry) -> Any:
    from kazoo.protocol.serialization import SetData

    return SetData(registry._chroot.full(path), b"zombie", -1)


def test_requests_without_a_connection_are_refused_at_once(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """No write is queued for later: it fails within a moment and is not done after healing. A read waits a little."""
    registry = make_zk(zk_proxy.address)
    states = states_of(registry)
    zk_proxy.set_mode(Mode.REFUSE)
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    began = time.monotonic()
    with pytest.raises(RegistryUnavailableError, match="nothing was sent"):
        registry.transact([Create("/a")])
    with pytest.raises(RegistryUnavailableError):
        registry.renew(Check("/a")).result(5)
    assert time.monotonic() - began < 0.5
    with pytest.raises(RegistryUnavailableError):
        registry.get("/a")
    assert time.monotonic() - began < 3.0
    zk_proxy.set_mode(Mode.PASS)
    states.wait_for(is_told(CONNECTED, SUSPENDED, CONNECTED))
    assert registry.get("/a", fresh=True) is None


def test_reads_ride_through_a_connection_that_breaks(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """What became of a write whose answer was lost can be read at once, though the connection is just being made."""
    registry = make_zk(zk_proxy.address)
    registry.transact([Create("/a", b"1")])
    for _ in range(10):
        zk_proxy.drop()
        node = registry.get("/a", fresh=True)
        assert node is not None
        assert abs(registry.server_time() - node.created_at) < timedelta(minutes=5)


def test_transaction_that_was_not_awaited_long_enough_is_not_sent_later(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """A transaction whose caller gave up before it was sent is withdrawn."""
    registry = make_zk(zk_proxy.address)
    blocker = threading.Event()
    first = registry.submit([Create("/first")])
    # The answer's callback holds the connection's thread, so that the next one waits unsent.
    first.add_done_callback(lambda _: blocker.wait(5))
    pass_time(0.1)
    with pytest.raises(RegistryUnavailableError, match="within"):
        registry.transact([Create("/second")], timeout_s=0.2)
    blocker.set()
    assert isinstance(registry.transact([Create("/third")]), Committed)
    assert registry.read(("/first", "/second"), fresh=True)[1] is None


def test_changes_made_during_a_short_cut_are_seen_within_3_s_of_healing(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """Watches are gone with a connection although the session lives; everything is read again."""
    other = make_zk()
    other.transact([Create("/jobs"), Create("/jobs/a"), Create("/jobs/b"), Create("/jobs/c")])
    before = other.get("/jobs/c")
    registry = make_zk(zk_proxy.address, session_timeout_s=8.0)
    states = states_of(registry)
    session_id = registry.session_id
    picture = Picture()
    registry.watch("/jobs", picture)
    picture.wait_for(lambda it: len(it.nodes) == 4)
    zk_proxy.set_mode(Mode.REFUSE)
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    other.transact([Put("/jobs/a", b"changed"), Delete("/jobs/b"), Create("/jobs/d")])
    other.transact([Delete("/jobs/c")])
    other.transact([Create("/jobs/c")])
    pass_time(1.0)
    zk_proxy.set_mode(Mode.PASS)
    picture.wait_for(lambda it: it.complete_count == 2, 3.0)
    assert sorted(picture.nodes) == ["/jobs", "/jobs/a", "/jobs/c", "/jobs/d"]
    assert picture.nodes["/jobs/a"].value == b"changed"
    assert before is not None
    assert picture.nodes["/jobs/c"].created_id > before.created_id
    assert registry.session_id == session_id
    assert states.values == [CONNECTED, SUSPENDED, CONNECTED]


@pytest.mark.parametrize("down_s", [1.0, T_S + 1.5])
def test_restart_of_the_server_with_its_data_keeps_the_session(
    own_zookeeper: ServerProcess, make_zk: Make, down_s: float
) -> None:
    """A server that comes back gives every session its whole time-out again, however long it was away."""
    registry = make_zk(own_zookeeper.hosts, session_timeout_s=T_S)
    states = states_of(registry)
    session_id = registry.session_id
    picture = Picture()
    registry.watch("/", picture)
    registry.transact([Create("/mine", b"", ephemeral=True)])
    own_zookeeper.kill()
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    pass_time(down_s)
    own_zookeeper.start()
    states.wait_for(is_told(CONNECTED, SUSPENDED, CONNECTED))
    assert registry.session_id == session_id
    picture.wait_for(lambda it: it.complete_count == 2 and "/mine" in it.nodes)
    assert isinstance(registry.renew(Check("/mine")).result(5), Committed)


def test_restart_of_the_server_without_its_data_replaces_the_client(
    own_zookeeper: ServerProcess, make_zk: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """A client that has seen more than the servers hold is refused for ever; another one takes its place."""
    registry = make_zk(own_zookeeper.hosts, session_timeout_s=T_S, replace_after_s=1.0, chroot="/deep/er")
    states = states_of(registry)
    session_id = registry.session_id
    registry.transact([Create("/jobs")])
    picture = Picture()
    registry.watch("/jobs", picture)
    picture.wait_for(lambda it: "/jobs" in it.nodes)
    own_zookeeper.stop()
    own_zookeeper.wipe()
    own_zookeeper.start()
    states.wait_for(is_told(CONNECTED, SUSPENDED, LOST, CONNECTED), 20)
    assert registry.session_id != session_id
    picture.wait_for(lambda it: it.complete_count == 2 and not it.nodes)
    assert isinstance(registry.transact([Create("/jobs")]), Committed)
    picture.wait_for(lambda it: "/jobs" in it.nodes)
    assert "registry_stuck" in [getattr(record, "event", "") for record in caplog.records]


def test_outage_longer_than_the_replacement_time_keeps_the_session(own_zookeeper: ServerProcess, make_zk: Make) -> None:
    """A second client is only preferred where it is taken and the first is not: not while all servers are away."""
    registry = make_zk(own_zookeeper.hosts, session_timeout_s=8.0, replace_after_s=0.2)
    states = states_of(registry)
    session_id = registry.session_id
    own_zookeeper.kill()
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    pass_time(2.0)
    own_zookeeper.start()
    states.wait_for(is_told(CONNECTED, SUSPENDED, CONNECTED))
    assert registry.session_id == session_id
    pass_time(1.0)
    assert states.values == [CONNECTED, SUSPENDED, CONNECTED]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_client_whose_connection_thread_ended_is_replaced(make_zk: Make, caplog: pytest.LogCaptureFixture) -> None:
    """An error that kazoo does not expect ends its thread for good; the registry goes on with another client."""

    class Unsendable:
        type = 4

        def serialize(self) -> bytes:
            raise RuntimeError("unsendable")

    registry = make_zk()
    states = states_of(registry)
    registry._session.standing().client.call(Unsendable(), lambda *_: None)
    states.wait_for(is_told(CONNECTED, LOST, CONNECTED))
    assert isinstance(registry.transact([Create("/a")]), Committed)
    assert "connection loop" in caplog.text


@pytest.mark.parametrize("mode", [Mode.PASS, Mode.REFUSE, Mode.STALL])
def test_close_returns_within_5_s_and_leaves_no_thread(
    make_zk: Make, zk_proxy: TcpProxy, mode: Mode, zookeeper: Server
) -> None:
    """Whether the servers answer, refuse or are silent; from several threads at once, and again."""
    assert zookeeper.is_serving()
    before = set(threading.enumerate())
    registry = make_zk(zk_proxy.address, session_timeout_s=10.0)
    states = states_of(registry)
    registry.watch("/", Picture())
    mine = set(threading.enumerate()) - before
    zk_proxy.set_mode(mode)
    if mode is Mode.REFUSE:
        states.wait_for(is_told(CONNECTED, SUSPENDED))
    began = time.monotonic()
    closers = [threading.Thread(target=registry.close) for _ in range(3)]
    for closer in closers:
        closer.start()
    for closer in closers:
        closer.join(10)
    registry.close()
    assert time.monotonic() - began < 5.0
    zk_proxy.set_mode(Mode.PASS)
    eventually(lambda: not any("zookeeper" in thread.name for thread in mine & set(threading.enumerate())))
    with pytest.raises(RegistryUnavailableError):
        registry.transact([Create("/a")], timeout_s=1)


def test_close_while_connecting_to_a_silent_server_returns_within_5_s(
    make_zk: Make, zk_proxy: TcpProxy, silent_port: int
) -> None:
    """A client that waits for a connect reply can be closed as well."""
    registry = make_zk(f"{zk_proxy.address},127.0.0.1:{silent_port}", session_timeout_s=10.0)
    states = states_of(registry)
    zk_proxy.set_mode(Mode.REFUSE)
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    pass_time(0.5)
    began = time.monotonic()
    registry.close()
    assert time.monotonic() - began < 5.0


def test_open_with_a_silent_server_among_the_hosts_reaches_the_other(
    make_zk: Make, zookeeper: Server, silent_port: int
) -> None:
    """A connect reply is not awaited for the whole time-out; the next host is tried."""
    for _ in range(4):
        began = time.monotonic()
        registry = make_zk(f"127.0.0.1:{silent_port},{zookeeper.hosts}", session_timeout_s=4.0)
        assert time.monotonic() - began < 3.0
        registry.close()


def test_open_without_any_server_fails_in_time_and_says_why(silent_port: int) -> None:
    """The message names the last reason and what to do; nothing is left running."""
    before = threading.active_count()
    registry = ZooKeeperRegistry("127.0.0.1:1", session_timeout_s=2.0)
    with pytest.raises(RegistryUnavailableError, match=r"refused.*check the servers"):
        registry.open(timeout_s=0.5)
    with pytest.raises(RegistryUnavailableError, match=r"within 0\.5 s"):
        ZooKeeperRegistry(f"127.0.0.1:{silent_port}", session_timeout_s=2.0).open(timeout_s=0.5)
    eventually(lambda: threading.active_count() <= before)


def test_close_during_open_ends_both_soon(silent_port: int) -> None:
    """A process that is told to end while it waits for its registry does not wait any longer."""
    registry = ZooKeeperRegistry(f"127.0.0.1:{silent_port}", session_timeout_s=10.0)
    errors: Recorder[Exception] = Recorder()

    def open_it() -> None:
        try:
            registry.open(timeout_s=30.0)
        except RegistryUnavailableError as error:
            errors(error)

    opener = threading.Thread(target=open_it)
    opener.start()
    pass_time(0.3)
    began = time.monotonic()
    registry.close()
    opener.join(10)
    assert time.monotonic() - began < 5.0
    assert "closed while" in str(errors.values[0])


def test_open_that_failed_can_be_repeated(own_zookeeper: ServerProcess, zk_chroot: str) -> None:
    """A process that starts before its registry only has to try again."""
    own_zookeeper.kill()
    registry = ZooKeeperRegistry(own_zookeeper.hosts, chroot=zk_chroot)
    with pytest.raises(RegistryUnavailableError):
        registry.open(timeout_s=0.3)
    own_zookeeper.start()
    registry.open()
    assert registry.children("/") == ()
    registry.close()


def test_reset_of_a_stalled_connection_is_told_at_once_and_heals_in_the_same_session(
    make_zk: Make, zk_proxy: TcpProxy
) -> None:
    """Requests of our own hide a dead link from kazoo; the reset ends it, and the session goes on."""
    registry = make_zk(zk_proxy.address, session_timeout_s=8.0)
    states = states_of(registry)
    session_id = registry.session_id
    registry.transact([Create("/fence")])
    zk_proxy.set_mode(Mode.STALL)
    beat = registry.renew(Check("/fence"))
    pass_time(0.2)
    began = time.monotonic()
    registry.reset_connection()
    with pytest.raises(RegistryUnavailableError):
        beat.result(5)
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    assert time.monotonic() - began < 0.5
    zk_proxy.set_mode(Mode.PASS)
    states.wait_for(is_told(CONNECTED, SUSPENDED, CONNECTED))
    assert registry.session_id == session_id


def give_up_until_lost(registry: ZooKeeperRegistry, states: Recorder[SessionState]) -> None:
    """Give a session up again and again, as the lease does with a heartbeat left unanswered, until it is lost."""

    def is_lost() -> bool:
        registry.give_up_session()
        registry.reset_connection()
        return LOST in states.values

    eventually(is_lost, pause_s=0.2)


def test_session_given_up_over_a_link_that_swallows_answers_ends_at_once(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """Its ephemerals go although its requests to go on arrive, and nothing asked under it comes under the next."""
    other = make_zk()
    registry = make_zk(zk_proxy.address, session_timeout_s=T_S)
    states = states_of(registry)
    old_id = registry.session_id
    registry.transact([Create("/fence", ephemeral=True), Create("/a")])
    standing = registry._session.standing()

    def put_under_the_old_session() -> None:
        put = _kazoo_put("/a", registry)
        standing.client.commit([put], standing.session[0], lambda _, error: answers(error))

    answers: Recorder[Any] = Recorder()
    zk_proxy.set_mode(Mode.REQUESTS_ONLY)
    unanswered = registry.submit([Check("/fence"), Create("/arrived")])
    states.wait_for(is_told(CONNECTED, SUSPENDED))
    put_under_the_old_session()
    for _ in range(math.ceil((T_S + other.tick_s + 0.5) / 0.2)):
        registry.reset_connection()
        pass_time(0.2)
    assert other.get("/fence", fresh=True) is not None, "its requests keep no session alive: this shows nothing"
    give_up_until_lost(registry, states)
    eventually(lambda: other.get("/fence", fresh=True) is None, 1.0)
    with pytest.raises(SessionLostError):
        registry.transact([Create("/late")])
    put_under_the_old_session()
    zk_proxy.set_mode(Mode.PASS)
    states.wait_for(is_told(CONNECTED, SUSPENDED, LOST, CONNECTED))
    put_under_the_old_session()
    answers.wait_for(lambda seen: len(seen) == 3)
    assert all(isinstance(error, Exception) for error in answers.values)
    assert isinstance(unanswered.exception(), RegistryUnavailableError)
    assert registry.session_id != old_id
    assert isinstance(registry.transact([Check("/arrived", 0), Check("/a", 0)]), Committed)
    assert other.get("/late", fresh=True) is None


@pytest.mark.parametrize("mode", [Mode.PASS, Mode.REFUSE])
def test_session_given_up_is_kept_while_the_servers_answer_or_refuse(
    make_zk: Make, zk_proxy: TcpProxy, mode: Mode
) -> None:
    """Only silence costs a session: not a connection that works or is made anew, nor servers that are away."""
    registry = make_zk(zk_proxy.address, session_timeout_s=8.0)
    states = states_of(registry)
    session_id = registry.session_id
    registry.transact([Create("/fence", ephemeral=True)])
    registry.give_up_session()
    zk_proxy.set_mode(mode)
    zk_proxy.drop()
    for _ in range(10):
        registry.give_up_session()
        pass_time(0.1)
    zk_proxy.set_mode(Mode.PASS)
    states.wait_for(is_told(CONNECTED, SUSPENDED, CONNECTED))
    assert registry.session_id == session_id
    assert isinstance(registry.renew(Check("/fence")).result(5), Committed)


def test_session_that_was_answered_again_is_not_given_up_afterwards(make_zk: Make, zk_proxy: TcpProxy) -> None:
    """Silence counts until the next answer only."""
    registry = make_zk(zk_proxy.address, session_timeout_s=8.0)
    states = states_of(registry)
    session_id = registry.session_id
    zk_proxy.set_mode(Mode.STALL)
    zk_proxy.drop()
    link = registry._session.standing().client._link
    eventually(lambda: link._is_unanswered)
    zk_proxy.set_mode(Mode.PASS)
    states.wait_for(is_told(CONNECTED, SUSPENDED, CONNECTED))
    registry.give_up_session()
    zk_proxy.drop()
    states.wait_for(is_told(CONNECTED, SUSPENDED, CONNECTED, SUSPENDED, CONNECTED))
    assert registry.session_id == session_id
