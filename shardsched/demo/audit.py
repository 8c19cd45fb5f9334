"""Whether what the job wrote is what was promised. Pure: records in, a verdict out.

A fire is *complete* when every item has a finished run of it. What is checked:

- in a complete fire every page of the site was crawled exactly once, and no other page;
- in every fire no page was crawled twice;
- two runs of one item never overlap: the later one begins after the last sign of life of the earlier one;
- an item runs a fire again only when the earlier attempt did not finish, and every unfinished run is run again;
- an item leaves out no fire between its first and its last, and goes through them in order;
- fencing tokens of an item grow;
- what a killed executor left is taken over by others, in time.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from shardsched.demo.record import PageRecord, Records, RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """What was killed."""

    executor: str
    """Which executor."""
    at: datetime
    """When."""
    run_ids: tuple[str, ...]
    """Its runs that had not ended."""
    limit_s: float
    """Within how many seconds others must have begun to run its items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """One item taken over."""

    item: int
    """Which."""
    by: str
    """The executor that runs it again."""
    after_s: float
    """Seconds from the kill to the first line of the new run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FireSummary:
    """What became of one fire."""

    fire: datetime
    """Its time."""
    page_count: int
    """Different pages crawled."""
    pages_by_executor: Mapping[str, int]
    """Pages by who crawled them."""
    run_count: int
    """Runs, failovers included."""
    is_complete: bool
    """Whether every item finished it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the audit found."""

    fires: tuple[FireSummary, ...]
    """In order."""
    takeovers: tuple[Takeover, ...]
    """By item."""
    faults: tuple[str, ...]
    """One sentence for each broken promise."""

    @property
    def complete_count(self) -> int:
        """Number of complete fires."""
        return sum(fire.is_complete for fire in self.fires)


def audit(records: Records, site: frozenset[str], item_count: int, kill: Kill | None = None) -> Verdict:
    """Return the verdict on what was written.

    Args:
        records: All of it.
        site: Every page that the site has.
        item_count: How many items each fire has.
        kill: What was killed meanwhile.
    """
    fires = tuple(_fires(records, item_count))
    found = takeovers(records, kill) if kill else ()
    faults = [
        *_page_faults(records.pages, fires, site),
        *_run_faults(records),
        *(_kill_faults(kill, found) if kill else ()),
    ]
    if not any(fire.is_complete for fire in fires):
        faults.append("no fire was completed by all of its items")
    return Verdict(fires=fires, takeovers=found, faults=tuple(faults))


def is_complete(records: Records, fire: datetime, item_count: int) -> bool:
    """Whether every item has finished a fire."""
    return len({run.item for run in records.runs if run.fire == fire and run.is_finished}) >= item_count


def takeovers(records: Records, kill: Kill) -> tuple[Takeover, ...]:
    """Return the items of a killed executor that others run again."""
    found = []
    for left in (run for run in records.runs if run.run_id in kill.run_ids):
        again = [run for run in records.runs if _is_again(run, left, kill)]
        if again:
            first = min(again, key=lambda run: run.started_at)
            after_s = (first.started_at - kill.at).total_seconds()
            found.append(Takeover(item=left.item, by=first.executor, after_s=after_s))
    return tuple(found)


def _is_again(run: RunRecord, left: RunRecord, kill: Kill) -> bool:
    is_same = (run.item, run.fire) == (left.item, left.fire)
    return is_same and run.executor != kill.executor and run.started_at > kill.at


def _fires(records: Records, item_count: int) -> Iterator[FireSummary]:
    for fire in sorted({run.fire for run in records.runs}):
        pages = [page for page in records.pages if page.fire == fire]
        yield FireSummary(
            fire=fire,
            page_count=len({page.url for page in pages}),
            pages_by_executor=dict(sorted(Counter(page.executor for page in pages).items())),
            run_count=sum(run.fire == fire for run in records.runs),
            is_complete=is_complete(records, fire, item_count),
        )


def _page_faults(pages: Sequence[PageRecord], fires: Sequence[FireSummary], site: frozenset[str]) -> Iterator[str]:
    by_fire: defaultdict[datetime, Counter[str]] = defaultdict(Counter)
    for page in pages:
        by_fire[page.fire][page.url] += 1
    complete = {fire.fire for fire in fires if fire.is_complete}
    for fire, counts in sorted(by_fire.items()):
        for url, count in counts.items():
            if count > 1:
                yield f"fire {fire:%H:%M:%S}: {url} was crawled {count} times"
        unknown = counts.keys() - site
        if unknown:
            yield f"fire {fire:%H:%M:%S}: {len(unknown)} pages that the site does not list, such as {min(unknown)}"
    for fire in sorted(complete):
        missing = site - by_fire[fire].keys()
        if missing:
            yield f"fire {fire:%H:%M:%S}: {len(missing)} pages were not crawled, such as {min(missing)}"


def _run_faults(records: Records) -> Iterator[str]:
    alive: dict[str, datetime] = {}
    for page in records.pages:
        alive[page.run_id] = max(page.ended_at, alive.get(page.run_id, page.ended_at))
    fires = sorted({run.fire for run in records.runs})
    by_item: defaultdict[int, list[RunRecord]] = defaultdict(list)
    for run in sorted(records.runs, key=lambda run: run.started_at):
        by_item[run.item].append(run)
    for item, runs in sorted(by_item.items()):
        for earlier, later in itertools.pairwise(runs):
            yield from (f"item {item}: {fault}" for fault in _pair_faults(earlier, later, alive))
        yield from (f"item {item}: {fault}" for fault in _sequence_faults(runs, fires))


def _pair_faults(earlier: RunRecord, later: RunRecord, alive: Mapping[str, datetime]) -> Iterator[str]:
    last_sign = max(filter(None, (earlier.started_at, earlier.ended_at, alive.get(earlier.run_id))))
    if later.started_at < last_sign:
        yield f"run {later.run_id} began on {later.executor} before run {earlier.run_id} ended on {earlier.executor}"
    if later.fire < earlier.fire:
        yield f"fire {later.fire:%H:%M:%S} was run after fire {earlier.fire:%H:%M:%S}"
    if later.token <= earlier.token:
        yield f"the fencing token went from {earlier.token} to {later.token}"


def _sequence_faults(runs: Sequence[RunRecord], fires: Sequence[datetime]) -> Iterator[str]:
    by_fire: defaultdict[datetime, list[RunRecord]] = defaultdict(list)
    for run in runs:
        by_fire[run.fire].append(run)
    for fire in fires:
        if min(by_fire) < fire < max(by_fire) and fire not in by_fire:
            yield f"fire {fire:%H:%M:%S} was left out"
    for fire, attempts in sorted(by_fire.items()):
        if any(run.is_finished for run in attempts[:-1]):
            yield f"fire {fire:%H:%M:%S} was run again although it had been finished"
        if not attempts[-1].is_finished:
            yield f"fire {fire:%H:%M:%S} was begun by {attempts[-1].executor} and never finished"


def _kill_faults(kill: Kill, found: Sequence[Takeover]) -> Iterator[str]:
    if not kill.run_ids:
        yield f"executor {kill.executor} ran nothing when it was killed"
    untaken = len(kill.run_ids) - len(found)
    if untaken:
        yield f"{untaken} items of the killed executor {kill.executor} were not run again by another"
    for takeover in found:
        if takeover.after_s > kill.limit_s:
            yield f"item {takeover.item} was taken over after {takeover.after_s:.1f} s, later than {kill.limit_s:.0f} s"
