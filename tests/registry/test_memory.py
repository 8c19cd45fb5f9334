"""The registry in memory: the contract, its own tools, and a trivial model to agree with."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from shardsched.errors import RegistryUnavailableError, SessionLostError, SettingsError
from shardsched.registry.base import Check, Committed, Create, Delete, Put, Refused, SessionState
from shardsched.registry.memory import MemoryRegistry, MemoryStore
from shardsched.testing import FakeClock
from tests.registry.contract import Registries, RegistryContract
from tests.registry.operation import operations
from tests.waiting import Recorder, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shardsched.registry.base import Changes, Operation, Registry


class MemoryRegistries(Registries):
    """Clients of one store in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore()

    def build(self, session_timeout_s: float) -> Registry:
        """Return a client with a callback thread."""
        return MemoryRegistry(self.store, session_timeout_s=session_timeout_s)

    def expire(self, registry: Registry) -> None:
        """End the session."""
        self.store.end(registry.session_id)

    def disconnect(self, registry: Registry) -> None:
        """Cut the link."""
        assert isinstance(registry, MemoryRegistry)
        registry.disconnect()

    def reconnect(self, registry: Registry) -> None:
        """Heal the link."""
        assert isinstance(registry, MemoryRegistry)
        registry.reconnect()


class TestMemoryRegistry(RegistryContract):
    """Keeps every promise."""

    @pytest.fixture
    def registries(self) -> Iterator[Registries]:
        """Clients of an empty store."""
        bench = MemoryRegistries()
        yield bench
        bench.close()


@pytest.fixture
def clock() -> FakeClock:
    """The store's clock."""
    return FakeClock()


@pytest.fixture
def store(clock: FakeClock) -> MemoryStore:
    """A store whose time stands still."""
    return MemoryStore(clock)


@pytest.fixture
def registry(store: MemoryStore) -> Iterator[MemoryRegistry]:
    """A client without a thread."""
    with MemoryRegistry(store, session_timeout_s=10.0, inline=True) as client:
        yield client


def test_inline_registry_calls_back_only_when_pumped(registry: MemoryRegistry) -> None:
    """No thread runs; what is queued comes in order, many changes as one report."""
    threads = threading.active_count()
    reports: list[Changes] = []
    registry.watch("/w", reports.append)
    registry.transact([Create("/w")])
    registry.transact([Put("/w", b"1")])
    assert reports == []
    assert registry.pump() == 1
    assert [changes.complete for changes in reports] == [True]
    assert registry.pump() == 0
    registry.transact([Put("/w", b"2")])
    registry.transact([Delete("/w")])
    registry.transact([Create("/other")])
    registry.pump()
    assert (reports[-1].nodes, reports[-1].complete) == ({"/w": None}, False)
    assert threading.active_count() == threads


def test_inline_callback_that_raises_is_heard_by_the_pumper(registry: MemoryRegistry) -> None:
    """A simulation must not miss it; what is queued behind it stays."""
    later: list[SessionState] = []

    def fail(_: SessionState) -> None:
        raise ZeroDivisionError

    registry.on_session(fail)
    registry.on_session(later.append)
    with pytest.raises(ZeroDivisionError):
        registry.pump()
    assert registry.pump() == 1
    assert later == [SessionState.CONNECTED]


def test_session_expires_only_after_its_time_out_of_silence(
    store: MemoryStore, clock: FakeClock, registry: MemoryRegistry
) -> None:
    """Requests that arrive count, also refused ones and reads; those of others do not."""
    other = MemoryRegistry(store, session_timeout_s=30.0, inline=True)
    other.open()
    registry.transact([Create("/e", ephemeral=True)])
    for hear in (
        lambda: registry.get("/"),
        lambda: registry.transact([Check("/missing")]),
        lambda: registry.renew(Check("/e")),
    ):
        clock.advance(9.0)
        hear()
        assert store.expire_sessions() == 0
    clock.advance(10.0)
    other.get("/e")
    assert store.expire_sessions() == 0
    clock.advance(0.1)
    assert store.expire_sessions() == 1
    assert "/e" not in store.snapshot()
    other.close()


def test_session_lost_while_cut_is_told_when_the_link_heals(
    store: MemoryStore, clock: FakeClock, registry: MemoryRegistry
) -> None:
    """Until then the client knows no better than SUSPENDED."""
    states: list[SessionState] = []
    registry.on_session(states.append)
    session = registry.session_id
    registry.disconnect()
    registry.disconnect()
    clock.advance(20.0)
    store.expire_sessions()
    registry.pump()
    assert states == [SessionState.CONNECTED, SessionState.SUSPENDED]
    assert registry.session_id == session
    registry.reset_connection()
    registry.reconnect()
    registry.reconnect()
    registry.pump()
    assert states[2:] == [SessionState.LOST, SessionState.CONNECTED]


