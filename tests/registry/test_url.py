"""Which registry a URL names, and what of it may be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shardsched.errors import SettingsError
from shardsched.registry.base import Create
from shardsched.registry.memory import MemoryRegistry
from shardsched.registry.sql import SqlRegistry
from shardsched.registry.sql_postgres import Postgres
from shardsched.registry.sql_sqlite import Sqlite
from shardsched.registry.url import (
    CREDENTIALS_FILE_VARIABLE,
    CREDENTIALS_VARIABLE,
    KEY_PASSWORD_VARIABLE,
    open_registry,
    redacted_url,
)
from shardsched.registry.zookeeper import Tls, ZooKeeperRegistry

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of whoever runs the tests has no say in them."""
    monkeypatch.delenv(CREDENTIALS_VARIABLE, raising=False)
    monkeypatch.delenv(CREDENTIALS_FILE_VARIABLE, raising=False)
    monkeypatch.delenv(KEY_PASSWORD_VARIABLE, raising=False)


def zookeeper(url: str, **options: Any) -> ZooKeeperRegistry:
    """Return a registry that must be on ZooKeeper."""
    registry = open_registry(url, **options)
    assert isinstance(registry, ZooKeeperRegistry)
    return registry


def test_memory_of_one_name_is_one_registry() -> None:
    """Clients of the same name meet, and of another do not; each has its own time-out."""
    with open_registry("memory://one", session_timeout_s=3.0) as first, open_registry("memory://one") as second:
        first.transact([Create("/a")])
        assert second.children("/") == ("a",)
        assert (first.session_timeout_s, second.session_timeout_s) == (3.0, 10.0)
        with open_registry("memory://two") as third:
            assert isinstance(third, MemoryRegistry)
            assert third.children("/") == ()


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///fleet.db", "fleet.db"),
        ("sqlite:////var/lib/fleet.db", "/var/lib/fleet.db"),
        ("sqlite:////a%20b/%E4%B9%A6.db", "/a b/书.db"),
        ("SQLITE:///x", "x"),
    ],
)
def test_sqlite_names_a_file(url: str, path: str) -> None:
    """Three slashes are relative, four absolute, and percent signs are decoded; nothing is opened yet."""
    registry = open_registry(url)
    assert isinstance(registry, SqlRegistry)
    assert isinstance(registry._dialect, Sqlite)
    assert str(registry._dialect.path) == path


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///", "sqlite://fleet.db", "sqlite:///:memory:", "sqlite:///a?mode=ro"]
)
def test_sqlite_without_a_file_is_refused(url: str) -> None:
    """What would be lost with the process, or means something else than it seems, is no registry."""
    with pytest.raises(SettingsError, match=r"sqlite:///fleet\.db"):
        open_registry(url)


def test_postgresql_shows_no_password(tmp_path: Path) -> None:
    """Where it is, is told; who we are, is not."""
    registry = open_registry("postgresql://me:s3cret@db.example:5433/fleet?sslpassword=s3cret")
    assert isinstance(registry, SqlRegistry)
    assert isinstance(registry._dialect, Postgres)
    assert "'fleet'" in repr(registry)
    assert "db.example" in repr(registry)
    assert "s3cret" not in repr(registry)


@pytest.mark.parametrize("url", ["postgresql://me:s3cret@h:port/d", "postgresql://me:s3cret@[::1/d"])
def test_postgresql_url_that_cannot_be_read_is_refused_without_showing_it(url: str) -> None:
    """The mistake may be in the password."""
    with pytest.raises(SettingsError) as refusal:
        open_registry(url)
    assert "s3cret" not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_zookeeper_takes_hosts_and_chroot() -> None:
    """Hosts without a port, several of them, and a chroot of any depth."""
    registry = zookeeper("zk://h1:2181,h2,[::1]:2183/team/crawlers", session_timeout_s=7.0)
    assert registry._hosts == "h1:2181,h2,[::1]:2183"
    assert registry._chroot.root == "/team/crawlers"
    assert (registry._credentials, registry._tls, registry.tick_s, registry._requested_s) == (None, None, 2.0, 7.0)
    assert zookeeper("zk://h1")._chroot.root == ""


