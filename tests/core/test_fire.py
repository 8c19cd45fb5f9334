"""What a cursor tells of the last run."""

from __future__ import annotations

import pytest

from shardsched.core.fire import Cause, Cursor, ItemState


@pytest.mark.parametrize(
    ("attempt", "failures", "cause"),
    [
        (1, 0, Cause.MISFIRE),
        (2, 0, Cause.FAILOVER),
        (2, 1, Cause.RETRY),
        (3, 2, Cause.RETRY),
        (3, 1, Cause.FAILOVER),
    ],
)
def test_cause_of_a_run_follows_from_its_attempt_and_what_failed(attempt: int, failures: int, cause: Cause) -> None:
    """The first has the fire's; later ones are retries where all before them failed."""
    cursor = Cursor(uid="u", state=ItemState.RUNNING, cause=Cause.MISFIRE, attempt=attempt, failures=failures)
    assert cursor.run_cause is cause
