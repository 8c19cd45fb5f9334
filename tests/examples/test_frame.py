"""What the demo draws is what the records say, and fits a terminal."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from shardsched.clock import SYSTEM_CLOCK
from shardsched.demo.audit import FireSummary, Kill, Takeover, Verdict
from shardsched.demo.console import Door
from shardsched.demo.frame import Scene, item_progress, scene_lines, scene_summary, shares, verdict_lines
from shardsched.demo.record import PageRecord, Records, RunRecord
from shardsched.demo.screen import Screen

if TYPE_CHECKING:
    import pytest

FIRE = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)


def run(item: int, *, executor: str, attempt: int, begins: float, is_finished: bool) -> RunRecord:
    """A run of the fire."""
    return RunRecord(
        item=item,
        fire=FIRE,
        run_id=f"{item}-{attempt}",
        executor=executor,
        cause="schedule",
        attempt=attempt,
        token=attempt,
        started_at=FIRE + timedelta(seconds=begins),
        ended_at=FIRE + timedelta(seconds=begins + 1) if is_finished else None,
        is_finished=is_finished,
    )


def page(item: int, number: int) -> PageRecord:
    """A page of the fire."""
    return PageRecord(item=item, fire=FIRE, url=str(number), run_id="", executor="e1", ended_at=FIRE)


RECORDS = Records(
    runs=(
        run(0, executor="e1", attempt=1, begins=0, is_finished=True),
        run(1, executor="e2", attempt=1, begins=0, is_finished=False),
        run(1, executor="e3", attempt=2, begins=5, is_finished=False),
        run(2, executor="e2", attempt=1, begins=0, is_finished=False),
    ),
    pages=(*(page(0, number) for number in range(10)), *(page(1, number) for number in range(4))),
)


def scene() -> Scene:
    """A moment after e2 was killed."""
    return Scene(
        elapsed_s=83.0,
        items=item_progress(RECORDS, 4),
        page_count=40,
        executors={"e1": 4_194_301, "e2": 4_194_302, "e3": 4_194_303},
        leader="e3",
        killed=frozenset({"e2"}),
        shares=shares(RECORDS),
    )


def test_progress_counts_pages_of_a_fire_over_its_attempts() -> None:
    """The latest run is shown, with what earlier runs of the fire had done."""
    progress = item_progress(RECORDS, 4)
    assert [(one.run.executor if one.run else None, one.crawled) for one in progress] == [
        ("e1", 10),
        ("e3", 4),
        ("e2", 0),
        (None, 0),
    ]
    assert shares(RECORDS) == {0: 10}


def test_scene_shows_who_crawls_who_leads_and_who_was_killed() -> None:
    """Each item has its line, and each fits 80 columns."""
    lines = [click.unstyle(line) for line in scene_lines(scene())]
    assert lines[0].startswith("  01:23  e1 pid 4194301  e2 pid 4194302 killed  e3 pid 4194303 leads")
    assert "item 0  e1  fire 08:00:00" in lines[1]
    assert lines[1].endswith("10/10   done")
    assert lines[2].endswith("4/10   crawls (attempt 2)")
    assert lines[3].endswith("0/10   left by the dead")
    assert lines[4] == "  item 3  waits for its first fire"
    assert max(map(len, lines)) <= 80
    assert scene_summary(scene()) == "01:23  fire 08:00:00  pages by item  0:e1 10  1:e3 4  2:e2 0  3:-"


def test_scene_shows_the_door_of_the_console() -> None:
    """All the time, within 80 columns."""
    known = replace(scene(), door=Door(address="http://127.0.0.1:58321/setup", code="AUFDL-VXRY9-3JR9K-58WCB"))
    last = click.unstyle(scene_lines(known)[-1])
    assert last == "  console http://127.0.0.1:58321/setup  code AUFDL-VXRY9-3JR9K-58WCB"
    assert len(last) <= 80


def test_verdict_shows_fires_takeovers_and_faults() -> None:
    """A good verdict says what was checked; a bad one says what is wrong instead."""
    fire = FireSummary(fire=FIRE, page_count=14, pages_by_executor={"e1": 14}, run_count=4, is_complete=False)
    good = Verdict(fires=(fire,), takeovers=(Takeover(item=1, by="e3", after_s=4.25),), faults=())
    kill = Kill(executor="e2", at=FIRE, run_ids=("1-1",), limit_s=9)
    lines = [click.unstyle(line) for line in verdict_lines(good, kill, 40, 5.0)]
    assert any("08:00:00   14" in line and "cut short" in line for line in lines)
    assert any("e2 was killed at 08:00:00.0; taken over: item 1 by e3 after 4.2 s" in line for line in lines)
    assert any("exactly once" in line for line in lines)
    assert not any("promised" in line for line in lines)
    assert any("promised: 3 s" in line for line in map(click.unstyle, verdict_lines(good, kill, 40, 3.0)))
    bad = Verdict(fires=(), takeovers=(), faults=("something doubled",))
    lines = [click.unstyle(line) for line in verdict_lines(bad, None, 40, 5.0)]
    assert any("FAULT  something doubled" in line for line in lines)
    assert not any("exactly once" in line for line in lines)


def test_screen_without_a_terminal_tells_plain_lines_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    """A log gets no control characters, no colours, and no state twice."""
    screen = Screen(SYSTEM_CLOCK, has_colour=True, is_live=False)
    for summary in ("one", "one", "two"):
        screen.draw(["drawn"], summary)
    screen.say(click.style("stays", fg="red"))
    assert capsys.readouterr().out == "one\nstays\n"


def test_screen_on_a_terminal_draws_over_what_it_drew(capsys: pytest.CaptureFixture[str]) -> None:
    """The lines drawn before are erased first, by as many as they were."""
    screen = Screen(SYSTEM_CLOCK, has_colour=False, is_live=True)
    screen.draw(["a", "b"], "")
    screen.say("stays")
    screen.draw(["c"], "")
    screen.draw(["d"], "")
    assert capsys.readouterr().out == "a\nb\n\x1b[2A\x1b[Jstays\nc\n\x1b[1A\x1b[Jd\n"
