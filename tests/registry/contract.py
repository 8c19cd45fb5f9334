"""Every promise of `shardsched.registry.base`, for any implementation.

An implementation is tried by a subclass of `RegistryContract` whose module (or class) has a fixture ``registries`` that
yields a `Registries`: a factory of open clients on one empty store, which can also expire sessions and cut links::

    class TestMine(RegistryContract):
        @pytest.fixture
        def registries(self) -> Iterator[Registries]:
            bench = MyRegistries(...)
            yield bench
            bench.close()
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from shardsched.errors import (
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    RegistryError,
    RegistryUnavailableError,
    SessionLostError,
    SettingsError,
    ValueTooLargeError,
    VersionConflictError,
)
from shardsched.registry.base import (
    ANY_VERSION,
    MAX_TRANSACTION_BYTES,
    MAX_VALUE_BYTES,
    Changes,
    Check,
    Committed,
    Create,
    Delete,
    Put,
    Refusal,
    Refused,
    SessionState,
)
from shardsched.registry.memory import MemoryRegistry, MemoryStore
from tests.registry.operation import transactions
from tests.waiting import Picture, Recorder, eventually

if TYPE_CHECKING:
    from shardsched.registry.base import Node, Operation, Outcome, Registry

CONNECTED, SUSPENDED, LOST = SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.LOST


class Registries(ABC):
    """Clients of one store that was empty at the beginning of the test."""

    can_disconnect = True
    """Whether links can be cut; tests that need it are skipped otherwise."""

    def __init__(self) -> None:
        self.made: list[Registry] = []

    def make(self, session_timeout_s: float = 4.0) -> Registry:
        """Return another client, open; it is closed at the end of the test."""
        registry = self.build(session_timeout_s)
        self.made.append(registry)
        registry.open()
        return registry

    @abstractmethod
    def build(self, session_timeout_s: float) -> Registry:
        """Return another client, not yet open."""

    @abstractmethod
    def expire(self, registry: Registry) -> None:
        """Have the store end a client's session as if the client had been silent; return when it has ended."""

    def disconnect(self, registry: Registry) -> None:
        """Cut the link between a client and the store."""
        raise NotImplementedError

    def reconnect(self, registry: Registry) -> None:
        """Heal a link that was cut."""
        raise NotImplementedError

    def threads(self) -> set[threading.Thread]:
        """Return what runs, but for what cuts links."""
        return set(threading.enumerate())

    def close(self) -> None:
        """Close all clients."""
        for registry in self.made:
            registry.close()


def done(outcome: Outcome) -> tuple[int, ...]:
    """Return the versions of a transaction that must have been done."""
    assert isinstance(outcome, Committed), outcome
    return outcome.versions


def refused(outcome: Outcome) -> tuple[int, Refusal]:
    """Return where and why a transaction was refused, which it must have been."""
    assert isinstance(outcome, Refused), outcome
    return outcome.index, outcome.reason


def there(registry: Registry, path: str) -> Node:
    """Return a node that must exist."""
    node = registry.get(path, fresh=True)
    assert node is not None, path
    return node


def watched(registry: Registry, prefix: str) -> Picture:
    """Return the picture that a watch keeps, once it is complete."""
    picture = Picture()
    registry.watch(prefix, picture)
    picture.wait_for(lambda it: it.complete_count > 0)
    return picture


def has(path: str, value: bytes, picture: Picture) -> bool:
    """Say whether a picture has a node with this value."""
    return path in picture.nodes and picture.nodes[path].value == value


