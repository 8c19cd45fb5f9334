"""Which executors may own a job's items, and why none may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.errors import JobConfigError
from shardsched.sentence import Sentence

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


def hosted_handler(handler: str, fleet: FleetView) -> str:
    """Return the name of the handler that is meant: by its name, or by the only function of that place.

    Raises:
        JobConfigError: No living executor hosts it, or several handlers are that function.
    """
    hosted = {name: code for record in fleet.executors.values() for name, code in record.handlers.items()}
    if handler in hosted:
        return handler
    names = sorted(name for name, code in hosted.items() if code == handler)
    if len(names) == 1:
        return names[0]
    if names:
        message = Sentence(
            "handler %(handler)r is that of several: %(names)s; give one of these names",
            handler=handler,
            names=", ".join(names),
        )
    elif hosted:
        message = Sentence(
            "no living executor hosts handler %(handler)r (hosted: %(names)s); start one with its module first",
            handler=handler,
            names=", ".join(sorted(hosted)),
        )
    else:
        message = Sentence(
            "no living executor hosts handler %(handler)r, nor any other; start one with 'shardsched run MODULE'",
            handler=handler,
        )
    raise JobConfigError(message, setting="handler")


def unowned_reason(config: JobConfig, fleet: FleetView) -> str | None:
    """Return in one sentence why no executor may own items of a job, None if one may."""
    if not fleet.executors:
        return Sentence("no executor is running")
    hosts = [executor for executor in fleet.executors.values() if config.handler in executor.handlers]
    if not hosts:
        hosted = sorted({handler for executor in fleet.executors.values() for handler in executor.handlers})
        return Sentence(
            "no executor hosts the handler %(handler)r (hosted: %(names)s)",
            handler=config.handler,
            names=_some(hosted) or Sentence("none"),
        )
    labelled = [executor for executor in hosts if _has_labels(config, executor)]
    if not labelled:
        labels = ", ".join(f"{label}={text}" for label, text in sorted(config.labels.items()))
        return Sentence(
            "no executor that hosts %(handler)r has the labels %(labels)s", handler=config.handler, labels=labels
        )
    active = [executor for executor in labelled if executor.name not in fleet.drained]
    if not active:
        names = _some(sorted(executor.name for executor in labelled))
        return Sentence("all executors that may run it are drained (%(names)s)", names=names)
    unfit = [executor for executor in active if executor.unfit is not None]
    if len(unfit) < len(active):
        return None
    first = min(unfit, key=lambda executor: executor.name)
    return Sentence("executor %(name)s takes no items: %(unfit)s", name=first.name, unfit=first.unfit)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:10])
    return shown if len(names) <= 10 else Sentence("%(names)s and %(count)s more", names=shown, count=len(names) - 10)
