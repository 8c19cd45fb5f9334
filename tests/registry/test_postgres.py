"""The registry in PostgreSQL: the contract, and what the contract does not say about it."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
import pytest

from shardsched.errors import RegistryAccessError, RegistryUnavailableError, SettingsError
from shardsched.registry.base import Check, Committed, Create, Put, SessionState
from shardsched.registry.sql_dialect import Trouble
from shardsched.registry.sql_postgres import SERVER_OPTIONS, Postgres
from shardsched.registry.url import open_registry
from tests.registry.contract import Registries, RegistryContract
from tests.registry.process import count_together, freeze_past_the_time_out
from tests.tcp_proxy import Mode, TcpProxy
from tests.waiting import Picture, Recorder, eventually, pass_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.registry.base import Registry
    from tests.registry.postgres_server import PostgresServer

pytestmark = pytest.mark.postgres


MAX_CLIENTS = 6
"""As many as any test of the contract makes."""


class PostgresRegistries(Registries):
    """Clients of one schema, each by a proxy of its own."""

    def __init__(self, server: PostgresServer) -> None:
        super().__init__()
        self.server = server
        self.schema = server.new_schema()
        # Made before any client, so that their threads are not taken for a client's.
        self._free = [TcpProxy("127.0.0.1", server.port) for _ in range(MAX_CLIENTS)]
        self._proxies: dict[Registry, TcpProxy] = {}

    def build(self, session_timeout_s: float) -> Registry:
        """Return a client."""
        proxy = self._free.pop()
        registry = open_registry(self.server.url(self.schema, proxy.address), session_timeout_s=session_timeout_s)
        self._proxies[registry] = proxy
        return registry

    def expire(self, registry: Registry) -> None:
        """Put the session's expiry back, as if it had not been extended."""
        with self.server.connect(self.schema) as connection:
            connection.execute("UPDATE shardsched_sessions SET expires_us = 0 WHERE id = %s", (registry.session_id,))

    def disconnect(self, registry: Registry) -> None:
        """Close the client's connections and take no others."""
        self._proxies[registry].set_mode(Mode.REFUSE)

    def reconnect(self, registry: Registry) -> None:
        """Take connections again."""
        self._proxies[registry].set_mode(Mode.PASS)

    def threads(self) -> set[threading.Thread]:
        """Leave out those of the proxies, which have some for each connection."""
        return {thread for thread in super().threads() if thread.name.startswith("shardsched")}

    def close(self) -> None:
        """Close clients and proxies."""
        super().close()
        for proxy in (*self._proxies.values(), *self._free):
            proxy.close()


class TestPostgresRegistry(RegistryContract):
    """Keeps every promise."""

    @pytest.fixture
    def registries(self, postgres: PostgresServer) -> Iterator[Registries]:
        """Clients of an empty schema."""
        bench = PostgresRegistries(postgres)
        yield bench
        bench.close()


@pytest.fixture
def open_on() -> Iterator[Callable[..., Registry]]:
    """Opens registries by their URL, and closes them at the end."""
    made: list[Registry] = []

    def build(url: str, **options: Any) -> Registry:
        registry = open_registry(url, **options)
        made.append(registry)
        registry.open()
        return registry

    yield build
    for registry in made:
        registry.close()


def test_server_that_restarts_costs_no_session(own_postgres: PostgresServer, open_on: Callable[..., Registry]) -> None:
    """SUSPENDED while it is away, then CONNECTED with everything as it was, and watches complete."""
    registry = open_on(own_postgres.url(), session_timeout_s=60.0)
    states, picture = Recorder[SessionState](), Picture()
    registry.on_session(states)
    registry.transact([Create("/e", ephemeral=True)])
    registry.watch("/e", picture)
    picture.wait_for(lambda it: "/e" in it.nodes)
    session, count = registry.session_id, picture.complete_count
    own_postgres.stop()
    states.wait_for(lambda seen: seen[-1] is SessionState.SUSPENDED, 20)
    with pytest.raises(RegistryUnavailableError):
        registry.transact([Create("/missed")])
    with pytest.raises(RegistryUnavailableError):
        registry.get("/e")
    own_postgres.start()
    states.wait_for(lambda seen: seen[-1] is SessionState.CONNECTED, 20)
    picture.wait_for(lambda it: it.complete_count > count, 20)
    assert states.values == [SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED]
    node = registry.get("/e")
    assert node is not None
    assert node.owner == session == registry.session_id
    assert registry.children("/") == ("e",)


