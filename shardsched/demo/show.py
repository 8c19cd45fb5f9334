"""The demo from its first process to its verdict.

The acts, each entered when the one before has happened, never by the clock alone: the site is up and measured; three
executors have joined; fires run; one executor is killed while its items run; others have finished what it left; the
rest of the time passes; the job is paused and what runs is let finish; the records are audited. A slow machine gets
`OVERTIME_S` beyond the seconds asked for to finish what was begun, then the demo fails.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import shardsched
from shardsched.demo.audit import Kill, Verdict, audit, is_complete, takeovers
from shardsched.demo.children import Children
from shardsched.demo.closure import link_closure
from shardsched.demo.console import DemoConsole
from shardsched.demo.fleet import JOB
from shardsched.demo.frame import Scene, item_progress, scene_lines, scene_summary, shares, verdict_lines
from shardsched.demo.record import RecordFolder, Records
from shardsched.demo.tally import read_tally
from shardsched.errors import ExecutionError

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.demo.fleet import DemoFleet
    from shardsched.demo.record import RunRecord
    from shardsched.demo.screen import Screen
    from shardsched.demo.tally import Tally

EXECUTORS = ("e1", "e2", "e3")
ITEM_COUNT = 6
"""As `examples.pydoc_crawl` says."""
SESSION_TIMEOUT_S = 4.0
"""Short, so that a take-over is seen soon; 10 s is the default of `shardsched run`."""
OVERTIME_S = 60.0
"""What a slow machine gets beyond the seconds asked for."""
TAKEOVER_LIMIT_S = SESSION_TIMEOUT_S + 16.0
"""A take-over that takes longer is a fault even on a busy machine; T + 1 s is promised on one that is not."""
_TICK_S = 0.25
_JOIN_LIMIT_S = 60.0
_HISTORY_LIMIT_S = 15.0
"""How long the last runs may take to reach the history on a busy machine."""
_MIDDLE = (0.15, 0.7)
"""Shares of its pages between which an item is in the middle of its run."""


_OF_OTHER_FLEETS = ("SHARDSCHED_", "CONSOLE_", "SECRET_KEY", "TRUSTED_PROXIES")
"""Beginnings of variables that are not meant for the demo."""


def _environment() -> dict[str, str]:
    """Return an environment in which children find the same packages as this process, wherever they are started."""
    home = str(Path(shardsched.__file__).resolve().parents[1])
    others = os.environ.get("PYTHONPATH")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(_OF_OTHER_FLEETS)}
    return ours | {"PYTHONPATH": os.pathsep.join([home, others] if others else [home])}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSettings:
    """What the demo is told."""

    seconds: float
    """How long it takes in all, as far as the machine can."""
    registry: str
    """URL of the registry."""
    namespace: str
    """The demo's own namespace."""
    folder: Path
    """Where everything is written."""
    history: str
    """URL of the history database."""
    has_console: bool = True
    """Whether the console is started too."""
    delay_s: float = 0.1
    """Pause of the crawl between two pages."""


