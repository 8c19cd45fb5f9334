"""Credentials, ACLs and encryption of the ZooKeeper registry."""

from __future__ import annotations

import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.protocol.serialization import GetACL
from kazoo.security import CREATOR_ALL_ACL, make_digest_acl

from shardsched.errors import RegistryAccessError, RegistryUnavailableError
from shardsched.registry.base import Check, Committed, Create, Delete, Put
from shardsched.registry.zookeeper import Tls, ZooKeeperRegistry
from shardsched.registry.zookeeper_link import LinkHandler
from shardsched.registry.zookeeper_read import Gathering
from tests.conftest import missing
from tests.tcp_proxy import TcpProxy
from tests.waiting import Picture
from tests.zookeeper_server import JAR, ServerProcess, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.zookeeper_server import Server

    Make = Callable[..., ZooKeeperRegistry]

pytestmark = pytest.mark.zookeeper

CREDENTIALS = "fleet:s3cret:with:colons"
ALL_PERMISSIONS = 31


def acls(registry: ZooKeeperRegistry, paths: list[str]) -> list[Any]:
    """Return the ACLs of nodes."""
    requests = [GetACL(registry._chroot.full(path)) for path in paths]
    return [acl for acl, _ in Gathering(registry._session.standing().client, requests).results(5.0, "ACLs")]


def test_nodes_made_with_credentials_are_their_creators_alone(make_zk: Make, zk_chroot: str) -> None:
    """The chroot with each level that was missing, persistent and ephemeral nodes: nobody else has any permission."""
    registry = make_zk(chroot=f"{zk_chroot}/deep/er", credentials=CREDENTIALS)
    registry.transact([Create("/jobs"), Create("/jobs/a", b"1"), Create("/me", b"", ephemeral=True)])
    found = acls(registry, ["/", "/jobs", "/jobs/a", "/me"])
    above = make_zk(chroot=zk_chroot, credentials=CREDENTIALS)
    found += acls(above, ["/", "/deep", "/deep/er"])
    for acl in found:
        assert [(one.perms, one.id.scheme, one.id.id.partition(":")[0]) for one in acl] == [
            (ALL_PERMISSIONS, "digest", "fleet")
        ]


def test_nodes_are_made_for_whom_the_chroot_is(make_zk: Make, zk_chroot: str) -> None:
    """A console with a user of its own makes jobs that the executors' user can read, also after a reconnect."""
    shared = [make_digest_acl(user, "s3cret", all=True) for user in ("fleet", "console")]
    _kazoo(make_zk(chroot=f"{zk_chroot}/above")).create(f"{zk_chroot}/own", b"", acl=shared)
    console = make_zk(chroot=f"{zk_chroot}/own", credentials="console:s3cret")
    console.transact([Create("/jobs"), Create("/jobs/a", b"1")])
    fleet = make_zk(chroot=f"{zk_chroot}/own", credentials="fleet:s3cret")
    node = fleet.get("/jobs/a")
    assert node is not None
    assert node.value == b"1"
    assert acls(fleet, ["/jobs/a"]) == [shared]


