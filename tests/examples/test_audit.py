"""The demo's own judge finds every kind of broken promise, and nothing in a good record."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.demo.audit import Kill, Takeover, audit, is_complete
from shardsched.demo.record import PageRecord, Records, RunRecord

START = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
SITE = frozenset(f"http://127.0.0.1/{number}.html" for number in range(8))
ITEM_COUNT = 2


def at(seconds: float) -> datetime:
    """A moment of the tests."""
    return START + timedelta(seconds=seconds)


def run(item: int, fire: float, *, begins: float, ends: float | None, token: int, attempt: int = 1) -> RunRecord:
    """A run by executor e{attempt}."""
    return RunRecord(
        item=item,
        fire=at(fire),
        run_id=f"r{item}-{fire:g}-{attempt}",
        executor=f"e{attempt}",
        cause="schedule" if attempt == 1 else "failover",
        attempt=attempt,
        token=token,
        started_at=at(begins),
        ended_at=None if ends is None else at(ends),
        is_finished=ends is not None,
    )


def pages(of: RunRecord, numbers: range | list[int], *, from_s: float) -> list[PageRecord]:
    """Pages crawled by a run, one each tenth of a second."""
    return [
        PageRecord(
            item=of.item,
            fire=of.fire,
            url=f"http://127.0.0.1/{number}.html",
            run_id=of.run_id,
            executor=of.executor,
            ended_at=at(from_s + index / 10),
        )
        for index, number in enumerate(numbers)
    ]


FIRST = [run(0, 0, begins=0.1, ends=3, token=1), run(1, 0, begins=0.1, ends=3, token=1)]
KILLED = run(0, 10, begins=10.1, ends=None, token=2)
OTHER = run(1, 10, begins=10.1, ends=13, token=2)
AGAIN = run(0, 10, begins=15, ends=17, token=3, attempt=2)
GOOD = Records(
    runs=(FIRST[0], KILLED, AGAIN, FIRST[1], OTHER),
    pages=(
        *pages(FIRST[0], range(4), from_s=1),
        *pages(KILLED, [0, 1], from_s=11),
        *pages(AGAIN, [2, 3], from_s=16),
        *pages(FIRST[1], range(4, 8), from_s=1),
        *pages(OTHER, range(4, 8), from_s=11),
    ),
)
KILL = Kill(executor="e1", at=at(11.5), run_ids=(KILLED.run_id,), limit_s=5.0)


def test_audit_of_a_good_record_finds_nothing() -> None:
    """A fire finished by failover counts as complete, and the take-over is timed."""
    verdict = audit(GOOD, SITE, ITEM_COUNT, KILL)
    assert verdict.faults == ()
    assert verdict.complete_count == 2
    assert verdict.takeovers == (Takeover(item=0, by="e2", after_s=3.5),)
    assert [dict(fire.pages_by_executor) for fire in verdict.fires] == [{"e1": 8}, {"e1": 6, "e2": 2}]
    assert [fire.run_count for fire in verdict.fires] == [2, 3]


def faults(records: Records, kill: Kill | None = KILL) -> str:
    """The faults of a record, as one text."""
    return "\n".join(audit(records, SITE, ITEM_COUNT, kill).faults)


def with_runs(*runs: RunRecord) -> Records:
    """The good record with runs replaced by their identities."""
    changed = {one.run_id: one for one in runs}
    return replace(GOOD, runs=tuple(changed.get(one.run_id, one) for one in GOOD.runs))


@given(st.integers(0, len(GOOD.pages) - 1))
def test_audit_of_a_page_crawled_twice_names_it(index: int) -> None:
    """Whichever page a fire has twice, it is named."""
    page = GOOD.pages[index]
    assert f"{page.url} was crawled 2 times" in faults(replace(GOOD, pages=(*GOOD.pages, page)))


@given(st.integers(0, len(GOOD.pages) - 1))
def test_audit_of_a_page_left_out_names_it(index: int) -> None:
    """Whichever page a complete fire lacks, it is named."""
    page = GOOD.pages[index]
    rest = tuple(one for one in GOOD.pages if one is not page)
    assert f"1 pages were not crawled, such as {page.url}" in faults(replace(GOOD, pages=rest))


def test_audit_of_a_page_that_the_site_lacks_says_so() -> None:
    """A page from nowhere is a fault."""
    stray = replace(GOOD.pages[0], url="http://127.0.0.1/else.html")
    assert "1 pages that the site does not list" in faults(replace(GOOD, pages=(*GOOD.pages, stray)))


@pytest.mark.parametrize(
    ("begins", "is_overlap"), [(11.2, False), (11.0, True), (10.0, True)], ids=["after", "before-a-page", "before-it"]
)
def test_audit_of_a_run_that_begins_before_the_killed_one_is_silent_finds_an_overlap(
    begins: float, *, is_overlap: bool
) -> None:
    """The last sign of life of a run that was killed is its last page, at 11.1 s here."""
    assert ("before run" in faults(with_runs(replace(AGAIN, started_at=at(begins))), None)) is is_overlap


def test_audit_of_a_run_that_begins_before_the_last_one_ended_finds_an_overlap() -> None:
    """An end counts as a sign of life, also with no page."""
    assert "began on e1 before run r0-0-1 ended on e1" in faults(with_runs(replace(FIRST[0], ended_at=at(10.2))))


def test_audit_of_a_fire_run_again_though_finished_says_so() -> None:
    """Failover of a finished run doubles work even where the pages hide it."""
    assert "was run again although it had been finished" in faults(
        with_runs(replace(KILLED, ended_at=at(12), is_finished=True))
    )


def test_audit_of_a_run_that_nobody_finished_says_so() -> None:
    """An abandoned run that stays abandoned is a lost fire."""
    assert "was begun by e2 and never finished" in faults(with_runs(replace(AGAIN, ended_at=None, is_finished=False)))
    assert "was begun by e2 and never finished" in faults(with_runs(replace(AGAIN, is_finished=False)))


def test_audit_of_a_fire_left_out_by_one_item_says_so() -> None:
    """A fire between an item's first and last must have been run by it."""
    late = [run(item, 20, begins=20, ends=21, token=5) for item in range(2)]
    skipped = replace(GOOD, runs=(*(one for one in GOOD.runs if one is not OTHER), *late))
    assert "item 1: fire 08:00:10 was left out" in faults(skipped)


