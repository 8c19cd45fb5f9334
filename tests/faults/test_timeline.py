"""The picture of a campaign."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from tests.faults.strike import Kind, Strike
from tests.faults.test_verdict import AGAIN, RUN
from tests.faults.timeline import timeline

SVG = "{http://www.w3.org/2000/svg}"


def test_timeline_has_a_bar_for_each_run_and_a_shade_for_each_victim() -> None:
    """Everything that happened is in the picture, which is well-formed whatever the names."""
    odd = replace(RUN, job="<j&>")
    strike = Strike(fault="cut <&>", victims=("e1",), kind=Kind.SILENT, begun_at=10.0, healed_at=12.0)
    root = ElementTree.fromstring(timeline([odd, AGAIN], [strike], "a <title>"))  # noqa: S314 - made by ourselves
    bars = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") in {None, "x"}]
    assert len(bars) == 2
    assert sum(rect.get("class") == "f" for rect in root.iter(f"{SVG}rect")) == 1
    assert "cut <&>" in {text.text for text in root.iter(f"{SVG}text")}


def test_timeline_runs_at_once_lie_in_lanes_of_their_own() -> None:
    """Two runs of one executor that overlap are not drawn over each other."""
    both = [RUN, replace(RUN, run="r2", item=1, start=10.0)]
    root = ElementTree.fromstring(timeline(both, []))  # noqa: S314 - made by ourselves
    assert len({rect.get("y") for rect in root.iter(f"{SVG}rect")}) == 2


def test_timeline_of_nothing_is_a_picture() -> None:
    """A campaign that never began leaves a picture too."""
    assert ElementTree.fromstring(timeline([], [])).tag == f"{SVG}svg"  # noqa: S314 - made by ourselves
