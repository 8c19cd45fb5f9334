"""What is taken from the log into the history."""

from __future__ import annotations

import logging
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from shardsched.clock import SYSTEM_CLOCK
from shardsched.core.decision import Missed
from shardsched.core.events import Event
from shardsched.core.job import JobConfig
from shardsched.history.query import History
from shardsched.history.recorder import Recorder
from shardsched.loop.claiming import tell_missed
from shardsched.loop.event_tap import EventTap

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = JobConfig(name="j", uid="u", handler="h", cron="* * * * *", armed_at=NOON, items=3)
logger = logging.getLogger("shardsched.test")


def test_tap_hands_on_what_is_worth_telling(tmp_path: Path) -> None:
    """Missed fires become a row and an event; steps of a run and plain records become nothing."""
    url = f"sqlite:///{tmp_path / 'history.db'}"
    recorder = Recorder(
        url, tmp_path / "spool", namespace="n", executor="e1", clock=SYSTEM_CLOCK, rng=random.Random(1),  # noqa: S311 - a test
    )  # fmt: skip
    tap = EventTap(recorder, "e1", lambda job: CONFIG if job == "j" else None)
    recorder.start()
    tap.attach()
    try:
        tell_missed("j", 2, Missed(first=NOON, last=NOON.replace(hour=13), reason="was too late"))
        tell_missed("gone", 0, Missed(first=NOON, last=NOON, reason="was too late"))
        logger.warning("not an event")
        logger.warning("a step", extra={"event": Event.ITEM_CLAIMED, "job": "j"})
        logger.warning("an odd %s", "one", extra={"event": Event.POOL_FAILED, "item": "x", "thing": object()})
    finally:
        tap.detach()
        recorder.close(30.0)
    with_history = History(url, namespace="n")
    (row,) = with_history.runs().rows
    events = with_history.events().rows
    with_history.close()
    assert (row.job, row.item, row.items, row.outcome, row.fire) == ("j", 2, 3, "missed", NOON.replace(hour=13))
    assert "was too late" in row.message
    assert sorted((event.kind, event.job) for event in events) == [
        ("fires_missed", "gone"),
        ("fires_missed", "j"),
        ("pool_failed", ""),
    ]