def test_server_that_is_away_for_longer_than_the_time_out_costs_the_session(
    own_postgres: PostgresServer, open_on: Callable[..., Registry]
) -> None:
    """LOST when it is back, and never under the old identity."""
    registry = open_on(own_postgres.url(), session_timeout_s=1.5)
    states = Recorder[SessionState]()
    registry.on_session(states)
    registry.transact([Create("/e", ephemeral=True)])
    session = registry.session_id
    own_postgres.stop(signal.SIGQUIT)
    states.wait_for(lambda seen: seen[-1] is SessionState.SUSPENDED, 20)
    pass_time(2.0)
    own_postgres.start()
    states.wait_for(lambda seen: seen[-2:] == [SessionState.LOST, SessionState.CONNECTED], 20)
    assert registry.session_id != session
    assert registry.children("/") == ()


def test_registry_opened_before_its_server_waits_for_it(own_postgres: PostgresServer) -> None:
    """They may be started together; without a server the opening ends in time, and says why."""
    own_postgres.stop()
    registry = open_registry(own_postgres.url())
    with pytest.raises(RegistryUnavailableError, match=r"PostgreSQL database 'postgres' on 127\.0\.0\.1"):
        registry.open(timeout_s=0.5)
    opener = threading.Thread(target=registry.open, args=(30.0,))
    opener.start()
    own_postgres.start()
    opener.join(30)
    assert registry.children("/") == ()
    registry.close()


def test_connections_ended_by_the_server_are_made_anew(
    postgres: PostgresServer, open_on: Callable[..., Registry]
) -> None:
    """An administrator may end them at any time: the session and its watches go on."""
    schema = postgres.new_schema()
    registry = open_on(postgres.url(schema), session_timeout_s=30.0)
    picture = Picture()
    registry.transact([Create("/e", ephemeral=True)])
    registry.watch("/e", picture)
    picture.wait_for(lambda it: "/e" in it.nodes)
    session = registry.session_id
    for turn in range(3):
        with postgres.connect() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shardsched'"
            )
        eventually(partial(_is_put, registry, str(turn).encode()))
        picture.wait_for(partial(_shows, str(turn).encode()))
    assert registry.session_id == session


def _is_put(registry: Registry, value: bytes) -> bool:
    try:
        return isinstance(registry.transact([Put("/e", value)]), Committed)
    except RegistryUnavailableError:
        return False


def _shows(value: bytes, picture: Picture) -> bool:
    return "/e" in picture.nodes and picture.nodes["/e"].value == value


def test_reset_ends_the_wait_on_a_dead_link(postgres: PostgresServer, open_on: Callable[..., Registry]) -> None:
    """What was under way is unknown at once, rather than after the time-outs of TCP; the session goes on."""
    schema = postgres.new_schema()
    with TcpProxy("127.0.0.1", postgres.port) as proxy:
        registry = open_on(postgres.url(schema, proxy.address), session_timeout_s=30.0)
        registry.transact([Create("/fence", ephemeral=True)])
        session = registry.session_id
        proxy.set_mode(Mode.STALL)
        future = registry.renew(Check("/fence"))
        pass_time(0.3)
        assert not future.done()
        registry.reset_connection()
        with pytest.raises(RegistryUnavailableError):
            future.result(4)
        proxy.set_mode(Mode.PASS)
        eventually(partial(_is_renewed, registry), 20)
        assert registry.session_id == session
        registry.close()


def _is_renewed(registry: Registry) -> bool:
    try:
        return isinstance(registry.renew(Check("/fence")).result(10), Committed)
    except RegistryUnavailableError:
        return False


def test_close_on_a_dead_link_returns_soon(postgres: PostgresServer, open_on: Callable[..., Registry]) -> None:
    """Whatever was under way, within a few seconds."""
    with TcpProxy("127.0.0.1", postgres.port) as proxy:
        registry = open_on(postgres.url(postgres.new_schema(), proxy.address))
        proxy.set_mode(Mode.STALL)
        future = registry.submit([Create("/a")])
        began = time.monotonic()
        registry.close()
        assert time.monotonic() - began < 7
        with pytest.raises(RegistryUnavailableError):
            future.result(5)


def test_write_waits_for_one_that_takes_long(postgres: PostgresServer, open_on: Callable[..., Registry]) -> None:
    """Someone holds the lock of all writers for a while, and nobody hears of it; a heartbeat needs no such lock."""
    schema = postgres.new_schema()
    registry = open_on(postgres.url(schema))
    registry.transact([Create("/fence", ephemeral=True)])
    with postgres.connect(schema) as connection:
        connection.execute("BEGIN")
        connection.execute("UPDATE shardsched_registry SET sequence = sequence")
        assert isinstance(registry.renew(Check("/fence")).result(5), Committed)
        future = registry.submit([Create("/a")])
        pass_time(0.3)
        assert not future.done()
        connection.execute("COMMIT")
    assert isinstance(future.result(10), Committed)


