"""The ticket of a session, which a restart under the same name uses: a help, never a condition."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from shardsched.coordination.membership import Membership
from shardsched.coordination.namespace import ensure_namespace
from shardsched.coordination.session import Lease, Standing
from shardsched.core.executor import ExecutorRecord
from shardsched.core.paths import Paths
from shardsched.registry.memory import MemoryRegistry
from shardsched.registry.memory_store import MemoryStore
from shardsched.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

RECORD = ExecutorRecord(
    name="e1", incarnation="", host="h", ip="", pid=1, process_start="boot:1", started_at=datetime(2026, 1, 1, tzinfo=UTC),
    version="", handlers={}, slots=1,
)  # fmt: skip


def test_executor_that_cannot_write_its_ticket_joins_all_the_same(tmp_path: Path) -> None:
    """A disk that takes no more keeps nobody out of the fleet."""
    home = tmp_path / "full"
    home.write_text("a file where the folder should be")
    clock, paths = FakeClock(), Paths("n")
    registry = MemoryRegistry(MemoryStore(clock))
    registry.open()
    ensure_namespace(registry, paths)
    lease = Lease(registry, paths, clock, lambda _: None)
    Membership(registry, paths, clock, lease, RECORD, home / "home").join(0.0)
    assert lease.standing is Standing.ACTIVE
    assert registry.get(paths.executor("e1")) is not None
    registry.close()