class Demo:
    """One performance. **Thread:** one."""

    def __init__(self, settings: DemoSettings, fleet: DemoFleet, screen: Screen, clock: Clock) -> None:
        self._settings = settings
        self._fleet = fleet
        self._screen = screen
        self._clock = clock
        self._children = Children(settings.folder, clock)
        self._console = DemoConsole(self._children)
        self._folder = RecordFolder(settings.folder / "results")
        self._tick = threading.Event()
        self._site: frozenset[str] = frozenset()
        self._pids: dict[str, int] = {}
        self._kill: Kill | None = None
        self._is_moved = False
        self._began_at = clock.boot()

    def run(self) -> Verdict:
        """Give the performance and return the verdict; no process is left when it returns or raises.

        Raises:
            ExecutionError: A process does not start, or not enough happens in time.
        """
        try:
            self._open_site()
            self._start_executors()
            self._play()
            self._close()
            return self._judge()
        finally:
            self._children.stop_all(grace_s=15.0)

    def _elapsed_s(self) -> float:
        return self._clock.boot() - self._began_at

    def _open_site(self) -> None:
        command = [sys.executable, "-m", "examples.pydoc_site"]
        self._children.start("site", command, _environment(), pipe=True)
        home = self._children.first_line("site", 30.0)
        self._screen.say(f"site       {home}: pydoc's pages of the standard library")
        self._site = link_closure(home, lambda count: self._screen.draw([f"  {count} pages"], "measuring the site"))
        self._screen.say(f"measured   {len(self._site)} pages, by following every link")
        self._home = home

    def _start_executors(self) -> None:
        results = self._settings.folder / "results"
        results.mkdir()
        env = _environment() | {
            "PYDOC_SITE": self._home,
            "PYDOC_RESULTS": str(results),
            "PYDOC_DELAY_S": str(self._settings.delay_s),
            "SHARDSCHED_REGISTRY": self._settings.registry,
            "SHARDSCHED_NAMESPACE": self._settings.namespace,
            "SHARDSCHED_HISTORY": self._settings.history,
            "XDG_STATE_HOME": str(self._settings.folder / "state"),
        }
        for name in EXECUTORS:
            command = [sys.executable, "-m", "shardsched", "run", "examples.pydoc_crawl", "--name", name]
            command += ["--session-timeout", f"{SESSION_TIMEOUT_S:g}", "--grace", "5"]
            self._pids[name] = self._children.start(name, command, env)
        deadline = self._clock.boot() + _JOIN_LIMIT_S
        while not set(EXECUTORS) <= self._fleet.executors():
            dead = [name for name in EXECUTORS if not self._children.is_alive(name)]
            if dead or self._clock.boot() > deadline:
                name = dead[0] if dead else EXECUTORS[0]
                raise ExecutionError(f"executor {name} does not join; it says: {self._children.last_words(name)}")
            self._tick.wait(_TICK_S)
        pids = ", ".join(f"{name} pid {pid}" for name, pid in self._pids.items())
        self._screen.say(f"executors  {pids}, on {self._settings.registry.partition('://')[0]}")
        if self._settings.has_console:
            self._console.start(env)

    def _play(self) -> None:
        """Let fires run; kill one executor in the middle; go on until time is up and what it left is finished."""
        while True:
            records = self._look()
            if self._kill is None:
                self._kill_one(records)
            elif not self._is_moved:
                self._tell_moved(records, self._kill)
            elif self._elapsed_s() >= self._settings.seconds and self._is_taken_over(records):
                return
            self._check_overtime()
            self._tick.wait(_TICK_S)

    def _look(self) -> Records:
        records = self._folder.read()
        if news := self._console.news():
            self._screen.say(news)
        scene = Scene(
            elapsed_s=self._elapsed_s(),
            items=item_progress(records, ITEM_COUNT),
            page_count=len(self._site),
            executors=self._pids,
            leader=self._fleet.leader(),
            killed=frozenset({self._kill.executor} if self._kill else ()),
            shares=shares(records),
            door=self._console.door,
        )
        self._screen.draw(scene_lines(scene), scene_summary(scene))
        for name in self._pids:
            if name not in scene.killed and not self._children.is_alive(name):
                raise ExecutionError(f"executor {name} ended by itself; it says: {self._children.last_words(name)}")
        return records

    def _check_overtime(self) -> None:
        if self._elapsed_s() > self._settings.seconds + OVERTIME_S:
            what = "no executor was in the middle of its items" if self._kill is None else "its items are not finished"
            raise ExecutionError(f"the demo ran out of time: {what}; try again with more --seconds")

    def _kill_one(self, records: Records) -> None:
        victim = self._victim(records)
        if victim is None:
            return
        name, runs = victim
        self._children.kill(name)
        self._kill = Kill(
            executor=name,
            at=self._clock.now(),
            run_ids=tuple(run.run_id for run in runs),
            limit_s=TAKEOVER_LIMIT_S,
        )
        items = ", ".join(str(run.item) for run in runs)
        self._screen.say(
            f"killed     {name} (kill -9, pid {self._pids[name]}) while it crawls items {items}; its session ends "
            f"within {SESSION_TIMEOUT_S:g} s"
        )

    def _tell_moved(self, records: Records, kill: Kill) -> None:
        found = takeovers(records, kill)
        if len(found) == len(kill.run_ids):
            self._is_moved = True
            moved = ", ".join(f"item {one.item} to {one.by} after {one.after_s:.1f} s" for one in found)
            self._screen.say(f"moved      {moved}; they go on behind the last page written")

    def _victim(self, records: Records) -> tuple[str, list[RunRecord]] | None:
        """Return an executor whose items are all in the middle of one fire, rather not the leader."""
        fires = sorted({run.fire for run in records.runs})
        if not fires or (len(fires) < 2 and self._settings.seconds >= 50.0):
            return None
        leader = self._fleet.leader()
        progress = item_progress(records, ITEM_COUNT)
        share = len(self._site) / ITEM_COUNT
        for name in sorted(EXECUTORS, key=lambda name: (name == leader, name)):
            mine = [one for one in progress if one.run and one.run.executor == name and one.run.ended_at is None]
            shown = [one.crawled / share for one in mine]
            if shown and min(shown) >= _MIDDLE[0] and max(shown) <= _MIDDLE[1]:
                return name, [one.run for one in mine if one.run]
        return None

    def _is_taken_over(self, records: Records) -> bool:
        kill = self._kill
        return kill is not None and all(
            is_complete(records, run.fire, ITEM_COUNT) for run in records.runs if run.run_id in kill.run_ids
        )

    def _close(self) -> None:
        """Pause the job and let what runs finish."""
        self._screen.say("closing    the job is paused; what runs is let finish")
        self._fleet.pause()
        quiet_since: float | None = None
        while quiet_since is None or self._clock.boot() - quiet_since < 1.0:
            progress = item_progress(self._look(), ITEM_COUNT)
            is_quiet = all(one.run is None or one.run.is_finished for one in progress)
            quiet_since = (quiet_since or self._clock.boot()) if is_quiet else None
            self._check_overtime()
            self._tick.wait(_TICK_S)

    def _judge(self) -> Verdict:
        told = self._tally()
        self._children.stop_all(grace_s=15.0)
        records = self._folder.read()
        verdict = audit(records, self._site, ITEM_COUNT, self._kill)
        verdict = replace(verdict, faults=(*verdict.faults, *told.faults))
        self._screen.say(f"checked    {len(records.pages)} records of pages, {len(records.runs)} of runs")
        agrees = "not what the job wrote" if told.faults else "as the job's own record has it"
        self._screen.say(f"history    {told.words}; {agrees}")
        for line in verdict_lines(verdict, self._kill, len(self._site), SESSION_TIMEOUT_S + 1.0):
            self._screen.say(line)
        return verdict

    def _tally(self) -> Tally:
        """Return what history says, as soon as it is what the job wrote, or when that takes too long."""
        settings, deadline = self._settings, self._clock.boot() + _HISTORY_LIMIT_S
        killed = self._kill.executor if self._kill else None
        while True:
            told = read_tally(settings.history, settings.namespace, JOB, self._folder.read(), killed)
            if not told.faults or self._clock.boot() > deadline:
                return told
            self._tick.wait(_TICK_S)
