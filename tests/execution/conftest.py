"""Fixtures for the tests of running items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.execution.pool_harness import PoolUnderTest, all_dead, marked_pids, noted_pids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def make_pool(tmp_path: Path) -> Iterator[Callable[..., PoolUnderTest]]:
    """Makes pools, and sees that none of their processes is left at the end."""
    made: list[PoolUnderTest] = []

    def make(**options: object) -> PoolUnderTest:
        pool = PoolUnderTest(tmp_path / f"pool{len(made)}", **options)  # type: ignore[arg-type]  # as the class takes them
        made.append(pool)
        return pool

    yield make
    for pool in made:
        pool.pool.close(10)
        assert all_dead(noted_pids(pool.notes))
        assert marked_pids(pool.pool.cookie) == []
        assert pool.pool.running() == frozenset()


@pytest.fixture
def pool(make_pool: Callable[..., PoolUnderTest]) -> PoolUnderTest:
    """A started pool with a long lease."""
    pool = make_pool()
    pool.start()
    return pool