def test_zookeeper_credentials_come_from_the_url_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The URL's count first; percent signs are decoded, and neither is printed."""
    assert zookeeper("zk://me:p%40ss%2Fw%3Ard@h1/x")._credentials == "me:p@ss/w:rd"
    monkeypatch.setenv(CREDENTIALS_VARIABLE, "other:word")
    assert zookeeper("zk://h1/x")._credentials == "other:word"
    assert zookeeper("zk://me:pw@h1/x")._credentials == "me:pw"
    assert "word" not in repr(zookeeper("zk://h1/x"))


def test_zookeeper_credentials_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without its last line's end; one that cannot be read is named."""
    file = tmp_path / "credentials"
    file.write_text("fleet:from the file\n")
    monkeypatch.setenv(CREDENTIALS_FILE_VARIABLE, str(file))
    assert zookeeper("zk://h1")._credentials == "fleet:from the file"
    assert zookeeper("zk://a:b@h1")._credentials == "a:b"
    file.unlink()
    with pytest.raises(SettingsError, match="cannot be read"):
        open_registry("zk://h1")


def test_zookeeper_encryption_is_asked_for_by_any_of_its_parameters(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Safe unless told otherwise; the key's password comes from the environment."""
    pem = tmp_path / "a.pem"
    pem.write_text("")
    assert zookeeper("zk://h1/x?tls=1")._tls == Tls()
    assert zookeeper(f"zk://h1/x?tls=0&ca={pem}")._tls is None
    assert zookeeper(f"zk://h1/x?ca={pem}")._tls == Tls(ca=str(pem))
    monkeypatch.setenv(KEY_PASSWORD_VARIABLE, "word")
    tls = zookeeper(f"zk://h1/x?certificate={pem}&key={pem}&verify=no&check_hostname=0")._tls
    assert tls is not None
    assert (tls.certificate, tls.key, tls.key_password) == (str(pem), str(pem), "word")
    assert (tls.verify, tls.check_hostname) == (False, False)


def test_zookeeper_tick_is_the_callers_or_the_urls() -> None:
    """The lease is reckoned with it."""
    assert zookeeper("zk://h1/x?tick=0.5").tick_s == 0.5
    assert zookeeper("zk://h1/x?tick=0.5", tick_s=3.0).tick_s == 3.0
    assert zookeeper("zk://h1/x?tick=0.5")._tls is None


@pytest.mark.parametrize(
    "url", ["zk://h1/x?ttls=1", "zk://h1/x?tls=maybe", "zk://h1/x?tick=fast", "zk:///x", "zk://a b/x", "zk://h1/../x"]
)
def test_zookeeper_url_with_a_mistake_is_refused(url: str) -> None:
    """A parameter that is not known would otherwise be missing in silence."""
    with pytest.raises(SettingsError):
        open_registry(url)


@pytest.mark.parametrize("url", ["", "fleet.db", "redis://me:s3cret@h", "zookeeper://h", "://", "\ud800://x"])
def test_unknown_kind_is_refused_with_the_known_ones(url: str) -> None:
    """The message tells what to write, and no password."""
    with pytest.raises(SettingsError, match="sqlite://, postgresql://, zk://, memory://") as refusal:
        open_registry(url)
    assert "s3cret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("zk://me:s3cret@h1,h2/x?tls=1", "zk://***@h1,h2/x?tls=1"),
        ("zk://me:s3@cret@h1/x", "zk://***@h1/x"),
        ("postgresql://me@h/d", "postgresql://***@h/d"),
        ("postgresql://h/d?password=s3cret&sslmode=require", "postgresql://h/d?password=***&sslmode=require"),
        ("sqlite:///a@b.db", "sqlite:///a@b.db"),
        ("memory://", "memory://"),
    ],
)
def test_redacted_url_has_neither_user_nor_password(url: str, shown: str) -> None:
    """What is left tells where the registry is."""
    assert redacted_url(url) == shown
