"""Checkpoints on real executors: they outlive kills, and a run that was taken over saves nothing."""

from __future__ import annotations

import os
import random
import signal
from typing import TYPE_CHECKING

import pytest

from tests.fleet.fleet_harness import T_S, Fleet, let_pass, wait_until

if TYPE_CHECKING:
    from tests.fleet.saved_record import Item

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(180)]

ITEM: Item = ("j", 0)
EVERY_SECOND = "* * * * * ?"


def saved(fleet: Fleet) -> int:
    """Return the last number that the item has saved."""
    return fleet.saves().saved.get(ITEM, 0)


def test_failover_goes_on_from_the_checkpoint_until_it_is_reset(fleet: Fleet) -> None:
    """Another executor loads what a killed one saved, so does the next fire, and after a reset there is nothing."""
    fleet.start("e1", "e2")
    fleet.create("j", items=1, param="hold=60 save=1")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: saved(fleet) >= 5, "some saves")
    (run,) = fleet.running("j")
    fleet.executors[run.executor].kill()
    before = saved(fleet)
    wait_until(lambda: saved(fleet) > before + 5, "the other to go on", T_S + 10)
    (item,) = fleet.cursors("j")
    assert item["attempt"] == 2
    assert item["checkpoint"]["token"] == item["token"]
    assert item["checkpoint"]["bytes"] > 500
    fleet.admin.commands.stop("j", by="test")
    wait_until(lambda: fleet.cursors("j")[0]["state"] == "stopped", "the run to be stopped")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.saves().loads) == 3, "the next fire")
    fleet.admin.commands.stop("j", by="test")
    wait_until(lambda: not fleet.cursors("j")[0]["is_running"], "the run to be stopped")
    first, *later = (loaded for _, _, loaded in fleet.saves().loads)
    assert first == 0
    assert min(later) >= 5
    assert fleet.admin.checkpoints.reset("j", by="test").items == (0,)
    assert fleet.cursors("j")[0]["checkpoint"] is None


def test_kills_in_the_middle_of_saves_lose_nothing_that_was_acknowledged(fleet: Fleet) -> None:
    """Items and executors are killed at random moments of endless saves: no load is older, torn or made up."""
    rng = random.Random(7)  # noqa: S311 - the same moments each time, as far as the machine allows
    fleet.start("e1")
    fleet.create("j", items=1, param="hold=30 save=20", cron=EVERY_SECOND)
    for number in range(10):
        before = saved(fleet)
        wait_until(lambda: saved(fleet) > before, "it to save", T_S + 10)  # noqa: B023 - waited for here
        let_pass(rng.uniform(0.0, 0.1))
        if number % 5 == 4:
            fleet.executors["e1"].kill()
            fleet.start("e1")
        else:
            os.kill(fleet.running("j")[-1].pid, signal.SIGKILL)
    states = fleet.saves()
    assert len(states.loads) >= 10
    assert states.faults == []


def test_run_of_a_frozen_executor_saves_nothing_after_it_was_taken_over(fleet: Fleet) -> None:
    """A thread that wakes with its executor is refused, and what its successor saved stands."""
    fleet.start("e1")
    fleet.create("j", items=1, handler="saver", isolation="thread")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: saved(fleet) >= 3, "some saves")
    ((_, old_run, _),) = fleet.saves().loads
    fleet.start("e2")
    fleet.executors["e1"].freeze()
    wait_until(lambda: len(fleet.saves().loads) == 2, "the other to go on", T_S + 10)
    before = saved(fleet)
    fleet.executors["e1"].thaw()
    wait_until(lambda: (old_run, "StaleTokenError") in fleet.saves().refusals, "the old run to be refused")
    wait_until(lambda: saved(fleet) > before + 3, "the new run to go on")
    assert {run for run, _ in fleet.saves().refusals} == {old_run}
