"""When a run that failed is tried again."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.retry import JITTER, next_try, retry_delay_s
from tests.core.scene import at, config


@pytest.mark.parametrize(
    ("failures", "delay_s"), [(1, 10.0), (2, 20.0), (3, 40.0), (6, 320.0), (7, 600.0), (100, 600.0)]
)
def test_delay_grows_up_to_the_longest(failures: int, delay_s: float) -> None:
    """Each delay is the factor times the one before, and none is longer than the longest, but for the jitter."""
    found = retry_delay_s(config(retries=100), failures, "run")
    assert delay_s * (1 - JITTER) <= found <= delay_s * (1 + JITTER)


@given(
    st.integers(1, 100), st.floats(0, 30 * 86_400), st.floats(1, 10), st.floats(0, 30 * 86_400), st.text(max_size=40)
)
def test_delay_of_any_settings_is_within_bounds(
    failures: int, delay_s: float, backoff: float, longest_s: float, run_id: str
) -> None:
    """No settings make a delay that is negative, longer than the longest and its jitter, or different when asked again."""
    job = config(retry_delay_s=delay_s, retry_backoff=backoff, retry_max_delay_s=longest_s)
    found = retry_delay_s(job, failures, run_id)
    assert 0 <= found <= longest_s * (1 + JITTER)
    assert found >= min(delay_s, longest_s) * (1 - JITTER) * 0.999
    assert retry_delay_s(job, failures, run_id) == found


def test_delays_of_runs_that_failed_together_differ() -> None:
    """The jitter is spread over its whole range."""
    delays = [retry_delay_s(config(retry_delay_s=10.0), 1, uuid.UUID(int=number).hex) for number in range(200)]
    assert min(delays) < 8.4
    assert max(delays) > 11.6
    assert len(set(delays)) > 190


@pytest.mark.parametrize(
    ("retries", "failures", "is_tried"), [(0, 1, False), (1, 1, True), (1, 2, False), (3, 3, True)]
)
def test_next_try_is_there_as_often_as_told(retries: int, failures: int, *, is_tried: bool) -> None:
    """A fire is tried again as many times as the job has retries."""
    again = next_try(config(retries=retries), failures, "run", at("12:00:00"))
    assert (again is not None) == is_tried
    if again is not None:
        assert timedelta(0) < again - at("12:00:00") < timedelta(seconds=60)


def test_next_try_of_a_job_that_is_deleted_is_none() -> None:
    """Nothing is planned for a job that goes."""
    assert next_try(config(retries=3, deleting=True), 1, "run", at("12:00:00")) is None
