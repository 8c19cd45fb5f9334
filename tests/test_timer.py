"""The one wake-up and the chores."""

from __future__ import annotations

import threading

from shardsched.clock import SYSTEM_CLOCK
from shardsched.timer import Timer


def test_timer_after_a_step_of_the_clock_runs_chores_and_wakes_at_once() -> None:
    """What is due by the hour is done now, and whoever waits for a moment looks at the clock again."""
    is_woken, is_done = threading.Event(), threading.Event()
    timer = Timer(SYSTEM_CLOCK, is_woken.set)
    timer.start()
    try:
        timer.every(3_600.0, "a chore", is_done.set)
        timer.resync()
        assert is_done.wait(20.0)
        assert is_woken.is_set()
    finally:
        timer.stop()