def test_lost_request_and_lost_reply_are_unknown(registry: MemoryRegistry) -> None:
    """The caller cannot tell them apart, the store can: only the second was applied."""
    moments: list[tuple[str, int]] = []

    def lose(lost: str, moment: str, operations: Sequence[Operation]) -> None:
        moments.append((moment, len(operations)))
        if moment == lost:
            raise RegistryUnavailableError("lost")

    registry.fault = lambda moment, operations: lose("request", moment, operations)
    with pytest.raises(RegistryUnavailableError):
        registry.transact([Create("/a")])
    registry.fault = lambda moment, operations: lose("reply", moment, operations)
    with pytest.raises(RegistryUnavailableError):
        registry.transact([Create("/b")])
    registry.fault = lambda moment, operations: lose("read", moment, operations)
    with pytest.raises(RegistryUnavailableError):
        registry.get("/a")
    registry.fault = None
    assert registry.children("/") == ("b",)
    assert moments == [("request", 1), ("request", 1), ("reply", 1), ("read", 0)]


def test_session_lost_on_the_way_is_not_replaced_by_the_new_one(store: MemoryStore, registry: MemoryRegistry) -> None:
    """A request that left under one session is not applied under the next."""

    def expire(moment: str, _: Sequence[Operation]) -> None:
        if moment == "request":
            store.end(registry.session_id)

    registry.fault = expire
    with pytest.raises(SessionLostError):
        registry.transact([Create("/a")])
    registry.fault = None
    assert registry.get("/a") is None


def test_ticket_of_an_ended_session_is_no_error(store: MemoryStore, registry: MemoryRegistry) -> None:
    """It may be asked for and used at any time."""
    registry.disconnect()
    store.end(registry.session_id)
    ticket = registry.session_ticket
    registry.reconnect()
    registry.end_session(ticket)
    assert isinstance(registry.transact([Create("/a")]), Committed)


def test_watch_begun_while_cut_is_complete_when_the_link_heals(registry: MemoryRegistry) -> None:
    """It is told nothing before, and then everything."""
    reports: list[Changes] = []
    registry.disconnect()
    registry.watch("/", reports.append)
    assert registry.pump() == 0
    registry.reconnect()
    registry.pump()
    assert [(changes.complete, set(changes.nodes)) for changes in reports] == [(True, {"/"})]


def test_watch_cancelled_with_a_report_on_its_way_is_not_told(registry: MemoryRegistry) -> None:
    """Cancelled is cancelled; the other watch of the prefix is told."""
    first: list[Changes] = []
    second: list[Changes] = []
    subscription = registry.watch("/w", first.append)
    last = registry.watch("/w", second.append)
    subscription.cancel()
    registry.transact([Create("/w")])
    registry.pump()
    assert (len(first), len(second)) == (0, 1)
    last.cancel()
    registry.transact([Delete("/w")])
    assert registry.pump() == 0


def test_closed_registry_calls_nothing_back(registry: MemoryRegistry) -> None:
    """What was still queued is dropped, with a thread or without."""
    reports: list[Changes] = []
    registry.watch("/", reports.append)
    registry.close()
    assert registry.pump() == 0
    assert reports == []


def test_registry_closed_by_its_own_callback_ends_its_thread(store: MemoryStore) -> None:
    """It does not wait for itself; what was queued behind is dropped."""
    client = MemoryRegistry(store)
    threads = set(threading.enumerate())
    release, later = threading.Event(), Recorder[SessionState]()

    def close(_: SessionState) -> None:
        release.wait(10)
        client.close()

    client.open()
    client.on_session(close)
    client.on_session(later)
    release.set()
    eventually(lambda: set(threading.enumerate()) == threads)
    assert later.values == []


def test_cut_link_refuses_everything(registry: MemoryRegistry) -> None:
    """Whatever is asked, nothing happens until it heals."""
    registry.disconnect()
    for call in (
        lambda: registry.get("/"),
        lambda: registry.children("/"),
        registry.server_time,
        lambda: registry.transact([Create("/a")]),
        lambda: registry.end_session(registry.session_ticket),
    ):
        with pytest.raises(RegistryUnavailableError, match="no connection"):
            call()
    registry.reconnect()
    assert registry.children("/") == ()


def test_registry_is_opened_once(store: MemoryStore, registry: MemoryRegistry) -> None:
    """Before it is opened, and again after it is closed, it says what to do."""
    with pytest.raises(RegistryUnavailableError, match="opened or closed before"):
        registry.open()
    fresh = MemoryRegistry(store, inline=True)
    with pytest.raises(RegistryUnavailableError, match="open it first"):
        fresh.get("/")
    fresh.close()
    with pytest.raises(RegistryUnavailableError, match="opened or closed before"):
        fresh.open()


