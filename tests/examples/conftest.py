"""Fixtures of other tests that the examples need too."""

from __future__ import annotations

from tests.cli.conftest import shell, stage
from tests.execution.conftest import make_pool

__all__ = ["make_pool", "shell", "stage"]
