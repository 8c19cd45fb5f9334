"""What the demo shows at one moment, as lines of text. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from shardsched.demo.audit import Kill, Verdict
    from shardsched.demo.console import Door
    from shardsched.demo.record import Records, RunRecord

_COLOURS = ("cyan", "yellow", "magenta", "blue", "green")
_BAR_WIDTH = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemProgress:
    """How far one item is with its latest fire."""

    item: int
    """Which."""
    run: RunRecord | None
    """Its latest run."""
    crawled: int
    """Pages that it has of that fire, by whichever run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One moment."""

    elapsed_s: float
    """Since the fleet was started."""
    items: Sequence[ItemProgress]
    """All items."""
    page_count: int
    """Pages of the whole site."""
    executors: Mapping[str, int]
    """Names and process ids."""
    leader: str | None
    """Who leads."""
    killed: frozenset[str] = frozenset()
    """Executors that were killed."""
    shares: Mapping[int, int] = field(default_factory=dict)
    """Pages that belong to each item, where known."""
    door: Door | None = None
    """How to get into the console, where there is one."""


def item_progress(records: Records, item_count: int) -> list[ItemProgress]:
    """Return how far each item is."""
    latest: dict[int, RunRecord] = {}
    for run in records.runs:
        if run.item not in latest or run.started_at >= latest[run.item].started_at:
            latest[run.item] = run
    counts = Counter((page.item, page.fire) for page in records.pages)
    return [
        ItemProgress(item=item, run=run, crawled=counts[item, run.fire] if run else 0)
        for item in range(item_count)
        for run in [latest.get(item)]
    ]


def shares(records: Records) -> dict[int, int]:
    """Return how many pages each item had of a fire that it finished."""
    finished = {(run.item, run.fire) for run in records.runs if run.is_finished}
    counts = Counter((page.item, page.fire) for page in records.pages)
    return {item: counts[item, fire] for item, fire in finished}


def scene_lines(scene: Scene) -> list[str]:
    """Return the scene for a terminal."""
    names = list(scene.executors)
    lines = [f"  {_clock(scene.elapsed_s)}  " + "  ".join(_executor(scene, name, names) for name in names)]
    for progress in scene.items:
        run = progress.run
        if run is None:
            lines.append(f"  item {progress.item}  waits for its first fire")
            continue
        share = scene.shares.get(progress.item) or max(scene.page_count // max(len(scene.items), 1), 1)
        is_left = run.executor in scene.killed and not run.is_finished
        state = "left by the dead" if is_left else ("done" if run.is_finished else "crawls")
        again = f" (attempt {run.attempt})" if run.attempt > 1 else ""
        lines.append(
            f"  item {progress.item}  {_tinted(run.executor, names)}  fire {run.fire:%H:%M:%S}  "
            f"{_bar(progress.crawled, share)} {progress.crawled:3}/{share:<3}  {state}{again}"
        )
    if scene.door is not None:
        lines.append(f"  console {click.style(scene.door.address, bold=True)}  code {scene.door.code}")
    return lines


def scene_summary(scene: Scene) -> str:
    """Return the scene on one line."""
    parts = [
        f"{progress.item}:{progress.run.executor} {progress.crawled}" if progress.run else f"{progress.item}:-"
        for progress in scene.items
    ]
    fires = [progress.run.fire for progress in scene.items if progress.run]
    fire = f"fire {max(fires):%H:%M:%S}" if fires else "no fire yet"
    return f"{_clock(scene.elapsed_s)}  {fire}  pages by item  " + "  ".join(parts)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


def _executor(scene: Scene, name: str, names: Sequence[str]) -> str:
    state = "killed" if name in scene.killed else ("leads" if name == scene.leader else "")
    return f"{_tinted(name, names)} pid {scene.executors[name]} {state}".rstrip()


def _tinted(name: str, names: Sequence[str]) -> str:
    colour = _COLOURS[names.index(name) % len(_COLOURS)] if name in names else None
    return click.style(name, fg=colour, bold=True)


def _bar(done: int, whole: int) -> str:
    filled = min(_BAR_WIDTH * done // max(whole, 1), _BAR_WIDTH)
    return "█" * filled + "·" * (_BAR_WIDTH - filled)


def verdict_lines(verdict: Verdict, kill: Kill | None, page_count: int, promise_s: float) -> list[str]:
    """Return the verdict for people."""
    lines = [f"  fire       pages of {page_count:<5} by{'':<31}runs"]
    for fire in verdict.fires:
        by = ", ".join(f"{name} {count}" for name, count in fire.pages_by_executor.items())
        note = "" if fire.is_complete else "  cut short by the end"
        lines.append(f"  {fire.fire:%H:%M:%S}   {fire.page_count:<13} {by:<32} {fire.run_count}{note}")
    if kill is not None:
        taken = ", ".join(f"item {one.item} by {one.by} after {one.after_s:.1f} s" for one in verdict.takeovers)
        lines.append(f"  {kill.executor} was killed at {_time(kill.at)}; taken over: {taken or 'nothing'}")
        if any(one.after_s > promise_s for one in verdict.takeovers):
            lines.append(f"  (promised: {promise_s:g} s; this machine is short of processor time)")
    lines.extend(click.style(f"  FAULT  {fault}", fg="red") for fault in verdict.faults)
    if not verdict.faults:
        lines.append(click.style("  every page of every complete fire was crawled exactly once", fg="green"))
        lines.append(click.style("  no item ran twice at the same time", fg="green"))
    return lines


def _time(at: datetime) -> str:
    return f"{at:%H:%M:%S}.{at.microsecond // 100_000}"
