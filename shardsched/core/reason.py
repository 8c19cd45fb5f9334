"""Why a job does not fire: its state in one word, and the reasons for people, weightiest first.

This module decides; it does not act.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.core.eligibility import unowned_reason
from shardsched.core.item import format_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.core.assignment import Assignment
    from shardsched.core.job import JobConfig
    from shardsched.core.view import FleetView, JobEntry


class JobState(StrEnum):
    """What a job is up to."""

    ENABLED = "enabled"
    """It fires."""
    PAUSED = "paused"
    """People paused it."""
    HELD = "held"
    """It cannot be used as it is stored, or it is being deleted."""
    UNOWNED = "unowned"
    """No living executor owns any of its items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A job's state, and what keeps it or some of its items from firing."""

    state: JobState
    """In one word."""
    reasons: tuple[str, ...] = ()
    """What stands in its way; empty if nothing does."""

    @property
    def reason(self) -> str | None:
        """The weightiest reason, None if nothing stands in its way."""
        return self.reasons[0] if self.reasons else None


def judge(entry: JobEntry, fleet: FleetView) -> Verdict:
    """Return what a job is up to and why it does not fire, if it does not."""
    config = entry.config
    if entry.held is not None or config is None:
        return Verdict(state=JobState.HELD, reasons=(entry.held or "unreadable configuration",))
    if config.deleting:
        return Verdict(state=JobState.HELD, reasons=("being deleted: waits until none of its items runs",))
    owners = live_owners(entry.assignment, fleet)
    reasons = ("paused",) if config.paused else ()
    if not owners:
        state = JobState.PAUSED if config.paused else JobState.UNOWNED
        return Verdict(state=state, reasons=(*reasons, _no_owner(entry, config, fleet)))
    state = JobState.PAUSED if config.paused else JobState.ENABLED
    partly = (*_partly(entry.assignment, config, owners, fleet), *_disabled(config))
    return Verdict(state=state, reasons=(*reasons, *partly))


def _disabled(config: JobConfig) -> list[str]:
    items = [item for item in config.disabled_items if item < config.items]
    return [f"items {format_items(items)} are disabled"] if items else []


def live_owners(assignment: Assignment | None, fleet: FleetView) -> dict[str, tuple[int, ...]]:
    """Return the living executors that own items, with what they own."""
    owners = {} if assignment is None else assignment.owners
    return {name: items for name, items in sorted(owners.items()) if items and name in fleet.executors}


def _no_owner(entry: JobEntry, config: JobConfig, fleet: FleetView) -> str:
    nobody = unowned_reason(config, fleet)
    if nobody is not None:
        return nobody
    if fleet.leader is None:
        return "no executor leads at present, so nobody assigns its items"
    if entry.assignment_fault is not None:
        return f"its assignment cannot be used ({entry.assignment_fault}); the leader writes it anew"
    return "waits for the leader to assign its items"


def _partly(
    assignment: Assignment | None, config: JobConfig, owners: Mapping[str, tuple[int, ...]], fleet: FleetView
) -> list[str]:
    """Return what keeps a job with some owners from firing in part or for a while."""
    if assignment is None:
        return []
    reasons = []
    whose = "the leader" if fleet.leader is not None else "a leader (no executor leads at present)"
    if assignment.newest.items != config.items:
        reasons.append(f"waits for {whose} to lay out {config.items} items")
    owned = {item for items in owners.values() for item in items}
    missing = [item for item in range(assignment.newest.items) if item not in owned]
    if missing:
        gone = sorted(set(assignment.owners) - set(fleet.executors))
        after = f" (of {', '.join(gone)}, gone)" if gone else ""
        why = unowned_reason(config, fleet) or f"waits for {whose} to assign them"
        reasons.append(f"items {format_items(missing)}{after} have no owner: {why}")
    return reasons