class RegistryContract:
    """The promises. Subclasses add a fixture ``registries``."""

    @pytest.fixture
    def registry(self, registries: Registries) -> Registry:
        """One client."""
        return registries.make()

    @pytest.fixture
    def other(self, registries: Registries) -> Registry:
        """Another client of the same store."""
        return registries.make()

    # Transactions

    def test_create_of_a_new_node_is_read_back(self, registry: Registry) -> None:
        """A node has the value it was made with, version 0, a creation time and, persistent, no owner."""
        before = registry.server_time()
        assert done(registry.transact([Create("/a", b"one")])) == (0,)
        node = there(registry, "/a")
        assert (node.path, node.value, node.version, node.owner) == ("/a", b"one", 0, None)
        assert node.created_at.utcoffset() == timedelta(0)
        assert abs(node.created_at - before) < timedelta(seconds=5)

    def test_create_of_a_node_that_exists_is_refused(self, registry: Registry) -> None:
        """The node stays as it was."""
        registry.transact([Create("/a", b"one")])
        assert refused(registry.transact([Create("/a", b"two")])) == (0, Refusal.EXISTS)
        assert there(registry, "/a").value == b"one"

    def test_create_without_a_parent_is_refused(self, registry: Registry) -> None:
        """Parents are never made on the way."""
        assert refused(registry.transact([Create("/a/b")])) == (0, Refusal.NO_NODE)
        assert registry.get("/a") is None

    def test_create_below_an_ephemeral_is_refused_as_without_a_parent(self, registry: Registry) -> None:
        """An ephemeral node has no children, nor has one made in the same transaction."""
        registry.transact([Create("/a", ephemeral=True)])
        assert refused(registry.transact([Create("/a/b")])) == (0, Refusal.NO_NODE)
        outcome = registry.transact([Create("/e", ephemeral=True), Create("/e/b")])
        assert refused(outcome) == (1, Refusal.NO_NODE)
        assert registry.get("/e") is None

    def test_put_counts_the_version_up(self, registry: Registry) -> None:
        """Each put is one more, and the value is the last one's; the creation is not touched."""
        registry.transact([Create("/a", b"0")])
        created = there(registry, "/a")
        assert done(registry.transact([Put("/a", b"1", 0)])) == (1,)
        assert done(registry.transact([Put("/a", b"2")])) == (2,)
        node = there(registry, "/a")
        assert (node.value, node.version) == (b"2", 2)
        assert (node.created_id, node.created_at) == (created.created_id, created.created_at)

    def test_put_with_another_version_is_refused(self, registry: Registry) -> None:
        """Neither an older nor a later version will do."""
        registry.transact([Create("/a", b"0")])
        registry.transact([Put("/a", b"1")])
        for version in (0, 2):
            assert refused(registry.transact([Put("/a", b"x", version)])) == (0, Refusal.VERSION)
        assert there(registry, "/a").value == b"1"

    @pytest.mark.parametrize("operation", [Put("/a", b""), Delete("/a"), Check("/a"), Check("/a", 0)])
    def test_operation_on_a_missing_node_is_refused(self, registry: Registry, operation: Operation) -> None:
        """Any version means that the node must exist."""
        outcome = registry.transact([operation])
        assert refused(outcome) == (0, Refusal.NO_NODE)
        assert isinstance(outcome, Refused)
        assert outcome.operation == operation

    def test_delete_takes_the_node_away(self, registry: Registry) -> None:
        """It is gone from reads and from its parent's children."""
        registry.transact([Create("/a"), Create("/a/b")])
        assert done(registry.transact([Delete("/a/b", 0)])) == (-1,)
        assert registry.get("/a/b") is None
        assert registry.children("/a") == ()

    def test_delete_of_a_node_with_children_is_refused(self, registry: Registry) -> None:
        """Children go first; a wrong version is told before them."""
        registry.transact([Create("/a"), Create("/a/b")])
        assert refused(registry.transact([Delete("/a")])) == (0, Refusal.NOT_EMPTY)
        assert refused(registry.transact([Delete("/a", 3)])) == (0, Refusal.VERSION)
        assert done(registry.transact([Delete("/a/b"), Delete("/a")])) == (-1, -1)

    def test_check_of_the_right_version_lets_the_others_happen(self, registry: Registry) -> None:
        """It is told as it was checked, and changes nothing."""
        registry.transact([Create("/a"), Create("/b")])
        registry.transact([Put("/a", b"")])
        assert done(registry.transact([Check("/a", 1), Check("/a"), Put("/b", b"x")])) == (1, ANY_VERSION, 1)
        assert refused(registry.transact([Put("/b", b"y"), Check("/a", 0)])) == (1, Refusal.VERSION)
        assert there(registry, "/a").version == 1
        assert there(registry, "/b").value == b"x"

    def test_transaction_that_is_refused_changes_nothing(self, registry: Registry) -> None:
        """All or nothing, wherever the culprit stands; the first one is told."""
        registry.transact([Create("/a", b"a"), Create("/b", b"b"), Create("/c")])
        operations: list[Operation] = [Put("/a", b"x"), Delete("/b"), Create("/d", ephemeral=True), Delete("/c")]
        for index in range(len(operations) + 1):
            culprit = [*operations[:index], Check("/missing"), Put("/a", b"", 17), *operations[index:]]
            assert refused(registry.transact(culprit)) == (index, Refusal.NO_NODE)
        nodes = registry.read(("/a", "/b", "/c", "/d"), fresh=True)
        assert [node and (node.value, node.version) for node in nodes] == [(b"a", 0), (b"b", 0), (b"", 0), None]

    def test_operations_see_what_earlier_ones_did(self, registry: Registry) -> None:
        """A transaction may make a parent and its child, and change what it made."""
        operations: list[Operation] = [
            Create("/a"),
            Create("/a/b", b"0"),
            Put("/a/b", b"1", 0),
            Put("/a/b", b"2", 1),
            Check("/a/b", 2),
        ]
        assert done(registry.transact(operations)) == (0, 0, 1, 2, 2)
        assert there(registry, "/a/b").value == b"2"
        assert refused(registry.transact([Delete("/a/b"), Put("/a/b", b"")])) == (1, Refusal.NO_NODE)
        assert refused(registry.transact([Delete("/a/b"), Create("/a/c"), Delete("/a")])) == (2, Refusal.NOT_EMPTY)

    def test_node_made_and_deleted_in_one_transaction_was_never_there(self, registry: Registry) -> None:
        """It leaves nothing behind, and its path is free."""
        made: list[Operation] = [Create("/a", b"1"), Create("/a/b"), Delete("/a/b"), Delete("/a"), Create("/b")]
        assert done(registry.transact(made)) == (0, 0, -1, -1, 0)
        assert registry.children("/") == ("b",)
        assert done(registry.transact([Create("/a"), Delete("/a"), Create("/a", b"2")])) == (0, -1, 0)
        assert there(registry, "/a").value == b"2"

    def test_node_deleted_and_made_in_one_transaction_is_a_new_one(self, registry: Registry) -> None:
        """Its version begins again and its creation is later, also with children made anew below it."""
        registry.transact([Create("/a", b"old"), Create("/a/b", b"old")])
        registry.transact([Put("/a", b"older")])
        old = there(registry, "/a")
        remake: list[Operation] = [
            Delete("/a/b"),
            Delete("/a"),
            Create("/a", b"new"),
            Create("/a/b", b"new"),
            Put("/a", b"newer"),
        ]
        assert done(registry.transact(remake)) == (-1, -1, 0, 0, 1)
        new = there(registry, "/a")
        assert (new.value, new.version) == (b"newer", 1)
        assert new.created_id > old.created_id
        assert registry.children("/a") == ("b",)
        assert done(registry.transact([Delete("/a/b"), Delete("/a")])) == (-1, -1)

    def test_node_made_anew_has_a_larger_creation(self, registry: Registry, other: Registry) -> None:
        """Creations grow over all nodes and clients; versions begin at 0 each time."""
        creations = []
        for number, client in enumerate((registry, other, registry, other)):
            client.transact([Create("/a", str(number).encode())])
            client.transact([Put("/a", b"")])
            client.transact([Create(f"/n{number}")])
            node = there(registry, "/a")
            assert node.version == 1
            creations += [node.created_id, there(registry, f"/n{number}").created_id]
            client.transact([Delete("/a")])
        assert creations == sorted(set(creations))

    def test_refusal_has_its_exception(self, registry: Registry) -> None:
        """Callers that cannot go on raise what matches the reason, with the path in it."""
        registry.transact([Create("/a"), Create("/a/b")])
        expected: list[tuple[Operation, type[RegistryError]]] = [
            (Create("/a"), NodeExistsError),
            (Delete("/a"), NotEmptyError),
            (Put("/a", b"", 9), VersionConflictError),
            (Check("/x"), NoNodeError),
        ]
        for operation, error in expected:
            outcome = registry.transact([operation])
            assert isinstance(outcome, Refused)
            assert type(outcome.error()) is error
            assert operation.path in str(outcome.error())

    @pytest.mark.parametrize(
        "name", ["书店", "книги", "कहानी", "livre d'été", "a b", "100%", "a'b\"c", "x" * 128, "…", "*"]
    )
    def test_name_of_any_script_is_kept(self, registry: Registry, name: str) -> None:
        """Names come back letter by letter, from reads, lists and watches."""
        registry.transact([Create("/jobs")])
        picture = watched(registry, "/jobs")
        registry.transact([Create(f"/jobs/{name}", name.encode())])
        assert registry.children("/jobs") == (name,)
        assert there(registry, f"/jobs/{name}").value == name.encode()
        picture.wait_for(lambda it: f"/jobs/{name}" in it.nodes)
        assert registry.get("/jobs/" + name.swapcase() + "-") is None

    def test_names_that_differ_in_case_or_composition_are_two(self, registry: Registry) -> None:
        """Names are compared letter by letter: neither folded nor normalised, and sorted by code point."""
        names = ("A", "Z", "a", "a%", "a_", "e\u0301", "z", "é")
        registry.transact([Create("/n"), *(Create(f"/n/{name}", name.encode()) for name in names)])
        assert registry.children("/n") == tuple(sorted(names))
        nodes = registry.read([f"/n/{name}" for name in names])
        assert [node.value.decode() for node in nodes if node] == list(names)

    def test_value_of_any_bytes_is_kept(self, registry: Registry) -> None:
        """Values are bytes: NUL, all 256 of them, and none at all."""
        values = [b"", b"\0", bytes(range(256)), b"\xff\xfe", "ü".encode()]
        registry.transact([Create(f"/n{number}", value) for number, value in enumerate(values)])
        nodes = registry.read([f"/n{number}" for number in range(len(values))])
        assert [node.value for node in nodes if node] == values

    # Limits

    def test_value_over_the_limit_is_refused_before_it_leaves(self, registry: Registry) -> None:
        """512 KiB are stored; one byte more is the caller's mistake, and nothing was sent."""
        registry.transact([Create("/a")])
        assert done(registry.transact([Put("/a", b"x" * MAX_VALUE_BYTES)])) == (1,)
        for operation in (Put("/a", b"y" * (MAX_VALUE_BYTES + 1)), Create("/b", b"y" * (MAX_VALUE_BYTES + 1))):
            with pytest.raises(ValueTooLargeError):
                registry.submit([operation])
        assert there(registry, "/a").value == b"x" * MAX_VALUE_BYTES
        assert registry.get("/b") is None

    def test_transaction_over_the_limit_is_refused_before_it_leaves(self, registry: Registry) -> None:
        """The sum of paths and values counts; below it a transaction is done."""
        half = MAX_TRANSACTION_BYTES // 2
        with pytest.raises(ValueTooLargeError):
            registry.submit([Create("/a", b"x" * half), Create("/b", b"x" * half)])
        assert done(registry.transact([Create("/a", b"x" * half), Create("/b", b"x" * (half - 100))])) == (0, 0)

    @pytest.mark.parametrize(
        "path", ["", "a", "/a/", "//", "/a//b", "/./a", "/..", "/a\0", "/a\n", "/\ud800", "/a\x7f"]
    )
    def test_path_that_cannot_be_is_refused_before_it_leaves(self, registry: Registry, path: str) -> None:
        """Whatever the call, a wrong path is the caller's mistake and harms nothing."""
        for operation in (Create(path), Put(path, b""), Delete(path), Check(path)):
            with pytest.raises(SettingsError):
                registry.submit([operation])
        for call in (registry.get, registry.children, partial(registry.watch, callback=Picture())):
            with pytest.raises(SettingsError):
                call(path)
        assert registry.children("/") == ()

    # Reading

    def test_read_of_many_paths_keeps_their_order(self, registry: Registry) -> None:
        """Missing ones are None, and one asked for twice comes twice."""
        registry.transact([Create("/d"), *(Create(f"/d/{number}", str(number).encode()) for number in range(700))])
        paths = [f"/d/{number}" for number in range(699, -1, -1)] + ["/missing", "/d/0", "/d/0/x"]
        nodes = registry.read(paths)
        assert [node.value.decode() for node in nodes[:700] if node] == [str(number) for number in range(699, -1, -1)]
        assert [node and node.value for node in nodes[700:]] == [None, b"0", None]
        assert registry.read(()) == ()

    def test_children_are_sorted_and_direct(self, registry: Registry) -> None:
        """Grandchildren and namesakes do not count; a missing path is told apart from an empty one."""
        paths = ("/a", "/a/2", "/a/10", "/a/b", "/a/b/c", "/ab", "/ab/x")
        registry.transact([Create(path) for path in paths])
        assert registry.read_children(("/a", "/a/2", "/missing", "/a/b"), fresh=True) == (
            ("10", "2", "b"),
            (),
            None,
            ("c",),
        )
        assert registry.children("/") == ("a", "ab")
        assert registry.children("/missing") == ()
        assert registry.read_children(()) == ()

    def test_read_sees_what_was_committed_before(self, registry: Registry, other: Registry) -> None:
        """A fresh read sees everyone's answered writes, a plain one at least one's own."""
        registry.transact([Create("/a")])
        for number in range(30):
            registry.transact([Put("/a", str(number).encode())])
            mine = registry.get("/a")
            assert mine is not None
            assert mine.value == str(number).encode()
            assert there(other, "/a").value == str(number).encode()
            registry.transact([Create(f"/a/{number}")])
            assert len(other.children("/a", fresh=True)) == number + 1

    def test_server_time_is_the_time(self, registry: Registry) -> None:
        """It is aware, in UTC, and here about our own."""
        before = datetime.now(UTC)  # noqa: TID251 - the wall clock is what is being tried
        time = registry.server_time()
        after = datetime.now(UTC)  # noqa: TID251
        assert before - timedelta(seconds=1) < time < after + timedelta(seconds=1)
        assert time.utcoffset() == timedelta(0)

    # Many at once

    def test_transactions_under_way_together_succeed_and_fail_alone(self, registry: Registry) -> None:
        """100 in flight: each has its own outcome."""
        registry.transact([Create("/taken")])
        futures = [registry.submit([Create("/taken" if number % 3 == 0 else f"/n{number}")]) for number in range(100)]
        outcomes = [future.result(20) for future in futures]
        assert [isinstance(outcome, Refused) for outcome in outcomes] == [number % 3 == 0 for number in range(100)]
        assert len(registry.children("/")) == 67

    def test_race_for_one_node_has_one_winner(self, registries: Registries) -> None:
        """However many clients create one node, one of them has done it and the others are refused."""
        clients = [registries.make() for _ in range(4)]
        with ThreadPoolExecutor(len(clients)) as pool:
            for number in range(15):
                race = partial(_create, f"/race{number}")
                outcomes = list(pool.map(race, clients))
                winners = [client for client, outcome in zip(clients, outcomes, strict=True) if _is_done(outcome)]
                assert len(winners) == 1
                assert there(clients[0], f"/race{number}").owner == winners[0].session_id
                losers = [outcome for outcome in outcomes if not _is_done(outcome)]
                assert {refused(outcome) for outcome in losers} == {(0, Refusal.EXISTS)}

    def test_counter_counted_by_many_threads_loses_nothing(self, registry: Registry, other: Registry) -> None:
        """Versions make read-then-write safe: what was answered as done is in the sum, and nothing else."""
        registry.transact([Create("/counter", b"0")])
        done_count = Recorder[int]()

        def count(client: Registry) -> None:
            for _ in range(12):
                while True:
                    node = there(client, "/counter")
                    value = str(int(node.value) + 1).encode()
                    if _is_done(client.transact([Put("/counter", value, node.version)], timeout_s=40)):
                        done_count(1)
                        break

        threads = [threading.Thread(target=count, args=(client,)) for client in (registry, other) * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        node = there(registry, "/counter")
        assert (node.value, node.version) == (b"72", 72)
        assert len(done_count.values) == 72

    # Sessions

    def test_ephemeral_is_owned_by_its_session(self, registry: Registry, other: Registry) -> None:
        """Sessions differ, and an owner equals its session's identity."""
        registry.transact([Create("/mine", ephemeral=True)])
        other.transact([Create("/other", ephemeral=True), Create("/ours")])
        mine, theirs, ours = other.read(("/mine", "/other", "/ours"), fresh=True)
        assert mine is not None
        assert theirs is not None
        assert ours is not None
        assert (mine.owner, theirs.owner, ours.owner) == (registry.session_id, other.session_id, None)
        assert registry.session_id != other.session_id

    def test_ephemeral_may_be_written_and_deleted_by_others(self, registry: Registry, other: Registry) -> None:
        """It stays its creator's when another writes it."""
        registry.transact([Create("/e", b"0", ephemeral=True)])
        assert done(other.transact([Put("/e", b"1", 0)])) == (1,)
        assert there(other, "/e").owner == registry.session_id
        assert done(other.transact([Delete("/e", 1)])) == (-1,)
        assert registry.get("/e", fresh=True) is None

    def test_close_takes_ephemerals_at_once(self, registry: Registry, other: Registry) -> None:
        """Those of the others, and what is persistent, stay."""
        registry.transact([Create("/d"), Create("/d/e", ephemeral=True), Create("/p")])
        other.transact([Create("/d/f", ephemeral=True)])
        picture = watched(other, "/d")
        registry.close()
        assert other.children("/d", fresh=True) == ("f",)
        assert other.children("/", fresh=True) == ("d", "p")
        picture.wait_for(lambda it: it.nodes.keys() == {"/d", "/d/f"})

    def test_close_again_does_nothing(self, registry: Registry) -> None:
        """Closing is idempotent; a closed registry says that it cannot answer."""
        registry.close()
        registry.close()
        with pytest.raises(RegistryError):
            registry.transact([Create("/a")], timeout_s=5)
        with pytest.raises(RegistryUnavailableError):
            registry.get("/a")

    def test_close_leaves_no_thread(self, registries: Registries) -> None:
        """Nothing of a client runs on after it, and it returns soon."""
        registries.make()
        before = registries.threads()
        client = registries.make()
        client.transact([Create("/e", ephemeral=True)])
        watched(client, "/")
        client.on_session(Recorder[SessionState]())
        client.renew(Check("/e")).result(10)
        client.close()
        eventually(lambda: registries.threads() <= before, 5)

    def test_expiry_takes_ephemerals_and_tells_the_owner(self, registries: Registries) -> None:
        """It hears LOST, then CONNECTED under a new identity; others see the nodes go."""
        registry, other = registries.make(), registries.make()
        states = Recorder[SessionState]()
        registry.on_session(states)
        registry.transact([Create("/e", ephemeral=True), Create("/p")])
        picture = watched(other, "/e")
        old = registry.session_id
        registries.expire(registry)
        picture.wait_for(lambda it: not it.nodes, 20)
        assert other.get("/e", fresh=True) is None
        states.wait_for(lambda seen: LOST in seen and seen[-1] is CONNECTED, 20)
        assert states.values.count(LOST) == 1
        assert registry.session_id != old
        assert registry.children("/", fresh=True) == ("p",)

    def test_write_that_checks_the_fence_is_refused_after_a_loss(self, registries: Registries) -> None:
        """Whenever it arrives: nothing of an old session is written under the new one."""
        registry, other = registries.make(), registries.make()
        registry.transact([Create("/fence", ephemeral=True), Create("/p", b"old")])
        registries.expire(registry)
        for _ in range(5):
            try:
                outcome = registry.transact([Check("/fence"), Put("/p", b"zombie"), Create("/e", ephemeral=True)])
            except (SessionLostError, RegistryUnavailableError):
                continue
            assert refused(outcome) == (0, Refusal.NO_NODE)
        assert there(other, "/p").value == b"old"
        assert other.get("/e", fresh=True) is None

    def test_new_session_works_like_the_first(self, registries: Registries) -> None:
        """After a loss ephemerals are made under the new identity, and go with it."""
        registry, other = registries.make(), registries.make()
        states = Recorder[SessionState]()
        registry.on_session(states)
        registries.expire(registry)
        states.wait_for(lambda seen: LOST in seen and seen[-1] is CONNECTED, 20)
        assert done(registry.transact([Create("/e", ephemeral=True)])) == (0,)
        assert there(other, "/e").owner == registry.session_id
        assert isinstance(registry.renew(Check("/e")).result(10), Committed)
        registry.close()
        assert other.get("/e", fresh=True) is None

    def test_session_callback_hears_the_present_state_first(self, registry: Registry) -> None:
        """One that is cancelled hears nothing more, and one that raises does not silence the others."""
        states, again = Recorder[SessionState](), Recorder[SessionState]()
        registry.on_session(_fail)
        first = registry.on_session(states)
        registry.on_session(again)
        again.wait_for(lambda seen: seen == [CONNECTED])
        assert states.values == [CONNECTED]
        first.cancel()
        first.cancel()
        registry.reset_connection()
        assert states.values == [CONNECTED]
        eventually(lambda: _answers(registry))

    def test_renew_proves_the_session_until_the_fence_is_gone(self, registry: Registry, other: Registry) -> None:
        """Done while the fence stands, refused when it does not; it writes nothing."""
        registry.transact([Create("/fence", ephemeral=True)])
        for _ in range(3):
            assert done(registry.renew(Check("/fence")).result(10)) == (ANY_VERSION,)
        assert done(registry.renew(Check("/fence", 0)).result(10)) == (0,)
        assert there(other, "/fence").version == 0
        assert refused(registry.renew(Check("/fence", 7)).result(10)) == (0, Refusal.VERSION)
        other.transact([Delete("/fence")])
        assert refused(registry.renew(Check("/fence")).result(10)) == (0, Refusal.NO_NODE)

    def test_end_of_another_session_takes_its_ephemerals_at_once(self, registries: Registries) -> None:
        """A ticket ends it without waiting for T; a living owner learns of its loss, and its new session lives on."""
        dead, registry = registries.make(), registries.make()
        states = Recorder[SessionState]()
        dead.on_session(states)
        dead.transact([Create("/name", ephemeral=True)])
        ticket, old = dead.session_ticket, dead.session_id
        registry.end_session(ticket)
        assert registry.get("/name", fresh=True) is None
        states.wait_for(lambda seen: LOST in seen and seen[-1] is CONNECTED, 20)
        assert dead.session_id != old
        assert done(dead.transact([Create("/name", ephemeral=True)])) == (0,)
        registry.end_session(ticket)
        assert there(registry, "/name").owner == dead.session_id

    @pytest.mark.parametrize("ticket", ["", "no ticket", "0:0", ":", "\0", "é:é", "x" * 5000])
    def test_end_of_a_session_by_a_wrong_ticket_is_no_error(self, registry: Registry, ticket: str) -> None:
        """Whatever stands in an old file, nothing happens."""
        registry.transact([Create("/e", ephemeral=True)])
        registry.end_session(ticket)
        registry.end_session(registry.session_ticket[:-1] + ("0" if registry.session_ticket[-1] != "0" else "1"))
        assert there(registry, "/e").owner == registry.session_id

    def test_time_out_and_tick_are_told(self, registries: Registries) -> None:
        """The lease is reckoned with them."""
        registry = registries.make(session_timeout_s=4.0)
        assert registry.session_timeout_s == pytest.approx(4.0)
        assert 0 <= registry.tick_s <= 2.0

    def test_reset_of_the_connection_keeps_the_session(self, registry: Registry, other: Registry) -> None:
        """Ephemerals and identity stay, and watches are complete again."""
        registry.transact([Create("/e", ephemeral=True)])
        picture = watched(registry, "/e")
        count, session = picture.complete_count, registry.session_id
        registry.reset_connection()
        picture.wait_for(lambda it: it.complete_count > count)
        eventually(lambda: _answers(registry))
        assert there(other, "/e").owner == session
        assert registry.session_id == session

    # Watches

    def test_watch_reports_all_there_is_first(self, registry: Registry) -> None:
        """The first report is complete: the node at the prefix and its direct children, with their values."""
        registry.transact([Create("/w", b"0"), Create("/w/a", b"1"), Create("/w/a/x"), Create("/w/b"), Create("/wx")])
        reports = Recorder[Changes]()
        registry.watch("/w", reports)
        reports.wait_for(bool)
        first = reports.values[0]
        assert first.complete
        assert {path: node and node.value for path, node in first.nodes.items()} == {
            "/w": b"0",
            "/w/a": b"1",
            "/w/b": b"",
        }

    def test_watch_reports_changes_of_anyone(self, registry: Registry, other: Registry) -> None:
        """Creations, puts, deletions, and the prefix itself, which need not exist."""
        picture = watched(registry, "/w")
        assert not picture.nodes
        other.transact([Create("/w", b"0")])
        picture.wait_for(partial(has, "/w", b"0"))
        registry.transact([Create("/w/a", b"1")])
        picture.wait_for(partial(has, "/w/a", b"1"))
        other.transact([Put("/w/a", b"2"), Put("/w", b"3")])
        picture.wait_for(lambda it: has("/w/a", b"2", it) and has("/w", b"3", it))
        other.transact([Delete("/w/a")])
        picture.wait_for(lambda it: it.nodes.keys() == {"/w"})
        other.transact([Delete("/w")])
        picture.wait_for(lambda it: not it.nodes)
        other.transact([Create("/w", b"4"), Create("/w/a", b"5")])
        picture.wait_for(lambda it: has("/w/a", b"5", it) and has("/w", b"4", it))

    def test_watch_of_the_root_reports_its_children(self, registry: Registry, other: Registry) -> None:
        """The root is a prefix like any other."""
        picture = watched(registry, "/")
        other.transact([Create("/a", b"1"), Create("/a/b")])
        picture.wait_for(partial(has, "/a", b"1"))
        assert "/a/b" not in picture.nodes

    def test_watch_tells_a_node_made_anew_from_the_old_one(self, registry: Registry, other: Registry) -> None:
        """Deleted and created between two reports, with equal value and version, it has another creation."""
        other.transact([Create("/w"), Create("/w/a")])
        picture = watched(registry, "/w")
        old = picture.nodes["/w/a"].created_id
        other.transact([Delete("/w/a"), Create("/w/a")])
        picture.wait_for(lambda it: "/w/a" in it.nodes and it.nodes["/w/a"].created_id > old)

    def test_watch_whose_callback_raises_goes_on(self, registry: Registry, other: Registry) -> None:
        """An exception ends neither the watch nor the others."""
        calls = Recorder[Changes]()

        def fail(changes: Changes) -> None:
            calls(changes)
            raise ZeroDivisionError

        registry.watch("/w", fail)
        picture = watched(registry, "/w")
        calls.wait_for(lambda seen: len(seen) == 1)
        other.transact([Create("/w")])
        calls.wait_for(lambda seen: any("/w" in changes.nodes for changes in seen))
        picture.wait_for(lambda it: "/w" in it.nodes)

    def test_watch_that_is_cancelled_is_silent(self, registry: Registry, other: Registry) -> None:
        """After cancel returns nothing is called, and other watches of the prefix go on."""
        reports = Recorder[Changes]()
        subscription = registry.watch("/w", reports)
        picture = watched(registry, "/w")
        reports.wait_for(lambda seen: len(seen) == 1)
        subscription.cancel()
        subscription.cancel()
        other.transact([Create("/w")])
        picture.wait_for(lambda it: "/w" in it.nodes)
        assert len(reports.values) == 1

    def test_watch_may_be_cancelled_by_its_own_callback(self, registry: Registry, other: Registry) -> None:
        """One that has seen enough ends itself without hanging."""
        calls = Recorder[Changes]()
        subscriptions: list[Any] = []
        ready = threading.Event()

        def once(changes: Changes) -> None:
            ready.wait(10)
            subscriptions[0].cancel()
            calls(changes)

        subscriptions.append(registry.watch("/w", once))
        ready.set()
        picture = watched(registry, "/w")
        calls.wait_for(lambda seen: len(seen) == 1)
        other.transact([Create("/w")])
        picture.wait_for(lambda it: "/w" in it.nodes)
        assert len(calls.values) == 1

    def test_watch_callback_may_submit(self, registry: Registry, other: Registry) -> None:
        """Submitting from a callback, without waiting, is allowed and happens."""

        def answer(changes: Changes) -> None:
            if changes.nodes.get("/ask") is not None:
                registry.submit([Create("/answer")])

        registry.watch("/ask", answer)
        other.transact([Create("/ask")])
        eventually(lambda: other.get("/answer", fresh=True))

    def test_watch_never_goes_back_in_time(self, registry: Registry, other: Registry) -> None:
        """Under a storm of writes versions only grow within one creation, and the last one is seen."""
        reports = Recorder[Changes]()
        other.transact([Create("/w"), *(Create(f"/w/{number}") for number in range(5))])
        registry.watch("/w", reports)
        for turn in range(40):
            other.submit([Put(f"/w/{turn % 5}", str(turn).encode())])
            if turn % 10 == 9:
                other.transact([Delete(f"/w/{turn % 5}"), Create(f"/w/{turn % 5}")])
        last = {f"/w/{number}": there(other, f"/w/{number}") for number in range(5)}
        reports.wait_for(lambda seen: _latest(seen, "/w/4") == last["/w/4"], 20)
        for path, node in last.items():
            reports.wait_for(partial(_ends_with, path, node), 20)
            history = [changes.nodes[path] for changes in reports.values if path in changes.nodes]
            ages = [(each.created_id, each.version) for each in history if each is not None]
            assert ages == sorted(ages)

    def test_watches_of_several_clients_all_see_the_end(self, registries: Registries) -> None:
        """Every client's picture becomes what the store has."""
        clients = [registries.make() for _ in range(3)]
        clients[0].transact([Create("/w")])
        pictures = [watched(client, "/w") for client in clients]
        for number, client in enumerate(clients):
            client.transact([Create(f"/w/{number}", str(number).encode(), ephemeral=True)])
        clients[0].transact([Put("/w/1", b"last")])
        for picture in pictures:
            picture.wait_for(lambda it: len(it.nodes) == 4 and has("/w/1", b"last", it))
        clients[2].close()
        for picture in pictures[:2]:
            picture.wait_for(lambda it: it.nodes.keys() == {"/w", "/w/0", "/w/1"})

    def test_watch_is_complete_again_after_a_new_session(self, registries: Registries) -> None:
        """Whatever was missed meanwhile is in a complete report."""
        registry, other = registries.make(), registries.make()
        registry.transact([Create("/w"), Create("/w/e", ephemeral=True), Create("/w/p")])
        picture = watched(registry, "/w")
        registries.expire(registry)
        other.transact([Create("/w/new"), Delete("/w/p")])
        picture.wait_for(lambda it: it.complete_count > 1 and it.nodes.keys() == {"/w", "/w/new"}, 20)

    # Links that are cut

    def test_cut_link_suspends_and_heals_with_the_session(self, registries: Registries) -> None:
        """SUSPENDED, then CONNECTED with the same session; in between nothing is answered, and watches catch up."""
        if not registries.can_disconnect:
            pytest.skip("the link to this registry cannot be cut")
        registry, other = registries.make(session_timeout_s=10.0), registries.make()
        states = Recorder[SessionState]()
        registry.on_session(states)
        other.transact([Create("/w")])
        registry.transact([Create("/w/e", ephemeral=True)])
        picture = watched(registry, "/w")
        session, count = registry.session_id, picture.complete_count
        registries.disconnect(registry)
        with pytest.raises(RegistryUnavailableError):
            registry.transact([Check("/w")], timeout_s=5)
        other.transact([Create("/w/missed")])
        states.wait_for(lambda seen: seen[-1] is SUSPENDED, 20)
        assert "/w/missed" not in picture.nodes
        registries.reconnect(registry)
        states.wait_for(lambda seen: seen[-1] is CONNECTED, 20)
        picture.wait_for(lambda it: it.complete_count > count and "/w/missed" in it.nodes, 20)
        assert registry.session_id == session
        assert there(other, "/w/e").owner == session
        assert LOST not in states.values
        eventually(lambda: _answers(registry))

    def test_cut_link_and_expired_session_are_told_when_it_heals(self, registries: Registries) -> None:
        """LOST and a new session, with everything in a complete report."""
        if not registries.can_disconnect:
            pytest.skip("the link to this registry cannot be cut")
        registry, other = registries.make(), registries.make()
        states = Recorder[SessionState]()
        registry.on_session(states)
        registry.transact([Create("/w"), Create("/w/e", ephemeral=True)])
        picture = watched(registry, "/w")
        session, count = registry.session_id, picture.complete_count
        registries.disconnect(registry)
        registries.expire(registry)
        eventually(lambda: other.get("/w/e", fresh=True) is None, 20)
        registries.reconnect(registry)
        states.wait_for(lambda seen: LOST in seen and seen[-1] is CONNECTED, 20)
        picture.wait_for(lambda it: it.complete_count > count and it.nodes.keys() == {"/w"}, 20)
        assert registry.session_id != session

    def test_close_returns_soon_when_nobody_answers(self, registries: Registries) -> None:
        """Within a few seconds, and with no thread left."""
        if not registries.can_disconnect:
            pytest.skip("the link to this registry cannot be cut")
        before = registries.threads()
        registry = registries.make()
        watched(registry, "/")
        registries.disconnect(registry)
        closer = threading.Thread(target=registry.close)
        closer.start()
        closer.join(8)
        assert not closer.is_alive()
        registries.reconnect(registry)
        eventually(lambda: registries.threads() <= before, 10)

    # Against the model

    def test_transactions_in_any_sequence_end_as_in_memory(self, registry: Registry) -> None:
        """The outcome of each, and every node afterwards, is what the registry in memory has."""
        examples = iter(range(1_000_000))

        @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
        @given(batches=transactions())
        def agree(batches: list[list[Operation]]) -> None:
            root = f"/example{next(examples)}"
            registry.transact([Create(root)])
            with MemoryRegistry(MemoryStore()) as model:
                model.transact([Create(root)])
                for batch in batches:
                    moved = [_move(operation, root) for operation in batch]
                    assert registry.transact(moved) == model.transact(moved)
                paths = [root, *{_move(operation, root).path for batch in batches for operation in batch}]
                assert [_bare(node) for node in registry.read(paths)] == [_bare(node) for node in model.read(paths)]
                assert registry.read_children(paths) == model.read_children(paths)

        agree()


def _bare(node: Node | None) -> tuple[bytes, int, bool] | None:
    return None if node is None else (node.value, node.version, node.owner is None)


def _move(operation: Operation, root: str) -> Operation:
    path = root + operation.path
    match operation:
        case Check(version=version):
            return Check(path, version)
        case Create(value=value, ephemeral=ephemeral):
            return Create(path, value, ephemeral)
        case Put(value=value, version=version):
            return Put(path, value, version)
        case Delete(version=version):
            return Delete(path, version)


def _create(path: str, client: Registry) -> Outcome:
    return client.transact([Create(path, ephemeral=True)])


def _is_done(outcome: Outcome) -> bool:
    return isinstance(outcome, Committed)


def _fail(_: SessionState) -> None:
    raise ZeroDivisionError


def _answers(registry: Registry) -> bool:
    try:
        registry.get("/", fresh=True)
    except RegistryUnavailableError:
        return False
    return True


def _latest(reports: list[Changes], path: str) -> Node | None:
    return next((changes.nodes[path] for changes in reversed(reports) if path in changes.nodes), None)


def _ends_with(path: str, node: Node, reports: list[Changes]) -> bool:
    return _latest(reports, path) == node
