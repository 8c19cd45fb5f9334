"""The registry in an SQLite file: the contract, and what the contract does not say about it."""

from __future__ import annotations

import sqlite3
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import RegistryAccessError, RegistryUnavailableError, SessionLostError, SettingsError
from shardsched.registry.base import Check, Committed, Create, Put, SessionState
from shardsched.registry.sql import SqlRegistry
from shardsched.registry.sql_dialect import Trouble
from shardsched.registry.sql_session import Identity
from shardsched.registry.sql_sqlite import BUSY_TIMEOUT_S, Sqlite
from shardsched.registry.sql_store import KEPT_SEQUENCES, PRUNE_EVERY
from shardsched.registry.sql_worker import Order
from shardsched.registry.url import open_registry
from shardsched.testing import FakeClock
from tests.registry.contract import Registries, RegistryContract
from tests.registry.process import count_together, freeze_past_the_time_out
from tests.waiting import Picture, Recorder, eventually, pass_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shardsched.registry.base import Registry


class SqliteRegistries(Registries):
    """Clients of one file."""

    can_disconnect = False

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def build(self, session_timeout_s: float) -> Registry:
        """Return a client."""
        return open_registry(f"sqlite:///{self.path}", session_timeout_s=session_timeout_s)

    def expire(self, registry: Registry) -> None:
        """Put the session's expiry back, as if it had not been extended."""
        with closing(sqlite3.connect(self.path, timeout=20)) as connection, connection:
            connection.execute("UPDATE shardsched_sessions SET expires_us = 0 WHERE id = ?", (registry.session_id,))


class TestSqliteRegistry(RegistryContract):
    """Keeps every promise; there is no link that could be cut."""

    @pytest.fixture
    def registries(self, tmp_path: Path) -> Iterator[Registries]:
        """Clients of a file that does not exist yet."""
        bench = SqliteRegistries(tmp_path / "fleet.db")
        yield bench
        bench.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that does not exist yet."""
    return tmp_path / "fleet.db"


@pytest.fixture
def clock() -> FakeClock:
    """The machine's clocks, standing still."""
    return FakeClock()


@pytest.fixture
def make(path: Path, clock: FakeClock) -> Iterator[Callable[..., Registry]]:
    """Makes open registries on the file, by the fake clock, and closes them at the end."""
    made: list[Registry] = []

    def build(**options: Any) -> Registry:
        registry = open_registry(f"sqlite:///{path}", **{"clock": clock, "tick_s": 0.05, **options})
        made.append(registry)
        registry.open()
        return registry

    yield build
    for registry in made:
        registry.close()


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """Lend a connection, each statement of which stands alone."""
    with closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as connection:
        yield connection


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold the file locked against all who write."""
    with database(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def test_missing_folders_are_made_for_us_alone(tmp_path: Path) -> None:
    """A fleet of one machine needs nothing prepared, and nobody else may read it."""
    path = tmp_path / "a" / "b" / "fleet.db"
    with open_registry(f"sqlite:///{path}") as registry:
        registry.transact([Create("/a")])
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with open_registry(f"sqlite:///{path}") as registry:
        assert registry.children("/") == ("a",)


def test_folder_that_cannot_be_made_is_told_with_the_cure(tmp_path: Path) -> None:
    """A file stands where a folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="give another file"):
        open_registry(f"sqlite:///{tmp_path}/file/fleet.db").open()


def test_path_that_is_a_folder_is_told_with_the_cure(tmp_path: Path) -> None:
    """It cannot be opened, and waiting does not help."""
    began = time.monotonic()
    with pytest.raises(RegistryAccessError, match="another URL"):
        open_registry(f"sqlite:///{tmp_path}").open()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("content", [b"this is no database, but long enough for one" * 30, b"SQLite format 3\0" * 300])
def test_file_that_is_no_database_is_told_with_the_cure(path: Path, content: bytes) -> None:
    """It is left as it is."""
    path.write_bytes(content)
    with pytest.raises(RegistryAccessError, match="another URL"):
        open_registry(f"sqlite:///{path}").open()
    assert path.read_bytes() == content


def test_tables_of_a_later_version_are_left_alone(path: Path, make: Callable[..., Registry]) -> None:
    """An older program must not write into what it does not know."""
    make().close()
    with database(path) as connection:
        connection.execute("UPDATE shardsched_registry SET schema_version = 99")
    with pytest.raises(SettingsError, match="99"):
        make()


