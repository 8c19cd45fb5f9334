"""Fixtures for tests of the loop."""

from __future__ import annotations

import pytest

from tests.coordination.stage import Stage


@pytest.fixture
def stage() -> Stage:
    """A namespace in memory under a clock that stands still."""
    return Stage()
