"""The demo's view of its fleet, and what it leaves in a registry that it was lent."""

from __future__ import annotations

from shardsched.admin import Admin
from shardsched.clock import SYSTEM_CLOCK
from shardsched.coordination.namespace import ensure_namespace
from shardsched.core.paths import Paths
from shardsched.demo.fleet import JOB, DemoFleet
from shardsched.registry.url import open_registry

URL = "memory://demo-fleet"
PATHS = Paths("demo-1")


def test_fleet_before_anyone_joined_is_empty() -> None:
    """The demo may look before its executors have made the namespace."""
    with DemoFleet("memory://demo-nobody", PATHS.namespace, SYSTEM_CLOCK) as fleet:
        assert fleet.executors() == frozenset()
        assert fleet.leader() is None


def test_fleet_pauses_its_job_and_forgets_everything() -> None:
    """The job is paused by the ordinary door, and in the end no node of the demo is left."""
    with open_registry(URL, clock=SYSTEM_CLOCK) as registry, DemoFleet(URL, PATHS.namespace, SYSTEM_CLOCK) as fleet:
        ensure_namespace(registry, PATHS)
        admin = Admin(registry, PATHS, SYSTEM_CLOCK)
        admin.jobs.register(JOB, {"handler": JOB, "cron": "0 0 * * *", "items": 2})
        fleet.pause()
        config = admin.jobs.entry(JOB).config
        assert config is not None
        assert config.paused
        fleet.forget()
        assert registry.get(PATHS.root) is None
        fleet.forget()
