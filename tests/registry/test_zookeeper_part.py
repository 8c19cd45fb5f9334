"""The parts of the ZooKeeper registry that need no server."""

from __future__ import annotations

import select
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kazoo.exceptions import BadVersionError, NoAuthError, NodeExistsError, RolledBackError, RuntimeInconsistency

from shardsched.errors import RegistryAccessError, RegistryUnavailableError, SettingsError, ValueTooLargeError
from shardsched.registry.base import MAX_VALUE_BYTES, Check, Create, Delete, Put, Refusal, Refused
from shardsched.registry.zookeeper import Tls, ZooKeeperRegistry
from shardsched.registry.zookeeper_bell import Bell
from shardsched.registry.zookeeper_path import Chroot
from shardsched.registry.zookeeper_read import session_name
from shardsched.registry.zookeeper_reply import Reply
from shardsched.registry.zookeeper_ticket import read_ticket, write_ticket
from shardsched.registry.zookeeper_transaction import check, outcome


def is_readable(bell: Bell) -> bool:
    """Say whether select() would wake."""
    return bool(select.select([bell], [], [], 0)[0])


def test_bell_rung_more_often_than_a_pipe_holds_never_blocks() -> None:
    """A hundred thousand requests can wait, and each wakes the reader once."""
    bell = Bell()
    for _ in range(100_000):
        bell.send(b"\0")
    assert is_readable(bell)
    for _ in range(100_000):
        bell.recv(1)
    assert not is_readable(bell)
    with pytest.raises(BlockingIOError):
        bell.recv(1)
    bell.close()
    bell.close()
    with pytest.raises(OSError, match="closed"):
        bell.send(b"\0")


def test_reply_answered_twice_tells_once() -> None:
    """Kazoo answers some requests twice; our caller hears the first answer only."""
    told: list[tuple[Any, Exception | None]] = []
    reply = Reply(lambda value, error: told.append((value, error)))
    reply.set(1)
    reply.set_exception(ValueError())
    assert told == [(1, None)]


def test_reply_with_a_callback_that_raises_keeps_the_connection_thread(caplog: pytest.LogCaptureFixture) -> None:
    """An exception in a callback is logged; on kazoo's thread it would end the connection for good."""

    def fail(_: Any, __: Exception | None) -> None:
        raise ValueError

    Reply(fail).set(1)
    assert "could not be used" in caplog.text


@pytest.mark.parametrize(("mine", "present", "admitted"), [(7, 7, True), (7, 8, False), (None, 8, True)])
def test_reply_bound_to_a_session_is_admitted_under_it_only(mine: int | None, present: int, admitted: bool) -> None:
    """A request goes out under the session it was made for, or not at all."""
    reply = Reply(lambda *_: None, mine)
    assert reply.admit(present) is admitted
    assert reply.stale is not admitted


@pytest.mark.parametrize(
    ("given_chroot", "root"),
    [("", ""), ("/", ""), ("/a", "/a"), ("/a/b/", "/a/b"), ("/團隊/爬蟲", "/團隊/爬蟲")],
)
def test_chroot_written_in_several_ways_is_normalised(given_chroot: str, root: str) -> None:
    """Slashes at the end do not count."""
    assert Chroot(given_chroot).root == root


@pytest.mark.parametrize("bad", ["a", "a/", "/a//b", "/../x", "/.", "/zookeeper", "/zookeeper/x", "/a\0", "/\ud800"])
def test_chroot_that_cannot_be_is_refused(bad: str) -> None:
    """A chroot that ZooKeeper would refuse, or that is its own, is refused before anything is sent."""
    with pytest.raises(SettingsError, match="chroot"):
        Chroot(bad)


@pytest.mark.parametrize("bad", ["", "a", "/a/", "/a//b", "/a/../b", "/a\x1fb", "/a\x7f", "/\ud800", "/\U0001f600"])
def test_path_that_zookeeper_does_not_take_is_refused(bad: str) -> None:
    """A lone surrogate would end kazoo's thread; the rest the servers would refuse."""
    with pytest.raises(SettingsError, match="path"):
        Chroot("/x").full(bad)


@given(st.lists(st.text("abcü爬", min_size=1, max_size=5), max_size=4), st.sampled_from(["", "/r", "/r/s"]))
def test_path_on_the_servers_leads_back_to_ours(parts: list[str], root: str) -> None:
    """Adding and taking off the chroot cancel each other."""
    path = "/" + "/".join(parts)
    assert Chroot(root).own(Chroot(root).full(path)) == path


