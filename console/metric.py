"""The fleet in figures, for Prometheus."""

from __future__ import annotations

from collections import Counter as Tally
from datetime import timedelta
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge

if TYPE_CHECKING:
    from console.fleet import Sight
    from shardsched.admin.status import FleetStatus
    from shardsched.history.figure import Sum


RECENT = timedelta(hours=1)


def fleet_metrics(sight: Sight, recent: Sum | None) -> CollectorRegistry:
    """Return the figures of one look at the fleet, and of its last hour.

    Args:
        sight: The look.
        recent: Runs that ended within the last hour; None if history does not answer.
    """
    registry = CollectorRegistry()
    Gauge("shardsched_registry_up", "Whether the registry answers the console.", registry=registry).set(
        sight.status is not None and sight.fault is None
    )
    if sight.read_at is not None:
        Gauge("shardsched_seen_timestamp_seconds", "When the fleet was last read.", registry=registry).set(
            sight.read_at.timestamp()
        )
    if sight.status is not None:
        _add_fleet(registry, sight.status)
    Gauge("shardsched_history_up", "Whether history answers the console.", registry=registry).set(recent is not None)
    if recent is not None:
        _add_recent(registry, recent)
    return registry


def _add_recent(registry: CollectorRegistry, recent: Sum) -> None:
    runs = Gauge("shardsched_recent_runs", "Runs of the last hour by outcome.", ["outcome"], registry=registry)
    for outcome, count in recent.counts.items():
        runs.labels(outcome).set(count)
    durations = Gauge(
        "shardsched_recent_duration_seconds",
        "How long that share of the runs of the last hour took at most.",
        ["quantile"],
        registry=registry,
    )
    for share in (0.5, 0.95, 0.99):
        seconds = recent.percentile(share)
        if seconds is not None:
            durations.labels(str(share)).set(seconds)
    if recent.mean_lateness_s is not None:
        Gauge(
            "shardsched_recent_lateness_seconds",
            "How late the runs of the last hour began, on average.",
            registry=registry,
        ).set(recent.mean_lateness_s)


def _add_fleet(registry: CollectorRegistry, status: FleetStatus) -> None:
    leader = Gauge("shardsched_leader", "1 for the executor that leads.", ["executor"], registry=registry)
    if status.leader is not None:
        leader.labels(status.leader.name).set(1)
    states = Gauge("shardsched_executors", "Executors by state.", ["state"], registry=registry)
    for state, count in Tally(one.state for one in status.executors).items():
        states.labels(state).set(count)
    jobs = Gauge("shardsched_jobs", "Jobs by state.", ["state"], registry=registry)
    for job_state, count in Tally(str(job.state) for job in status.jobs).items():
        jobs.labels(job_state).set(count)
    owned = Gauge("shardsched_items_owned", "Items that an executor owns.", ["executor"], registry=registry)
    running = Gauge("shardsched_items_running", "Items that an executor runs.", ["executor"], registry=registry)
    drift = Gauge("shardsched_clock_drift_seconds", "How far its clock is off.", ["executor"], registry=registry)
    for executor in status.executors:
        owned.labels(executor.name).set(executor.items)
        running.labels(executor.name).set(executor.running)
        if executor.load is not None and executor.load.drift_s is not None:
            drift.labels(executor.name).set(executor.load.drift_s)
    item_states = Gauge("shardsched_items", "Items by the state of their last run.", ["state"], registry=registry)
    tally = Tally(
        "running" if item.marker else str(item.cursor.state) if item.cursor else "new"
        for job in status.jobs
        for item in job.items
    )
    for item_state, count in tally.items():
        item_states.labels(item_state).set(count)