def test_frozen_writer_is_thrown_out_by_the_server(postgres: PostgresServer, open_on: Callable[..., Registry]) -> None:
    """A process that sleeps in the middle of a write must not stop the fleet: its transaction is undone."""
    schema = postgres.new_schema()
    registry = open_on(postgres.url(schema), session_timeout_s=60.0)
    with psycopg.connect(postgres.url(schema).replace("?options=", f"?options={quote(SERVER_OPTIONS)}%20")) as frozen:
        frozen.execute("UPDATE shardsched_registry SET sequence = sequence + 1000000")
        began = time.monotonic()
        assert isinstance(registry.transact([Create("/a")], timeout_s=30), Committed)
        assert time.monotonic() - began > 1
        with pytest.raises(psycopg.Error):
            frozen.execute("SELECT 1")
    node = registry.get("/a")
    assert node is not None
    assert node.created_id < 1_000_000


def test_processes_that_count_together_lose_nothing(postgres: PostgresServer, open_on: Callable[..., Registry]) -> None:
    """Two processes, each write depending on the last: no error and nothing lost."""
    url = postgres.url(postgres.new_schema())
    assert count_together(open_on(url), url, 2, 60) == (120, 120)


def test_client_frozen_past_its_time_out_finds_itself_lost(
    postgres: PostgresServer, open_on: Callable[..., Registry]
) -> None:
    """Its fence goes meanwhile, and what it sends when it wakes is refused."""
    url = postgres.url(postgres.new_schema())
    assert freeze_past_the_time_out(open_on(url), url, 1.5) == [SessionState.LOST, SessionState.CONNECTED]


def test_clients_that_make_the_tables_at_once_agree(postgres: PostgresServer, open_on: Callable[..., Registry]) -> None:
    """A fleet may be started on an empty database."""
    url = postgres.url(postgres.new_schema())
    with ThreadPoolExecutor(4) as pool:
        registries = list(pool.map(open_on, [url] * 4))
    assert len({registry.session_id for registry in registries}) == 4
    registries[0].transact([Create("/a")])
    assert registries[3].children("/") == ("a",)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("nobody@127", "shardsched@127"), ("/missing?", "/postgres?"), ("search_path%3Dx", "search_path")],
)
def test_database_that_refuses_us_is_told_at_once(
    postgres: PostgresServer, open_on: Callable[..., Registry], wrong: str, right: str
) -> None:
    """A wrong user, database or schema is no outage: waiting does not help."""
    url = postgres.url("x")
    assert right in url
    began = time.monotonic()
    with pytest.raises(RegistryAccessError, match="another URL"):
        open_on(url.replace(right, wrong))
    assert time.monotonic() - began < 10


def test_database_that_cannot_hold_every_name_is_refused(
    postgres: PostgresServer, open_on: Callable[..., Registry]
) -> None:
    """Names of any script need its encoding."""
    with postgres.connect() as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(SettingsError, match="UTF8"):
        open_on(postgres.url().replace("/postgres?", "/latin?"))


@pytest.mark.parametrize(
    ("state", "trouble"),
    [
        ("40001", Trouble.BUSY),
        ("42501", Trouble.DENIED),
        ("42P01", Trouble.BROKEN),
        ("57P01", Trouble.UNREACHABLE),
        ("53300", Trouble.UNREACHABLE),
        ("28P01", Trouble.DENIED),
    ],
)
def test_error_is_judged_by_its_state(state: str, trouble: Trouble) -> None:
    """The most exact rule counts; what is not known may have happened."""
    assert Postgres("postgresql://h/d").trouble(psycopg.errors.lookup(state)("text")) is trouble


@pytest.mark.parametrize(
    ("message", "trouble"),
    [
        ('connection failed: FATAL:  password authentication failed for user "x"', Trouble.DENIED),
        ("connection failed: FATAL:  the database system is starting up", Trouble.UNREACHABLE),
        ("connection failed: FATAL:  sorry, too many clients already", Trouble.UNREACHABLE),
        ("connection failed: Connection refused", Trouble.UNREACHABLE),
    ],
)
def test_connection_turned_away_is_judged_by_its_message(message: str, trouble: Trouble) -> None:
    """What will pass is told apart from what will not."""
    assert Postgres("postgresql://h/d").trouble(psycopg.OperationalError(message)) is trouble