@given(st.integers(-(2**63), 2**63 - 1), st.binary(min_size=16, max_size=16))
def test_ticket_written_is_read_back(session_id: int, password: bytes) -> None:
    """Ids are signed: a server with a high id hands out negative ones."""
    assert read_ticket(write_ticket(session_id, password)) == (session_id, password)


@given(st.text(max_size=60))
def test_ticket_of_any_text_is_read_without_error(text: str) -> None:
    """A ticket comes from a file and may hold anything."""
    session = read_ticket(text)
    assert session is None or len(session[1]) == 16


def test_session_name_of_a_negative_id_is_as_zookeeper_writes_it() -> None:
    """Sixteen digits of the unsigned number."""
    assert session_name(-1) == "0xffffffffffffffff"


def test_sizes_over_a_limit_are_refused_by_name() -> None:
    """A value over 512 KiB, or a whole over the limit, is refused; the largest value passes."""
    check([Create("/a", b"x" * MAX_VALUE_BYTES)], Chroot())
    with pytest.raises(ValueTooLargeError, match="/a' has"):
        check([Put("/a", b"x" * (MAX_VALUE_BYTES + 1))], Chroot())
    with pytest.raises(ValueTooLargeError, match="split it"):
        check([Create(f"/{number}", b"x" * 200_000) for number in range(4)], Chroot())
    with pytest.raises(ValueTooLargeError, match="split it"):
        check([Check("/a")] * 20_000, Chroot("/some/where"))


OPERATIONS = (Check("/a"), Create("/b"), Delete("/c"))


def test_outcome_of_a_refused_transaction_names_the_culprit() -> None:
    """The others are answered RolledBack before it and RuntimeInconsistency after it."""
    results = [RolledBackError(), NodeExistsError(), RuntimeInconsistency()]
    assert outcome(OPERATIONS, results) == Refused(1, OPERATIONS[1], Refusal.EXISTS)
    assert outcome(OPERATIONS, [BadVersionError(), RuntimeInconsistency(), RuntimeInconsistency()]) == Refused(
        0, OPERATIONS[0], Refusal.VERSION
    )


def test_outcome_of_a_forbidden_transaction_raises() -> None:
    """Not being allowed is no refusal that a retry could win."""
    with pytest.raises(RegistryAccessError, match="create of /b"):
        outcome(OPERATIONS, [RolledBackError(), NoAuthError(), RuntimeInconsistency()])


@pytest.mark.parametrize("results", [[], [True], [True, "/b", RuntimeInconsistency()]])
def test_outcome_of_an_incomplete_answer_is_unknown(results: list[Any]) -> None:
    """An answer that does not fit the operations is never taken for done."""
    with pytest.raises(RegistryUnavailableError, match="incomplete"):
        outcome(OPERATIONS, results)


@pytest.mark.parametrize("hosts", ["", ",", "a,,b", "zk://a", "a/b", "u:p@a", "a:port"])
def test_registry_with_hosts_that_are_none_is_refused(hosts: str) -> None:
    """Hosts are names with ports; the rest of a URL does not belong there."""
    with pytest.raises(SettingsError, match="hosts"):
        ZooKeeperRegistry(hosts)


@pytest.mark.parametrize("credentials", ["", "user", "user:", ":secret"])
def test_registry_with_half_credentials_is_refused(credentials: str) -> None:
    """Half a credential would look like a good connection until something is refused."""
    with pytest.raises(SettingsError, match="credentials"):
        ZooKeeperRegistry("localhost", credentials=credentials)


def test_registry_shown_has_no_secret() -> None:
    """Neither the digest password nor that of a key is printed."""
    registry = ZooKeeperRegistry("localhost:2181", chroot="/a", credentials="user:hush")
    assert "hush" not in repr(registry)
    assert "hush" not in repr(Tls(key_password="hush"))


def test_registry_that_was_not_opened_says_so_and_closes() -> None:
    """Every use names the cure; closing is allowed and leaves no thread."""
    before = threading.active_count()
    registry = ZooKeeperRegistry("localhost:2181")
    with pytest.raises(RegistryUnavailableError, match="open it first"):
        registry.get("/a")
    registry.close()
    registry.close()
    assert threading.active_count() == before


def test_tls_with_missing_files_is_refused() -> None:
    """Kazoo would retry a missing file for ever."""
    with pytest.raises(SettingsError, match="ca=/nowhere"):
        Tls(ca="/nowhere.pem")
    with pytest.raises(SettingsError, match="belong together"):
        Tls(certificate=__file__)