def test_error_of_a_file_that_may_not_be_written_is_no_outage(path: Path, make: Callable[..., Registry]) -> None:
    """Waiting does not help against a missing permission."""
    make().close()
    dialect = Sqlite(path, SYSTEM_CLOCK)
    reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with closing(reader), pytest.raises(sqlite3.OperationalError) as refusal:
        reader.execute("DELETE FROM shardsched_nodes")
    assert dialect.trouble(refusal.value) is Trouble.DENIED
    assert dialect.trouble(sqlite3.ProgrammingError("closed")) is Trouble.UNREACHABLE


def test_tables_that_vanish_are_told_by_every_call(path: Path, make: Callable[..., Registry]) -> None:
    """The caller hears what is wrong, rather than waiting for it to pass."""
    registry = make()
    with database(path) as connection:
        connection.execute("DROP TABLE shardsched_nodes")
    with pytest.raises(RegistryAccessError, match="restore"):
        registry.transact([Create("/a")])
    with pytest.raises(RegistryAccessError, match="restore"):
        registry.get("/a")


def test_failed_opening_leaves_nothing_and_may_be_repeated(path: Path) -> None:
    """No thread runs, and once the cause is gone the same registry opens."""
    path.write_bytes(b"no database" * 100)
    threads = set(threading.enumerate())
    registry = open_registry(f"sqlite:///{path}")
    with pytest.raises(RegistryAccessError):
        registry.open()
    assert set(threading.enumerate()) == threads
    path.unlink()
    registry.open()
    with pytest.raises(RegistryUnavailableError, match="opened or closed before"):
        registry.open()
    registry.close()


def test_registry_not_open_says_so(path: Path) -> None:
    """Each call names the cure."""
    registry = open_registry(f"sqlite:///{path}")
    registry.reset_connection()
    for call in (
        lambda: registry.get("/"),
        lambda: registry.transact([Create("/a")]),
        lambda: registry.renew(Check("/a")).result(1),
        lambda: registry.watch("/", Picture()),
        lambda: registry.end_session(f"{'0' * 16}:{'0' * 32}"),
    ):
        with pytest.raises(RegistryUnavailableError, match="open it first"):
            call()
    assert str(path) in repr(registry)
    registry.close()


@pytest.mark.parametrize("options", [{"session_timeout_s": 0.0}, {"tick_s": 0.0}])
def test_impossible_times_are_refused(path: Path, options: dict[str, float]) -> None:
    """A mistake is told where it is made."""
    with pytest.raises(SettingsError):
        open_registry(f"sqlite:///{path}", **options)  # type: ignore[arg-type]  # every option is a float


def test_write_waits_for_one_that_takes_long(path: Path, make: Callable[..., Registry]) -> None:
    """Longer than SQLite's own time-out, and nobody hears of it."""
    registry = make()
    states = Recorder[SessionState]()
    registry.on_session(states)
    with locked(path) as connection:
        future = registry.submit([Create("/a")])
        pass_time(BUSY_TIMEOUT_S * 1.5)
        assert not future.done()
        connection.execute("COMMIT")
    assert isinstance(future.result(20), Committed)
    assert states.values == [SessionState.CONNECTED]


def test_write_given_up_by_its_caller_is_not_done_later(path: Path, make: Callable[..., Registry]) -> None:
    """What waits behind another and was cancelled is dropped."""
    registry = make()
    with locked(path) as connection:
        first = registry.submit([Create("/first")])
        eventually(first.running)
        with pytest.raises(RegistryUnavailableError):
            registry.transact([Create("/second")], timeout_s=0.2)
        connection.execute("ROLLBACK")
    assert isinstance(first.result(20), Committed)
    registry.transact([Check("/")])
    assert registry.children("/") == ("first",)


def test_close_does_not_wait_for_who_holds_the_file(path: Path, make: Callable[..., Registry]) -> None:
    """It gives up soon; the session expires by itself."""
    registry = make()
    with locked(path):
        future = registry.submit([Create("/a")])
        eventually(future.running)
        began = time.monotonic()
        registry.close()
        assert time.monotonic() - began < 6
        with pytest.raises(RegistryUnavailableError):
            future.result(5)


