"""Which executors may own a job's items, and why none may."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.core.executor import DrainMark, ExecutorRecord
    from shardsched.core.job import JobConfig
    from shardsched.core.view import FleetView


def is_eligible(config: JobConfig, executor: ExecutorRecord, drained: Mapping[str, DrainMark]) -> bool:
    """Whether an executor may own items of a job: it hosts the handler, matches the labels and takes items."""
    return (
        config.handler in executor.handlers
        and executor.name not in drained
        and executor.unfit is None
        and _has_labels(config, executor)
    )


def _has_labels(config: JobConfig, executor: ExecutorRecord) -> bool:
    return all(executor.labels.get(label) == text for label, text in config.labels.items())


def eligible_executors(config: JobConfig, fleet: FleetView) -> tuple[str, ...]:
    """Return the names of the executors that may own items of a job, sorted."""
    return tuple(
        sorted(name for name, executor in fleet.executors.items() if is_eligible(config, executor, fleet.drained))
    )


def unowned_reason(config: JobConfig, fleet: FleetView) -> str | None:
    """Return in one sentence why no executor may own items of a job, None if one may."""
    if not fleet.executors:
        return "no executor is running"
    hosts = [executor for executor in fleet.executors.values() if config.handler in executor.handlers]
    if not hosts:
        hosted = sorted({handler for executor in fleet.executors.values() for handler in executor.handlers})
        return f"no executor hosts the handler {config.handler!r} (hosted: {_some(hosted) or 'none'})"
    labelled = [executor for executor in hosts if _has_labels(config, executor)]
    if not labelled:
        labels = ", ".join(f"{label}={text}" for label, text in sorted(config.labels.items()))
        return f"no executor that hosts {config.handler!r} has the labels {labels}"
    active = [executor for executor in labelled if executor.name not in fleet.drained]
    if not active:
        names = _some(sorted(executor.name for executor in labelled))
        return f"all executors that may run it are drained ({names})"
    unfit = [executor for executor in active if executor.unfit is not None]
    if len(unfit) < len(active):
        return None
    first = min(unfit, key=lambda executor: executor.name)
    return f"executor {first.name} takes no items: {first.unfit}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
