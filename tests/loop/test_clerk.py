"""Answering what items ask, each on a thread that may wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shardsched.execution.run import RunAsked
from shardsched.loop.clerk import Clerk
from tests.coordination.test_ledger import claim
from tests.waiting import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shardsched.registry.base import Operation
    from tests.coordination.stage import Client, Stage

LOAD = {"number": 1, "what": "load", "state": None}
SAVE = {"number": 2, "what": "save", "state": "3"}


@pytest.fixture
def e1(stage: Stage) -> Client:
    """An executor with a running item."""
    stage.add_job(items=1, owners={"e1": (0,)})
    return stage.client("e1")


@pytest.fixture
def clerk(stage: Stage, e1: Client) -> Iterator[Clerk]:
    """Its clerk, who knows the run."""
    clerk = Clerk(e1.registry, stage.paths, e1.lease, stage.clock)
    clerk.admit(claim(e1, e1.entry(), 0)[1][0])
    yield clerk
    clerk.close()


def asked(clerk: Clerk, request: Mapping[str, Any], run_id: str = "r0") -> Mapping[str, Any]:
    """Return what a run is answered by way of the clerk's threads."""
    replies: Recorder[tuple[str, Mapping[str, Any]]] = Recorder()
    clerk.take(RunAsked(run_id=run_id, request=request), lambda *reply: replies(reply))
    replies.wait_for(lambda some: len(some) == 1)
    (reply,) = replies.values
    assert reply[0] == run_id
    return reply[1]


def test_clerk_loads_and_saves_for_a_known_run(clerk: Clerk) -> None:
    """The answer bears the number of the request."""
    assert asked(clerk, LOAD) == {"number": 1, "state": None}
    assert asked(clerk, SAVE) == {"number": 2}
    assert asked(clerk, LOAD | {"number": 3}) == {"number": 3, "state": "3"}


def test_clerk_refuses_runs_that_are_over(clerk: Clerk) -> None:
    """One that has ended, or that nobody knows, is told so."""
    clerk.dismiss("r0")
    assert asked(clerk, SAVE) == {
        "number": 2,
        "error": "StaleTokenError",
        "message": "the checkpoint cannot be saved or loaded: its run is over",
    }
    assert clerk.answer("unknown", LOAD)["error"] == "StaleTokenError"


def test_clerk_tells_an_error_by_its_class(stage: Stage, e1: Client, clerk: Clerk) -> None:
    """The item can raise what was raised here."""
    e1.lease.lose()
    assert asked(clerk, SAVE)["error"] == "StaleTokenError"


def test_clerk_answers_also_when_it_fails(e1: Client, clerk: Clerk, caplog: pytest.LogCaptureFixture) -> None:
    """No item waits for ever for an answer that an error of ours has prevented."""

    def fault(_moment: str, _operations: Sequence[Operation]) -> None:
        raise ZeroDivisionError

    e1.registry.fault = fault
    answer = asked(clerk, SAVE)
    assert (answer["number"], answer["error"]) == (2, "CheckpointError")
    assert "a request of an item failed" in caplog.text
