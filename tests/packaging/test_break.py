"""The breaks that test the tests still fit the code."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.breaks.catalogue import BREAKS
from tests.packaging.source import ROOT

if TYPE_CHECKING:
    from tests.breaks.catalogue import Break


@pytest.mark.parametrize("mistake", BREAKS, ids=lambda one: one.name)
def test_break_replaces_a_text_that_is_there_once(mistake: Break) -> None:
    """A break whose text is gone would break nothing, and its tests are where it says."""
    broken = mistake.broken_text(ROOT)
    assert broken != (ROOT / mistake.path).read_text()
    ast.parse(broken)
    assert all((ROOT / test).is_file() for test in mistake.tests)
