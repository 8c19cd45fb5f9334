"""The plots of the benchmarks say what was measured."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.curves.plot import Panel, draw, number_text, ticks

SVG = "{http://www.w3.org/2000/svg}"


def circles(page: str) -> list[tuple[float, float]]:
    """Return the places of the points of a page."""
    found = ElementTree.fromstring(page).iter(f"{SVG}circle")  # noqa: S314 - our own text
    return [(float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in found]


@pytest.mark.parametrize(
    ("high", "wanted"),
    [(10.0, [0, 2, 4, 6, 8, 10]), (3.5, [0, 1, 2, 3, 4]), (0.0, [0, 1]), (100.0, [0, 20, 40, 60, 80, 100])],
)
def test_ticks_for_a_maximum_are_round_and_reach_it(high: float, wanted: list[float]) -> None:
    """Ticks begin at 0, are round, and the last is not below the maximum."""
    assert ticks(high) == pytest.approx(wanted)


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (12.5, "12.5"), (1500.0, "1.5k"), (2e6, "2M")])
def test_number_text_of_a_value_is_short(value: float, text: str) -> None:
    """Labels are short enough for an axis."""
    assert number_text(value) == text


def test_draw_of_two_panels_places_every_point_in_order() -> None:
    """Each value is a point; larger keys lie further right, larger values higher."""
    places = circles(draw("Two", [Panel("up", [(1, 1), (10, 5), (100, 9)]), Panel("one", [(1, 0)])], "jobs"))
    assert len(places) == 4
    (x1, y1), (x2, y2), (x3, y3) = places[:3]
    assert x1 < x2 < x3
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert y1 > y2 > y3


def test_draw_of_a_wide_span_is_logarithmic() -> None:
    """Values over several powers of ten are spread evenly."""
    (_, low), (_, middle), (_, high) = circles(draw("Wide", [Panel("a", [(1, 1), (2, 100), (3, 10_000)])], "jobs"))
    assert low - middle == pytest.approx(middle - high, abs=0.2)


def test_draw_of_titles_with_markup_stays_well_formed() -> None:
    """A title may hold any character."""
    page = ElementTree.fromstring(draw("a < b & c", [Panel("<>", [])], "jobs"))  # noqa: S314 - our own text
    assert "a < b & c" in {element.text for element in page.iter(f"{SVG}text")}


def test_draw_of_an_unknown_value_leaves_it_out() -> None:
    """What could not be measured is no point."""
    assert len(circles(draw("Gap", [Panel("a", [(1, float("nan")), (2, 3.0)])], "jobs"))) == 1