def test_processes_that_count_together_lose_nothing(path: Path, make: Callable[..., Registry]) -> None:
    """Three processes on one file, each write depending on the last: no error and nothing lost."""
    registry = make()
    assert count_together(registry, f"sqlite:///{path}", 3, 60) == (180, 180)


def test_client_frozen_past_its_time_out_finds_itself_lost(path: Path) -> None:
    """Its fence goes meanwhile, and what it sends when it wakes is refused."""
    with open_registry(f"sqlite:///{path}") as registry:
        said = freeze_past_the_time_out(registry, f"sqlite:///{path}", 1.5)
    assert said == [SessionState.LOST, SessionState.CONNECTED]


def test_session_is_kept_while_nobody_renews(make: Callable[..., Registry], clock: FakeClock) -> None:
    """A console or command line that only looks keeps its session by itself."""
    registry, other = make(session_timeout_s=9.0), make(session_timeout_s=1000.0)
    session = registry.session_id
    registry.transact([Create("/e", ephemeral=True)])
    for _ in range(10):
        clock.advance(4.0)
        eventually(partial(_expires_after, registry, clock, 4.5))
        other.transact([Check("/")])
    assert other.get("/e") is not None
    assert registry.session_id == session


def _expires_after(registry: Registry, clock: FakeClock, seconds: float) -> bool:
    assert isinstance(registry, SqlRegistry)
    assert isinstance(registry._dialect, Sqlite)
    with database(registry._dialect.path) as connection:
        query = "SELECT expires_us FROM shardsched_sessions WHERE id = ?"
        row = connection.execute(query, (registry.session_id,)).fetchone()
    return row is not None and row[0] > (clock.boot() + seconds) * 1e6


def test_new_session_is_kept_until_it_is_renewed(make: Callable[..., Registry], clock: FakeClock) -> None:
    """After a loss an executor may take a while until it renews again."""
    registry = make(session_timeout_s=9.0)
    states = Recorder[SessionState]()
    registry.on_session(states)
    registry.renew(Check("/")).result(10)
    clock.advance(10.0)
    states.wait_for(lambda seen: seen[-2:] == [SessionState.LOST, SessionState.CONNECTED])
    for _ in range(5):
        clock.advance(4.0)
        eventually(partial(_expires_after, registry, clock, 4.5))
    assert states.values.count(SessionState.LOST) == 1


def test_session_once_renewed_is_kept_by_renewals_alone(make: Callable[..., Registry], clock: FakeClock) -> None:
    """An executor whose heartbeat stops must lose its session, whatever else it does."""
    registry, other = make(session_timeout_s=9.0), make(session_timeout_s=1000.0)
    states = Recorder[SessionState]()
    registry.on_session(states)
    registry.transact([Create("/e", ephemeral=True)])
    for _ in range(5):
        clock.advance(8.0)
        assert isinstance(registry.renew(Check("/e")).result(10), Committed)
    clock.advance(8.0)
    registry.transact([Put("/e", b"")])
    assert other.get("/e") is not None
    clock.advance(1.5)
    states.wait_for(lambda seen: seen[-2:] == [SessionState.LOST, SessionState.CONNECTED])
    eventually(lambda: other.get("/e") is None)


@pytest.mark.parametrize("renews", [False, True])
def test_write_of_an_expired_session_is_refused_though_nobody_reaped_it(
    make: Callable[..., Registry], clock: FakeClock, renews: bool
) -> None:
    """The first to notice is the writer itself, in the transaction that writes; nor can it be renewed any more."""
    registry = make(session_timeout_s=9.0, tick_s=1000.0)
    registry.renew(Check("/")).result(10)
    clock.advance(10.0)
    future = registry.renew(Check("/")) if renews else registry.submit([Create("/e", ephemeral=True)])
    with pytest.raises(SessionLostError):
        future.result(10)
    eventually(lambda: registry.get("/e") is None and isinstance(registry, SqlRegistry) and _can_write(registry))
    assert registry.children("/") == ("free",)


def test_session_that_expires_while_its_write_waits_writes_nothing(
    path: Path, make: Callable[..., Registry], clock: FakeClock
) -> None:
    """What counts is the time at which the write has its turn, not that at which it queued up."""
    registry = make(session_timeout_s=9.0, tick_s=1000.0)
    registry.renew(Check("/")).result(10)
    with locked(path) as connection:
        future = registry.submit([Create("/e", ephemeral=True)])
        eventually(future.running)
        pass_time(0.2)
        clock.advance(10.0)
        connection.execute("ROLLBACK")
    with pytest.raises(SessionLostError):
        future.result(20)


