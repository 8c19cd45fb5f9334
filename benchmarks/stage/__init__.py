"""What the benchmarks of the running fleet share: executor processes on a real ZooKeeper, and the handlers they run."""

from __future__ import annotations

NEVER = "0 0 0 1 1 ? 2099"
"""A trigger for jobs that are only to stand by, or fire when they are told."""
