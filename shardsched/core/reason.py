"""Why a job does not fire: its state in one word, and the reasons for people, weightiest first.

This module decides; it does not act.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.core.eligibility import unowned_reason
from shardsched.core.item import format_items
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.core.assignment import Assignment
    from shardsched.core.job import JobConfig
    from shardsched.core.view import FleetView, JobEntry


PAUSED = Sentence("paused")
"""The reason of a job that people paused."""


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
        return Verdict(state=JobState.HELD, reasons=(entry.held or Sentence("unreadable configuration"),))
    if config.deleting:
        return Verdict(state=JobState.HELD, reasons=(Sentence("being deleted: waits until none of its items runs"),))
    owners = live_owners(entry.assignment, fleet)
    reasons = (PAUSED,) if config.paused else ()
    if not owners:
        state = JobState.PAUSED if config.paused else JobState.UNOWNED
        return Verdict(state=state, reasons=(*reasons, _no_owner(entry, config, fleet)))
    state = JobState.PAUSED if config.paused else JobState.ENABLED
    partly = (*_partly(entry.assignment, config, owners, fleet), *_disabled(config))
    return Verdict(state=state, reasons=(*reasons, *partly))


def _disabled(config: JobConfig) -> list[str]:
    items = [item for item in config.disabled_items if item < config.items]
    return [Sentence("items %(items)s are disabled", items=format_items(items))] if items else []


def live_owners(assignment: Assignment | None, fleet: FleetView) -> dict[str, tuple[int, ...]]:
    """Return the living executors that own items, with what they own."""
    owners = {} if assignment is None else assignment.owners
    return {name: items for name, items in sorted(owners.items()) if items and name in fleet.executors}


def _no_owner(entry: JobEntry, config: JobConfig, fleet: FleetView) -> str:
    nobody = unowned_reason(config, fleet)
    if nobody is not None:
        return nobody
    if fleet.leader is None:
        return Sentence("no executor leads at present, so nobody assigns its items")
    if entry.assignment_fault is not None:
        return Sentence(
            "its assignment cannot be used (%(fault)s); the leader writes it anew", fault=entry.assignment_fault
        )
    return Sentence("waits for the leader to assign its items")


def _partly(
    assignment: Assignment | None, config: JobConfig, owners: Mapping[str, tuple[int, ...]], fleet: FleetView
) -> list[str]:
    """Return what keeps a job with some owners from firing in part or for a while."""
    if assignment is None:
        return []
    reasons: list[str] = []
    is_led = fleet.leader is not None
    whose = Sentence("the leader") if is_led else Sentence("a leader (no executor leads at present)")
    if assignment.newest.items != config.items:
        reasons.append(Sentence("waits for %(whose)s to lay out %(count)s items", whose=whose, count=config.items))
    owned = {item for items in owners.values() for item in items}
    missing = [item for item in range(assignment.newest.items) if item not in owned]
    if missing:
        gone = sorted(set(assignment.owners) - set(fleet.executors))
        why = unowned_reason(config, fleet) or Sentence("waits for %(whose)s to assign them", whose=whose)
        values = {"items": format_items(missing), "why": why, "gone": ", ".join(gone)}
        reasons.append(
            Sentence("items %(items)s (of %(gone)s, gone) have no owner: %(why)s", **values)
            if gone
            else Sentence("items %(items)s have no owner: %(why)s", **values)
        )
    return reasons
