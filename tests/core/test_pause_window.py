"""Pause windows: what they cover, and what is refused."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.pause_window import parse_pause_window
from shardsched.errors import JobConfigError


def is_in(text: str, moment: str) -> bool:
    """Whether a wall-clock time is in a window; its span must agree."""
    wall = datetime.fromisoformat(moment)
    span = parse_pause_window(text).span_at(wall)
    assert span is None or span[0] <= wall < span[1]
    return span is not None


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("22:00-06:00", ["2026-03-02T22:00", "2026-03-02T00:00", "2026-03-02T05:59:59"], ["2026-03-02T06:00"]),
        ("22:00-06:00", ["2026-03-02T23:59:59"], ["2026-03-02T21:59:59", "2026-03-02T12:00"]),
        ("9:30-12:00", ["2026-03-02T09:30", "2026-03-02T11:59:59"], ["2026-03-02T09:29:59", "2026-03-02T12:00"]),
        ("18:00-24:00", ["2026-03-02T18:00", "2026-03-02T23:59:59"], ["2026-03-03T00:00", "2026-03-02T17:59"]),
        ("00:00-24:00", ["2026-03-02T00:00", "2026-03-02T23:59:59"], []),
        ("12/24-01/02", ["2026-12-24T00:00", "2026-12-31T23:59", "2027-01-02T23:59:59"], ["2027-01-03T00:00"]),
        ("12/24-01/02", ["2026-01-01T12:00"], ["2026-12-23T23:59:59", "2026-07-01T00:00"]),
        ("5/1", ["2026-05-01T00:00", "2026-05-01T23:59"], ["2026-04-30T23:59", "2026-05-02T00:00"]),
        ("02/29", ["2028-02-29T12:00"], ["2026-02-28T12:00", "2026-03-01T12:00"]),
        ("sat,sun", ["2026-02-28T00:00", "2026-03-01T23:59:59"], ["2026-03-02T00:00", "2026-02-27T23:59:59"]),
        ("Mon-Fri", ["2026-03-02T00:00", "2026-03-06T23:59"], ["2026-03-07T00:00", "2026-03-01T12:00"]),
        ("fri-mon", ["2026-03-06T12:00", "2026-03-09T12:00"], ["2026-03-10T12:00", "2026-03-05T12:00"]),
        ("mon", ["2026-03-02T12:00"], ["2026-03-03T12:00"]),
        ("sat,sun 22:00-06:00", ["2026-02-28T03:00", "2026-03-01T22:00"], ["2026-03-02T03:00", "2026-03-01T12:00"]),
        ("12/24-12/26 mon-fri 00:00-12:00", ["2026-12-25T11:00"], ["2026-12-26T11:00", "2026-12-25T13:00"]),
    ],
)
def test_window_covers_what_it_says(text: str, inside: list[str], outside: list[str]) -> None:
    """Times end before their end, days include their last, and all segments must hold."""
    assert [moment for moment in inside if not is_in(text, moment)] == []
    assert [moment for moment in outside if is_in(text, moment)] == []


@pytest.mark.parametrize(
    ("text", "segment"),
    [
        ("", ""),
        ("   ", "   "),
        ("25:00-06:00", "25:00-06:00"),
        ("22:60-06:00", "22:60-06:00"),
        ("22:00-24:01", "22:00-24:01"),
        ("24:00-06:00", "24:00-06:00"),
        ("06:00-06:00", "06:00-06:00"),
        ("22-06", "22-06"),
        ("22:00", "22:00"),
        ("sat 22:00 - 06:00", "22:00"),
        ("13/01", "13/01"),
        ("02/30-03/01", "02/30-03/01"),
        ("24/12-02/01", "24/12-02/01"),
        ("12/24-", "12/24-"),
        ("saturday", "saturday"),
        ("sat,", "sat,"),
        ("sat-", "sat-"),
        ("mo-fr 22:00-06:00", "mo-fr"),
        ("sat sun", "sun"),
        ("10:00-11:00 12:00-13:00", "12:00-13:00"),
        ("\u0661\u0662/24", "\u0661\u0662/24"),
        ("* 22 * * *", "*"),
    ],
)
def test_window_that_cannot_be_read_names_the_segment(text: str, segment: str) -> None:
    """The message says which part is wrong and what to write."""
    with pytest.raises(JobConfigError) as caught:
        parse_pause_window(text)
    assert repr(segment) in str(caught.value)
    assert caught.value.setting == "pause"
    assert len(str(caught.value)) < 400


@given(st.text(max_size=30) | st.text("0123456789:/-, satunmofri", max_size=20))
def test_window_of_any_text_is_read_or_refused(text: str) -> None:
    """No text makes anything but a window or the promised error."""
    try:
        window = parse_pause_window(text)
    except JobConfigError:
        return
    assert window.times or window.dates or window.week_days