def test_audit_of_fires_out_of_order_says_so() -> None:
    """Fire times of an item never step back."""
    moved = with_runs(replace(FIRST[1], started_at=at(14), ended_at=at(15), token=9))
    assert "fire 08:00:00 was run after fire 08:00:10" in faults(moved)


def test_audit_of_a_fencing_token_that_does_not_grow_says_so() -> None:
    """A later run must hold a larger token, or a fenced store would refuse it."""
    assert "the fencing token went from 2 to 2" in faults(with_runs(replace(AGAIN, token=2)))


def test_audit_of_a_kill_that_nobody_takes_over_says_so() -> None:
    """The killed executor's items must run elsewhere."""
    left = replace(GOOD, runs=tuple(one for one in GOOD.runs if one is not AGAIN))
    assert "1 items of the killed executor e1 were not run again by another" in faults(left)
    assert "ran nothing when it was killed" in faults(GOOD, replace(KILL, run_ids=()))


def test_audit_of_a_late_takeover_says_how_late() -> None:
    """A take-over beyond the limit is a fault with its figure."""
    assert "item 0 was taken over after 3.5 s, later than 3 s" in faults(GOOD, replace(KILL, limit_s=3.0))


def test_audit_of_nothing_is_no_success() -> None:
    """A demo in which nothing happened must not pass."""
    assert audit(Records(), SITE, ITEM_COUNT).faults == ("no fire was completed by all of its items",)


def test_fire_is_complete_only_when_every_item_finished_it() -> None:
    """One item of two is not the fire."""
    assert is_complete(GOOD, at(10), ITEM_COUNT)
    assert not is_complete(with_runs(replace(OTHER, ended_at=None, is_finished=False)), at(10), ITEM_COUNT)
    assert not is_complete(GOOD, at(20), ITEM_COUNT)