def test_chroot_whose_acl_is_hidden_is_reported(
    make_zk: Make, zk_chroot: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Without the admin permission servers hide the digests: what we make can be ours alone only, which is said."""
    rights = {"read": True, "write": True, "create": True, "delete": True}
    acl = [make_digest_acl("boss", "s3cret", all=True), make_digest_acl("fleet", "s3cret", **rights)]
    _kazoo(make_zk(chroot=f"{zk_chroot}/above")).create(f"{zk_chroot}/own", b"", acl=acl)
    registry = make_zk(chroot=f"{zk_chroot}/own", credentials="fleet:s3cret")
    assert "admin permission" in caplog.text
    registry.transact([Create("/jobs")])
    assert [one.id.id.partition(":")[0] for one in acls(registry, ["/jobs"])[0]] == ["fleet"]


def test_registry_that_we_may_only_read_is_opened_where_that_will_do(make_zk: Make, zk_chroot: str) -> None:
    """Who only looks needs no more; what they would change is refused."""
    acl = [make_digest_acl("fleet", "s3cret", all=True), make_digest_acl("reader", "s3cret", read=True)]
    _kazoo(make_zk(chroot=f"{zk_chroot}/above")).create(f"{zk_chroot}/own", b"1", acl=acl)
    with pytest.raises(RegistryAccessError):
        make_zk(chroot=f"{zk_chroot}/own", credentials="reader:s3cret")
    reader = make_zk(chroot=f"{zk_chroot}/own", credentials="reader:s3cret", needs_write=False)
    assert reader.get("/") is not None
    with pytest.raises(RegistryAccessError):
        reader.transact([Create("/jobs")])
    with pytest.raises(RegistryAccessError):
        make_zk(chroot=f"{zk_chroot}/own", credentials="reader:wrong", needs_write=False)


@pytest.mark.parametrize("credentials", [None, "fleet:wrong", "other:s3cret"])
def test_open_with_wrong_credentials_fails_at_once(make_zk: Make, credentials: str | None) -> None:
    """They look like a good connection to kazoo; the first use of the tree shows it, and that is when we open."""
    make_zk(credentials=CREDENTIALS).transact([Create("/jobs")])
    began = time.monotonic()
    with pytest.raises(RegistryAccessError, match="credentials"):
        make_zk(credentials=credentials)
    assert time.monotonic() - began < 3.0


def test_credentials_are_sent_again_after_a_reconnect(make_zk: Make, zookeeper: Server) -> None:
    """A new connection begins without them."""
    with TcpProxy.to(zookeeper.hosts) as proxy:
        registry = make_zk(proxy.address, credentials=CREDENTIALS)
        picture = Picture()
        registry.transact([Create("/jobs")])
        registry.watch("/", picture)
        picture.wait_for(lambda it: it.complete_count == 1)
        proxy.drop()
        picture.wait_for(lambda it: it.complete_count == 2)
        assert isinstance(registry.transact([Check("/jobs"), Put("/jobs", b"2"), Delete("/jobs")]), Committed)
        registry.close()


def test_transaction_that_is_not_allowed_raises(make_zk: Make, zk_chroot: str) -> None:
    """It is neither done nor a refusal that could be won later, and nothing of it happens."""
    make_zk()
    registry = make_zk(chroot=zk_chroot, credentials=CREDENTIALS)
    theirs = make_zk(chroot=f"{zk_chroot}/open")
    theirs.transact([Create("/jobs")])
    _close_to_others(theirs, "/jobs")
    with pytest.raises(RegistryAccessError):
        registry.transact([Create("/fine"), Put("/open/jobs", b"mine")])
    with pytest.raises(RegistryAccessError):
        registry.get("/open/jobs")
    assert registry.get("/fine") is None


def _kazoo(registry: ZooKeeperRegistry) -> Any:
    return registry._session.standing().client._kazoo


def _close_to_others(registry: ZooKeeperRegistry, path: str) -> None:
    """Leave a node to a user that is nobody here."""
    _kazoo(registry).set_acls(registry._chroot.full(path), [make_digest_acl("nobody", "here", all=True)])


def test_watch_of_a_node_that_cannot_be_read_never_reports_it_as_missing(
    make_zk: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """A job that we may not read is not a deleted job: no complete report comes, and an error is logged."""
    registry = make_zk()
    registry.transact([Create("/jobs"), Create("/jobs/a"), Create("/jobs/b")])
    _close_to_others(registry, "/jobs/a")
    picture = Picture()
    registry.watch("/jobs", picture)
    registry.read(("/jobs", "/jobs/b"), fresh=True)
    registry.read(("/jobs", "/jobs/b"), fresh=True)
    assert picture.report_count == 0
    assert "/jobs/a" in caplog.text


def test_node_that_cannot_be_read_keeps_no_other_from_being_told(make_zk: Make, zk_chroot: str) -> None:
    """What came with it, and what comes after it."""
    registry, others = make_zk(), make_zk(chroot=zk_chroot, credentials="other:s3cret")
    registry.transact([Create("/jobs")])
    picture = Picture()
    registry.watch("/jobs", picture)
    picture.wait_for(lambda it: it.complete_count == 1)
    for number in range(20):
        _kazoo(others).create(f"{zk_chroot}/jobs/closed-{number}", b"", acl=CREATOR_ALL_ACL)
        registry.transact([Create(f"/jobs/open-{number}")])
        picture.wait_for(lambda it, path=f"/jobs/open-{number}": path in it.nodes)  # type: ignore[misc]  # it is told
    assert not any("closed" in path for path in picture.nodes)


def test_chroot_that_anyone_may_write_is_reported(make_zk: Make, caplog: pytest.LogCaptureFixture) -> None:
    """A chroot made before credentials were set stays open to all; that is said at every start."""
    make_zk()
    assert not caplog.records
    make_zk(credentials=CREDENTIALS)
    assert [getattr(record, "event", "") for record in caplog.records] == ["registry_exposed"]


def test_credentials_are_never_logged(make_zk: Make, zk_chroot: str, caplog: pytest.LogCaptureFixture) -> None:
    """Not even with every logger at its most talkative: kazoo would print each request."""
    caplog.set_level(logging.NOTSET)
    logging.getLogger("kazoo").setLevel(1)
    registry = make_zk(credentials=CREDENTIALS)
    registry.transact([Create("/jobs")])
    with pytest.raises(RegistryAccessError) as caught:
        make_zk(credentials="fleet:wr0ng")
    registry.close()
    told = caplog.text + str(caught.value) + repr(registry)
    assert "s3cret" not in told
    assert "wr0ng" not in told


def run(*arguments: str, folder: Path) -> None:
    """Run a command of openssl in a folder."""
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tls_folder(tmp_path: Path) -> Path:
    """A folder with an authority, and a key and certificate for localhost."""
    if shutil.which("openssl") is None:
        missing("openssl is missing")
    new_key = ("-newkey", "rsa:2048", "-nodes")
    run(
        *("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2"),
        folder=tmp_path,
    )
    run("req", *new_key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost", folder=tmp_path)
    (tmp_path / "names").write_text("subjectAltName=DNS:localhost\n")
    run(
        *("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"),
        *("-extfile", "names", "-out", "server.crt"),
        folder=tmp_path,
    )
    (tmp_path / "server.pem").write_text((tmp_path / "server.key").read_text() + (tmp_path / "server.crt").read_text())
    return tmp_path


@pytest.fixture
def tls_port(tls_folder: Path) -> Iterator[int]:
    """The secure port of a server that asks its clients for no certificate."""
    jars = [JAR, *JAR.parent.glob("netty-[bcht]*.jar"), *JAR.parent.glob("netty-[rt]*.jar")]
    if len(jars) < 3:
        missing("netty's jars are missing; install Debian's libnetty-java")
    port = free_port()
    server = ServerProcess(
        tls_folder / "zookeeper",
        settings=(
            f"secureClientPort={port}",
            "secureClientPortAddress=127.0.0.1",
            "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
            f"ssl.keyStore.location={tls_folder / 'server.pem'}",
            f"ssl.trustStore.location={tls_folder / 'ca.pem'}",
            "ssl.clientAuth=none",
        ),
        jars=jars,
    )
    server.start()
    yield port
    server.close()


def test_registry_over_tls_works_and_checks_the_server(tls_port: int, tls_folder: Path, make_zk: Make) -> None:
    """The authority is checked and so is the name; a failure says why instead of waiting in silence."""
    authority = Tls(ca=str(tls_folder / "ca.pem"))
    registry = make_zk(f"localhost:{tls_port}", tls=authority, credentials=CREDENTIALS)
    assert isinstance(registry.transact([Create("/jobs", b"1")]), Committed)
    assert registry.children("/", fresh=True) == ("jobs",)
    began = time.monotonic()
    outcomes = [future.result(10) for future in [registry.submit([Put("/jobs", b"x" * 1000)]) for _ in range(1000)]]
    assert all(isinstance(outcome, Committed) for outcome in outcomes)
    assert len(registry.read(["/jobs"] * 2000)) == 2000
    assert time.monotonic() - began < 5.0
    registry.reset_connection()
    picture = Picture()
    registry.watch("/", picture)
    picture.wait_for(lambda it: "/jobs" in it.nodes)
    began = time.monotonic()
    registry.close()
    assert time.monotonic() - began < 2.0
    for hosts, tls in ((f"localhost:{tls_port}", Tls()), (f"127.0.0.1:{tls_port}", authority)):
        with pytest.raises(RegistryUnavailableError, match="certificate"):
            ZooKeeperRegistry(hosts, tls=tls).open(timeout_s=1.5)


def test_wait_for_a_tls_socket_sees_what_is_decrypted_already(tls_folder: Path) -> None:
    """Answers that came in one record must not wait for the next bytes on the wire."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls_folder / "server.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with context.wrap_socket(connection, server_side=True) as secure:
                secure.sendall(b"one.two.")
                secure.recv(1)

        server = threading.Thread(target=serve)
        server.start()
        handler = LinkHandler(5.0, Tls(ca=str(tls_folder / "ca.pem")).context())
        with handler.create_connection(listener.getsockname(), timeout=9.0, hostname="localhost") as connection:
            assert connection.recv(4) == b"one."
            began = time.monotonic()
            assert handler.select([connection], [], [], 5.0)[0] == [connection]
            assert time.monotonic() - began < 1.0
            connection.sendall(b".")
        server.join(5)


def test_registry_over_tls_to_a_plain_port_fails_in_time(zookeeper: Server) -> None:
    """Two sides that do not understand each other end in an error, not in a wait."""
    began = time.monotonic()
    with pytest.raises(RegistryUnavailableError, match="no ZooKeeper server answered"):
        ZooKeeperRegistry(zookeeper.hosts, tls=Tls(), session_timeout_s=4.0).open(timeout_s=1.5)
    assert time.monotonic() - began < 6.0