def test_order_of_an_earlier_session_is_not_done_under_the_present_one(make: Callable[..., Registry]) -> None:
    """It was on its way to the thread that writes when the session changed; those behind it are done."""
    registry = make()
    assert isinstance(registry, SqlRegistry)
    late = Order(Identity("0" * 16, ""), [Create("/late")])
    with locked(registry._dialect.path) as connection:  # type: ignore[attr-defined]  # it is an SQLite dialect
        first = registry.submit([Create("/first")])
        eventually(first.running)
        registry._worker.submit(late)
        last = registry.submit([Create("/last")])
        connection.execute("ROLLBACK")
    with pytest.raises(SessionLostError):
        late.future.result(20)
    assert isinstance(first.result(20), Committed)
    assert isinstance(last.result(20), Committed)
    assert registry.children("/") == ("first", "last")


def _can_write(registry: Registry) -> bool:
    try:
        return isinstance(registry.transact([Create("/free")]), Committed)
    except SessionLostError:
        return False


def test_sessions_of_an_earlier_boot_are_over(path: Path, make: Callable[..., Registry]) -> None:
    """Their clock began anew, so their expiry says nothing."""
    registry, other = make(), make()
    registry.transact([Create("/e", ephemeral=True)])
    with database(path) as connection:
        connection.execute("UPDATE shardsched_sessions SET era = 'earlier', expires_us = ?", (2**60,))
    eventually(lambda: other.get("/e") is None)


def test_changes_are_pruned_and_watches_stay_right(path: Path, make: Callable[..., Registry]) -> None:
    """The table stays small, and a watch that was left far behind reads everything anew."""
    registry, other = make(), make()
    registry.transact([Create("/w", b"0")])
    picture = Picture()
    registry.watch("/w", picture)
    picture.wait_for(lambda it: it.complete_count == 1)
    with database(path) as connection:
        connection.execute("UPDATE shardsched_registry SET sequence = sequence + 100000")
    for number in range(1, PRUNE_EVERY):
        other.submit([Put("/w", str(number).encode())])
    other.transact([Put("/w", b"last")])
    picture.wait_for(lambda it: it.nodes["/w"].value == b"last")
    with database(path) as connection:
        (oldest,) = connection.execute("SELECT min(sequence) FROM shardsched_changes").fetchone()
        connection.execute("UPDATE shardsched_registry SET pruned = sequence + 1, sequence = sequence + 2")
    assert oldest > 100000 - KEPT_SEQUENCES
    picture.wait_for(lambda it: it.complete_count == 2)


def test_watch_of_a_file_put_back_reads_everything_anew(path: Path, make: Callable[..., Registry]) -> None:
    """After a backup was restored in place the sequence is an older one."""
    registry = make()
    registry.transact([Create("/w", b"0")])
    picture = Picture()
    registry.watch("/w", picture)
    picture.wait_for(lambda it: it.complete_count == 1)
    with database(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE shardsched_registry SET sequence = 1")
        connection.execute("UPDATE shardsched_nodes SET value = X'31' WHERE path = '/w'")
        connection.execute("COMMIT")
    picture.wait_for(lambda it: it.nodes["/w"].value == b"1")


def test_reads_of_many_threads_are_all_answered(make: Callable[..., Registry]) -> None:
    """More than the pool keeps connections for."""
    registry = make()
    registry.transact([Create(f"/{number}") for number in range(20)])
    with ThreadPoolExecutor(40) as pool:
        lists = pool.map(lambda _: registry.children("/"), range(200))
        assert {len(names) for names in lists} == {20}


def test_server_time_is_the_machines(make: Callable[..., Registry], clock: FakeClock) -> None:
    """One machine has one wall clock."""
    clock.step_wall(-86_400.0)
    assert abs(make().server_time() - clock.now()) < timedelta(seconds=5)


def test_session_ended_by_another_is_noticed_at_once(make: Callable[..., Registry]) -> None:
    """Its owner is told by the changes, long before it would look again."""
    registry, other = make(tick_s=1000.0), make()
    states = Recorder[SessionState]()
    registry.on_session(states)
    other.end_session(registry.session_ticket)
    states.wait_for(lambda seen: seen[-2:] == [SessionState.LOST, SessionState.CONNECTED], 10)
