"""How an end is called follows from what is left of the process."""

from __future__ import annotations

import itertools
import signal

import pytest

from shardsched.execution.lease import Lease
from shardsched.execution.outcome import Outcome, Stop, judge, judge_unstarted
from shardsched.execution.ward import TRANSITIONS, Event, Phase, next_phase

STOP = Stop(Outcome.STOPPED, "asked")
TIMEOUT = Stop(Outcome.TIMEOUT, "too long")
OK = {"ending": "ok"}
OK_AFTER_REQUEST = {"ending": "ok", "asked_to_stop": True}
STOPPED = {"ending": "stopped", "asked_to_stop": True}
UNSAID = "the process ended before the handler returned"
PROGRAM = {"ending": "program", "ok_codes": [0, 3]}
FAILED = {"ending": "failed", "message": "KeyError: 1", "traceback": "Traceback"}


@pytest.mark.parametrize(
    ("stop", "status", "report", "is_oom", "outcome", "message"),
    [
        (None, 0, OK, False, Outcome.OK, ""),
        (STOP, 0, OK, False, Outcome.OK, ""),
        (STOP, 0, OK_AFTER_REQUEST, False, Outcome.STOPPED, "asked"),
        (STOP, -15, OK, False, Outcome.STOPPED, "asked"),
        (STOP, -15, None, False, Outcome.STOPPED, "asked"),
        (TIMEOUT, -9, None, True, Outcome.TIMEOUT, "too long"),
        (STOP, 1, FAILED, False, Outcome.STOPPED, "asked; KeyError: 1"),
        (None, 1, FAILED, False, Outcome.FAILED, "KeyError: 1"),
        (None, 3, None, False, Outcome.FAILED, "ended with exit code 3 without a result"),
        (None, 0, None, False, Outcome.NO_RESULT, UNSAID),
        (None, 0, {"ending": "nonsense"}, False, Outcome.NO_RESULT, UNSAID),
        (None, 0, {"ending": ["x"], "message": {}}, False, Outcome.NO_RESULT, UNSAID),
        (None, 3, OK, False, Outcome.FAILED, "ended with exit code 3 without a result"),
        (None, -9, None, False, Outcome.KILLED, "killed from outside (SIGKILL)"),
        (None, -9, OK, False, Outcome.KILLED, "killed from outside (SIGKILL)"),
        (None, -15, None, True, Outcome.KILLED, "killed from outside (SIGTERM)"),
        (None, -11, None, True, Outcome.CRASHED, "crashed (SIGSEGV); the log has the stack"),
        (None, -60, None, False, Outcome.CRASHED, "crashed (signal 60); the log has the stack"),
        (None, 0, STOPPED, False, Outcome.KILLED, "was asked to stop from outside"),
        (None, 0, OK_AFTER_REQUEST, False, Outcome.OK, ""),
        (None, 0, PROGRAM, False, Outcome.OK, ""),
        (None, 3, PROGRAM, False, Outcome.OK, ""),
        (None, 4, PROGRAM, False, Outcome.FAILED, "exited with code 4"),
        (None, 0, {"ending": "program", "ok_codes": {}}, False, Outcome.FAILED, "exited with code 0"),
        (None, -9, PROGRAM, False, Outcome.KILLED, "killed from outside (SIGKILL)"),
        (STOP, 0, PROGRAM, False, Outcome.STOPPED, "asked"),
        (TIMEOUT, -9, PROGRAM, False, Outcome.TIMEOUT, "too long"),
        (None, 1, {"ending": "start_failed", "message": "none"}, False, Outcome.START_FAILED, "none"),
    ],
)  # fmt: skip
def test_end_is_judged(
    stop: Stop | None,
    status: int,
    report: dict[str, object] | None,
    is_oom: bool,
    outcome: Outcome,
    message: str,
) -> None:
    """Each trace of an end has its outcome and its words, and nonsense from the item does no harm."""
    assert judge(stop, status, report, is_oom=is_oom)[:2] == (outcome, message)


def test_end_by_the_kernel_for_want_of_memory_is_told() -> None:
    """SIGKILL without a reason of ours is put down to memory when the kernel counted a kill."""
    verdict = judge(None, -signal.SIGKILL, None, is_oom=True)
    assert verdict.outcome is Outcome.OOM
    assert "out of memory" in verdict.message


def test_run_that_never_began_lost_nothing() -> None:
    """A lease that ends before the handler begins is a refusal; other stops stay what they are."""
    assert judge_unstarted(Stop(Outcome.LEASE_LOST, "over")) == (Outcome.REFUSED, "over", "")
    assert judge_unstarted(STOP).outcome is Outcome.STOPPED


@pytest.mark.parametrize(("phase", "event"), list(itertools.product(Phase, Event)))
def test_every_event_in_every_phase_is_decided(phase: Phase, event: Event) -> None:
    """A pair either has its next phase or raises and changes nothing."""
    if (phase, event) in TRANSITIONS:
        assert next_phase(phase, event) is not phase
    else:
        with pytest.raises(ValueError, match=f"{phase.name} cannot be {event.name}"):
            next_phase(phase, event)


def test_every_phase_leads_to_the_end_and_none_from_it() -> None:
    """From each phase OVER can be reached, and OVER is final."""
    assert not [pair for pair in TRANSITIONS if pair[0] is Phase.OVER]
    reached = {Phase.OVER}
    for _ in Phase:
        reached |= {phase for (phase, _), after in TRANSITIONS.items() if after in reached}
    assert reached == set(Phase)


def test_lease_allows_its_own_epoch_until_its_soft_end() -> None:
    """Nothing starts without a lease, under another session or after the moment of asking to stop."""
    lease = Lease("a", until=10.0, soft=8.0)
    assert lease.refusal("a", 7.9) is None
    assert "run out" in str(lease.refusal("a", 8.0))
    assert "session that is over" in str(lease.refusal("b", 1.0))
    assert "no lease" in str(Lease().refusal("", 0.0))