@pytest.mark.parametrize("options", [{"session_timeout_s": 0.0}, {"tick_s": -1.0}])
def test_registry_with_impossible_times_is_refused(store: MemoryStore, options: dict[str, float]) -> None:
    """A mistake is told where it is made."""
    with pytest.raises(SettingsError):
        MemoryRegistry(store, **options)  # type: ignore[arg-type]  # every option is a float


def test_root_cannot_be_deleted(registry: MemoryRegistry) -> None:
    """What everything stands on stays."""
    with pytest.raises(SettingsError):
        registry.submit([Delete("/")])
    assert registry.get("/") is not None


class MemoryMachine(RuleBasedStateMachine):
    """A few clients of one store, against a plain dictionary that is copied before each transaction."""

    clients = Bundle("clients")

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        self.model: dict[str, tuple[bytes, int, str | None]] = {"/": (b"", 0, None)}
        self.creations: dict[str, int] = {}
        self.pictures: dict[MemoryRegistry, dict[str, bytes]] = {}

    @rule(target=clients)
    def begin(self) -> MemoryRegistry:
        """A client comes, and watches."""
        client = MemoryRegistry(self.store, inline=True)
        client.open()
        picture = self.pictures[client] = {}

        def draw(changes: Changes) -> None:
            if changes.complete:
                picture.clear()
            for path, node in changes.nodes.items():
                picture.pop(path, None)
                if node is not None:
                    picture[path] = node.value

        client.watch("/a", draw)
        return client

    @rule(client=consumes(clients))
    def close(self, client: MemoryRegistry) -> None:
        """A client goes, and its ephemerals with it."""
        self._forget(client.session_id)
        client.close()
        del self.pictures[client]

    @rule(client=clients)
    def expire(self, client: MemoryRegistry) -> None:
        """A session ends on the servers."""
        old = client.session_id
        self._forget(old)
        self.store.end(old)
        assert client.session_id != old

    @rule(client=clients, batch=st.lists(operations(), max_size=6))
    def transact(self, client: MemoryRegistry, batch: list[Operation]) -> None:
        """A transaction is done or refused as the model says."""
        outcome = client.transact(batch)
        culprit = self._try(client.session_id, batch)
        if culprit is None:
            assert isinstance(outcome, Committed)
            assert len(outcome.versions) == len(batch)
        else:
            assert isinstance(outcome, Refused)
            assert (outcome.index, outcome.operation) == (culprit, batch[culprit])

    @rule(client=clients)
    def pump(self, client: MemoryRegistry) -> None:
        """What the watch has told is what there is."""
        client.pump()
        below = {path: value for path, (value, _, _) in self.model.items() if path == "/a" or _above(path) == "/a"}
        assert self.pictures[client] == below

    @invariant()
    def nodes_are_those_of_the_model(self) -> None:
        """Values, versions and owners agree; a node made anew is later than it was."""
        nodes = self.store.snapshot()
        assert {path: (node.value, node.version, node.owner) for path, node in nodes.items()} == self.model
        for path, node in nodes.items():
            assert node.created_id >= self.creations.get(path, 0)
            self.creations[path] = node.created_id

    @invariant()
    def children_are_those_of_the_model(self) -> None:
        """What is listed is what is there."""
        for path in self.model:
            names = {other.rpartition("/")[2] for other in self.model if other != "/" and _above(other) == path}
            assert set(self.store.names(path) or ()) == names

    def _forget(self, session: str) -> None:
        self.model = {path: entry for path, entry in self.model.items() if entry[2] != session}

    def _try(self, session: str, batch: list[Operation]) -> int | None:
        nodes = dict(self.model)
        for index, operation in enumerate(batch):
            path, entry = operation.path, nodes.get(operation.path)
            above = nodes.get(_above(path))
            match operation:
                case Create(value=value, ephemeral=ephemeral):
                    if entry is not None or above is None or above[2] is not None:
                        return index
                    nodes[path] = (value, 0, session if ephemeral else None)
                case Check(version=version) | Put(version=version) | Delete(version=version):
                    if entry is None or version not in {-1, entry[1]}:
                        return index
                    if isinstance(operation, Put):
                        nodes[path] = (operation.value, entry[1] + 1, entry[2])
                    elif isinstance(operation, Delete):
                        if any(_above(other) == path for other in nodes):
                            return index
                        del nodes[path]
        self.model = nodes
        return None


def _above(path: str) -> str:
    return "" if path == "/" else path.rpartition("/")[0] or "/"


MemoryMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestMemoryMachine = MemoryMachine.TestCase
