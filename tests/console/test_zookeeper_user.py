"""A console that has a ZooKeeper user of its own: one that may change things, one that may not, one with a wrong password."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl

from shardsched.admin import Admin
from shardsched.cli.console import _connect
from shardsched.coordination.namespace import ensure_namespace
from shardsched.core.paths import Paths
from shardsched.people.audit import AuditFilter, Result
from shardsched.registry.url import open_registry
from tests.console.site import Site
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from console.fleet import Link
    from tests.zookeeper_server import Server

JOB = {"handler": "@shell", "cron": "0 4 * * *", "task": {"argv": ["true"]}}


class ZooKeeperSite(Site):
    """A console whose registry is a real one."""

    def __init__(self, folder: Path, empty_history: Path, url: str) -> None:
        self._url = url
        super().__init__(folder, empty_history)

    def _connect(self) -> Link:
        return _connect(self._url, "fleet")


@pytest.fixture
def fleet(zookeeper: Server, zk_chroot: str) -> Iterator[Admin]:
    """A fleet with a job, whose nodes are for its own user, for the console, and to be read by a third."""
    root = KazooClient(zookeeper.hosts)
    root.start()
    acl = [make_digest_acl(user, "s3cret", all=True) for user in ("fleet", "console")]
    root.create(zk_chroot, b"", acl=[*acl, make_digest_acl("reader", "s3cret", read=True)])
    root.stop()
    root.close()
    registry = open_registry(f"zk://fleet:s3cret@{zookeeper.hosts}{zk_chroot}", tick_s=zookeeper.tick_s)
    registry.open()
    ensure_namespace(registry, Paths("fleet"))
    admin = Admin(registry, Paths("fleet"))
    admin.jobs.create("books", JOB, must_be_hosted=False)
    yield admin
    registry.close()


@pytest.fixture
def make_console(
    tmp_path: Path, empty_history: Path, zookeeper: Server, zk_chroot: str
) -> Iterator[Callable[[str], ZooKeeperSite]]:
    """Makes consoles that use a ZooKeeper user."""
    made: list[ZooKeeperSite] = []

    def make(credentials: str) -> ZooKeeperSite:
        made.append(ZooKeeperSite(tmp_path, empty_history, f"zk://{credentials}@{zookeeper.hosts}{zk_chroot}"))
        return made[-1]

    yield make
    for site in made:
        site.close()


def test_what_the_console_makes_is_read_by_the_fleet(
    fleet: Admin, make_console: Callable[[str], ZooKeeperSite]
) -> None:
    """Two users share one namespace, each with a password of its own."""
    site = make_console("console:s3cret")
    client, token = site.app.test_client(), site.token("operator")
    given = {"name": "news", "settings": JOB, "must_be_hosted": False}
    made = client.post("/api/v1/jobs", json=given, headers=token)
    assert made.status_code == 201, made.text
    assert client.post("/api/v1/jobs/books/pause", headers=token).status_code == 200
    assert fleet.jobs.names() == ("books", "news")
    paused = fleet.jobs.entry("books").config
    assert paused is not None
    assert paused.paused
    fleet.jobs.resume("news")
    tag = client.get("/api/v1/jobs/news", headers=token).headers["ETag"]
    fleet.jobs.update("news", {"description": "by hand"})
    changed = client.patch("/api/v1/jobs/news", json={"settings": {"items": 2}}, headers={**token, "If-Match": tag})
    assert changed.status_code == 412


def test_console_that_may_only_read_shows_all_and_changes_nothing(
    fleet: Admin, make_console: Callable[[str], ZooKeeperSite]
) -> None:
    """Whoever tries is told whose permission is missing; the audit says that it was refused."""
    site = make_console("reader:s3cret")
    browser = site.client("admin")
    assert "books" in browser.get("/jobs").text
    assert browser.get("/jobs/books").status_code == browser.get("/map").status_code == 200
    assert "nothing can be changed here until it is back" not in browser.get("/jobs").text
    for path in ("/jobs/books/pause", "/jobs/books/items/0/disable"):
        answer = site.post(browser, path)
        assert (answer.status_code, "check the credentials" in answer.text) == (503, True), answer.text
    config = fleet.jobs.entry("books").config
    assert config is not None
    assert not config.paused
    results = {entry.result for entry in site.people.audit.page(AuditFilter(kind="job"))}
    assert results == {Result.REFUSED}


def test_wrong_password_is_told_on_every_page(fleet: Admin, make_console: Callable[[str], ZooKeeperSite]) -> None:
    """At once, without the password; signing in works."""
    site = make_console("console:wr0ng")
    browser = site.client("admin")
    eventually(lambda: site.parts.fleet.sight(wait_s=0.1).fault)
    for path in ("/jobs", "/map", "/overview", "/executors", "/profile"):
        text = browser.get(path).text
        assert "check the credentials" in text, path
        assert "wr0ng" not in text
    assert browser.get("/readyz").status_code == 503
    assert site.post(browser, "/jobs/books/pause").status_code == 503
    assert fleet.jobs.names() == ("books",)
