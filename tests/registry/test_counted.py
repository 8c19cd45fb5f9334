"""Counting what is asked of a registry changes nothing of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.errors import RegistryUnavailableError
from shardsched.registry.base import Create, Registry
from shardsched.registry.counted import CountedRegistry
from shardsched.registry.memory import MemoryRegistry, MemoryStore
from tests.coordination.stage import lose_reply
from tests.registry.contract import Registries, RegistryContract

if TYPE_CHECKING:
    from collections.abc import Iterator


class CountedRegistries(Registries):
    """Counted clients of one store in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore()
        self.behind: dict[Registry, MemoryRegistry] = {}

    def build(self, session_timeout_s: float) -> Registry:
        """Return a client."""
        client = MemoryRegistry(self.store, session_timeout_s=session_timeout_s)
        counted = CountedRegistry(client)
        self.behind[counted] = client
        return counted

    def expire(self, registry: Registry) -> None:
        """End the session."""
        self.store.end(registry.session_id)

    def disconnect(self, registry: Registry) -> None:
        """Cut the link."""
        self.behind[registry].disconnect()

    def reconnect(self, registry: Registry) -> None:
        """Heal the link."""
        self.behind[registry].reconnect()


class TestCountedRegistry(RegistryContract):
    """Keeps every promise."""

    @pytest.fixture
    def registries(self) -> Iterator[Registries]:
        """Clients of an empty store."""
        bench = CountedRegistries()
        yield bench
        bench.close()


def test_session_is_given_up_behind_it() -> None:
    """A session that only unanswered requests keep ends here as it does without the counting."""
    behind = MemoryRegistry(MemoryStore())
    with CountedRegistry(behind) as registry:
        session_id = registry.session_id
        lose_reply(behind)
        with pytest.raises(RegistryUnavailableError):
            registry.transact([Create("/a")])
        registry.give_up_session()
        assert registry.session_id != session_id


def test_requests_are_counted_by_kind() -> None:
    """One request counts once, however many nodes it is of."""
    registry = CountedRegistry(MemoryRegistry(MemoryStore()))
    with registry:
        registry.transact([Create("/a", b"1"), Create("/b", b"2")])
        assert [node.value for node in registry.read(["/a", "/b"]) if node] == [b"1", b"2"]
        registry.get("/a")
        registry.children("/")
        registry.server_time()
        registry.watch("/a", lambda _changes: None).cancel()
        assert registry.counts() == {"transaction": 1, "read": 2, "list": 1, "time": 1, "watch": 1}
