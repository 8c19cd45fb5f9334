"""What changed between two JSON values."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.diff import CONTEXT, GAP, diff_lines, value_text

VALUES = st.dictionaries(st.text(max_size=3), st.integers() | st.lists(st.text(max_size=3), max_size=3), max_size=30)


def test_far_lines_are_left_out() -> None:
    """A few lines stand around a change; a gap stands for the others, at either end."""
    old = {f"k{number:02}": number for number in range(30)}
    found = diff_lines(old, old | {"k15": -1})
    assert found[0] == found[-1] == (GAP, "")
    assert [line for mark, line in found if mark == "-"] == ['  "k15": 15,']
    assert [line for mark, line in found if mark == "+"] == ['  "k15": -1,']
    assert len(found) == 2 * CONTEXT + 4


def test_all_of_what_is_new_or_gone_is_shown() -> None:
    """Against nothing every line counts; equal values have nothing to show."""
    value = {f"k{number}": number for number in range(30)}
    assert {mark for mark, _ in diff_lines(None, value)} == {"+"}
    assert {mark for mark, _ in diff_lines(value, None)} == {"-"}
    assert diff_lines(value, dict(value)) == []
    assert diff_lines(None, None) == []


def test_value_is_shown_as_people_write_it() -> None:
    """Other letters stay letters, whole seconds have no fraction, and a text is told from a number."""
    assert [value_text(value) for value in (300.0, 0.5, "300", "深度=3&<b>", None, {"1": "北"})] == [
        "300",
        "0.5",
        '"300"',
        '"深度=3&<b>"',
        "null",
        '{"1": "北"}',
    ]


@given(VALUES, VALUES)
def test_every_change_is_shown(old: dict[str, Any], new: dict[str, Any]) -> None:
    """What is taken out and what comes in makes the new from the old, where nothing is left out."""
    found = diff_lines(old, new)
    assert bool(found) == (old != new)
    if not any(mark == GAP for mark, _ in found) and found:
        gone = "\n".join(line for mark, line in found if mark != "+")
        come = "\n".join(line for mark, line in found if mark != "-")
        assert (gone, come) == tuple("\n".join(line for _, line in diff_lines(None, one)) for one in (old, new))
