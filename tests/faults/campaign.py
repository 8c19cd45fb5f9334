"""A fleet at work while faults hit it one after the other, and what is to be said of it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from shardsched.admin.document import job_details
from shardsched.clock import SYSTEM_CLOCK
from shardsched.core.cron import parse_cron
from shardsched.errors import ShardschedError
from tests.faults.history_judge import judge
from tests.faults.history_observer import HistoryObserver
from tests.faults.history_verdict import nagging
from tests.faults.log_tail import LogTail, RunTail, SaveTail, Tail
from tests.faults.nemesis import FAULTS
from tests.faults.observer import Observer
from tests.faults.site import NAMES, PATIENCE_S, boot_s, is_alive
from tests.faults.strike import Kind, Strike
from tests.faults.targets import Schedule, losses, strays, targets, unexcused_repeats
from tests.faults.verdict import Ban, Survivor, bans_of, forbidden, outlived, takeovers
from tests.faults.workload import JOBS, LONG_S
from tests.fleet.fleet_harness import let_pass, wait_until
from tests.fleet.fleet_record import RecordedRun, counts, orders, overlaps, tokens

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from tests.faults.fault import Fault
    from tests.faults.site import Site
    from tests.faults.targets import Target

_EDGE = timedelta(seconds=4)
"""Fires this shortly before a pause need not have been started."""
_BUSY_SHARE = 0.7
"""How often a fault waits for long items to run."""
_PAIR_SHARE = 0.3
"""How often a second fault comes on top."""
_FIRST_OF_PAIR = ("executor-killed", "executor-frozen", "warden-killed", "fork-server-killed", "link-stalled")
_SECOND_OF_PAIR = ("zookeeper-leader-killed", "zookeeper-follower-killed", "zookeeper-leader-frozen")
_SLOWEST_TAKEOVER_S = 3.0
"""How long after T a re-run may begin at most."""


@dataclass(slots=True)
class Campaign:
    """One fleet, one seed, any number of faults."""

    site: Site
    rng: random.Random
    strikes: list[Strike] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    """Violations that were met on the way."""
    survivors: list[Survivor] = field(default_factory=list)
    schedules: list[Schedule] = field(default_factory=list)
    begun_at: float = field(default_factory=boot_s)
    _armed: dict[str, datetime] = field(default_factory=dict)
    _record: RunTail = field(init=False)
    _saves: SaveTail = field(init=False)
    _logs: list[LogTail] = field(default_factory=list)
    observer: Observer = field(init=False)
    history: HistoryObserver = field(init=False)

    def __post_init__(self) -> None:
        self._record = RunTail(self.site.fleet.record)
        self._saves = SaveTail(self.site.fleet.record)
        self._logs = [LogTail(Tail(self.site.log(name))) for name in NAMES]
        self.observer = Observer(self.site)
        self.history = HistoryObserver(self.site.archive.url)

    # The course of it

    def open(self) -> None:
        """Start the fleet and its jobs."""
        self.site.start_all()
        for name, settings in JOBS.items():
            self.site.fleet.create(name, **settings)  # type: ignore[arg-type]  # the settings are of mixed types
            self._armed[name] = self._armed_at(name)
        self._settle("start", boot_s())
        self.observer.start()
        self.history.start()

    def available(self) -> list[str]:
        """Return the names of the faults that can be made here."""
        return [name for name, fault in FAULTS.items() if not fault.missing(self.site)]

    def deck(self, names: Sequence[str] = ()) -> Iterator[str]:
        """Give names of faults for ever, each once before any comes again."""
        while True:
            some = list(names or self.available())
            self.rng.shuffle(some)
            yield from some

    def endure(self, name: str) -> bool:
        """Go through one fault; return whether nothing new was found wrong."""
        before = len(self.found)
        fault = FAULTS[name]
        if self.rng.random() < _BUSY_SHARE:
            self._await_work()
        else:
            let_pass(self.rng.uniform(0.0, 2.0))
        strike = self._begin(fault)
        if strike is None:
            return False
        pair = name in _FIRST_OF_PAIR and self.rng.random() < _PAIR_SHARE
        second = self._begin(FAULTS[self.rng.choice(_SECOND_OF_PAIR)]) if pair else None
        if second is not None:
            strike.is_alone = second.is_alone = False
        self._hold(fault, strike)
        self._heal(fault, strike)
        if second is not None:
            self._heal(FAULTS[second.fault], second)
        since = max(one.healed_at for one in (strike, second) if one is not None)
        self._settle(name, since, *(one for one in (strike, second) if one is not None))
        self._look_through()
        return len(self.found) == before

    def close(self) -> None:
        """Let the last fires come, pause all jobs, and judge the whole."""
        let_pass(6.0)
        self._wait_for(self._is_caught_up, "all items to be at their latest fires")
        paused_at = SYSTEM_CLOCK.now()
        for name in JOBS:
            self.site.fleet.admin.jobs.pause(name)
            self._shut(name, paused_at)
        self._wait_for(self._is_idle, "all items to end")
        self.observer.stop()
        self._look_through()
        for line in (
            *losses(self.targets()),
            *strays(self.schedules, self.runs()),
            *judge(self.history, self.runs(), self.strikes, self.site.t_s),
        ):
            self._find(line)

    def _wait_for(self, condition: Callable[[], bool], what: str) -> None:
        try:
            wait_until(condition, what, PATIENCE_S)
        except AssertionError as error:
            self._find(f"{error}: {[run.run for run in self.runs() if run.end is None][-5:]}")

    def stop_looking(self) -> None:
        """Have nothing more looked at, whatever came of it."""
        self.observer.stop()
        self.history.stop()

    def runs(self) -> list[RecordedRun]:
        """Return all recorded runs so far."""
        return self._record.runs()

    def targets(self) -> list[Target]:
        """Return what was due and what became of it, once the campaign is closed."""
        missed = [one for log in self._logs for one in log.missed]
        return targets(self.schedules, self.runs(), missed)

    def loads(self) -> int:
        """Return how often an item loaded its checkpoint."""
        return len(self._saves.states().loads)

    # Faults

    def _begin(self, fault: Fault) -> Strike | None:
        try:
            strike = fault.begin(self.site, self.rng)
        except (AssertionError, OSError, ShardschedError) as error:
            self._find(f"{fault.name} could not be begun: {error}")
            for name in NAMES:
                self.site.set_able([name])
            return None
        self.strikes.append(strike)
        self.tell(f"{fault.name} hits {' '.join(strike.victims)}")
        if fault.name == "job-paused":
            self._shut("pausable", SYSTEM_CLOCK.now())
        return strike

    def _hold(self, fault: Fault, strike: Strike) -> None:
        hold_s = fault.hold_s(self.site.t_s)
        dead_at = strike.begun_at + self.site.t_s
        left_s = dead_at + 0.02 - boot_s()
        if strike.kind is Kind.SILENT and left_s < hold_s:
            let_pass(max(left_s, 0.0))
            self._look_for_survivors(strike, dead_at)
        let_pass(max(strike.begun_at + hold_s - boot_s(), 0.0))

    def _look_for_survivors(self, strike: Strike, dead_at: float) -> None:
        seen_at = boot_s()
        for run in self.runs():
            is_theirs = run.executor in strike.victims and run.end is None and run.start < strike.begun_at
            if is_theirs and is_alive(run.pid, run.start):
                self.survivors.append(Survivor(run=run.run, pid=run.pid, late_s=seen_at - dead_at))
                self._find(f"process {run.pid} of {run.job}/{run.item} lives {seen_at - dead_at:.3f} s after T")

    def _heal(self, fault: Fault, strike: Strike) -> None:
        strike.healing_at = boot_s()
        try:
            fault.heal(self.site, strike)
        except (AssertionError, OSError, ShardschedError, TimeoutError) as error:
            self._find(f"{fault.name} could not be healed: {error}")
            self.site.set_able(strike.victims)
        strike.healed_at = boot_s()
        if fault.name == "job-paused":
            self._armed["pausable"] = self._armed_at("pausable")
        self.tell(f"{fault.name} is healed")

    def _settle(self, what: str, since: float, *strikes: Strike) -> None:
        """Wait until every executor has finished a short item that it began after the fault."""

        def idle_executors() -> set[str]:
            return set(NAMES) - {run.executor for run in self.runs() if run.job == "tick" and run.start > since}

        try:
            wait_until(lambda: not idle_executors(), "", PATIENCE_S)
        except AssertionError:
            self._find(f"after {what} {sorted(idle_executors())} run nothing again for {PATIENCE_S:g} s")
            return
        if any(strike.kind is Kind.BESIDE for strike in strikes):
            late = self.history.await_all(self.runs, since)
            if late:
                self._find(f"after {what} nothing of {late} comes into the history for {PATIENCE_S:g} s")
        for strike in strikes:
            strike.settled_at = boot_s()

    def _await_work(self) -> None:
        """Wait until every executor runs a long item that would outlive its lease."""
        youngest_s = LONG_S - self.site.t_s - 2.0

        def is_busy() -> bool:
            since = boot_s() - max(youngest_s, 2.0)
            return {
                run.executor
                for run in self.runs()[-150:]
                if run.end is None and run.job == "long" and run.start > since
            } >= set(NAMES)

        try:
            wait_until(is_busy, "long items to run", 22.0)
        except AssertionError:
            return

    # Looking

    def bans(self) -> list[Ban]:
        """Return when what must not have started."""
        bans = bans_of(self.strikes)
        for strike in self.strikes:
            since, until = strike.begun_at, strike.healing_at
            if strike.fault == "job-paused":
                bans.append(Ban(what="in which it was paused", since=since, until=until, job="pausable"))
            elif strike.fault.startswith("executor-drained"):
                name = strike.victims[0]
                bans.append(Ban(what="in which it was drained", since=since, until=until, executor=name))
        return bans

    def _look_through(self) -> None:
        runs = self.runs()
        for log in self._logs:
            log.read()
        everything = [
            *overlaps(runs),
            *unexcused_repeats(runs, self.strikes),
            *counts(runs),
            *tokens(runs),
            *orders(runs),
            *outlived(runs, self.strikes, self.site.t_s),
            *forbidden(runs, self.bans()),
            *self._late_takeovers(runs),
            *self._saves.states().faults,
            *self.observer.faults,
            *(error for log in self._logs for error in log.errors),
            *(line for name, log in zip(NAMES, self._logs, strict=True) for line in nagging(name, log.events)),
            *self.site.unexpected_ends(),
        ]
        for line in everything:
            self._find(line)

    def _late_takeovers(self, runs: Sequence[RecordedRun]) -> list[str]:
        limit_s = self.site.t_s + _SLOWEST_TAKEOVER_S
        killed = [strike for strike in self.strikes if strike.kind is Kind.KILLED and strike.is_alone]
        return [
            f"an item was run again {seconds:.2f} s after {fault}"
            for fault, times in takeovers(runs, killed).items()
            for seconds in times
            if seconds > limit_s
        ]

    def _find(self, line: str) -> None:
        if line not in self.found:
            self.found.append(line)
            self.tell(f"VIOLATION {line}")

    def tell(self, line: str) -> None:
        """Add to the story."""
        self.story.append(f"{boot_s() - self.begun_at:8.2f} ({datetime.now(UTC):%H:%M:%S}) {line}")  # noqa: TID251 - for people
        with (self.site.folder / "story.txt").open("a") as file:
            file.write(self.story[-1] + "\n")

    # Schedules

    def _armed_at(self, job: str) -> datetime:
        return datetime.fromisoformat(str(job_details(self.site.fleet.admin.job_status(job))["armed_at"]))

    def _shut(self, job: str, at: datetime) -> None:
        settings = JOBS[job]
        self.schedules.append(
            Schedule(
                job=job,
                cron=str(settings["cron"]),
                items=int(str(settings["items"])),
                armed_at=self._armed[job],
                until=at - _EDGE,
            )
        )

    def _is_caught_up(self) -> bool:
        """Whether no item still runs an earlier fire than its job's latest: a pause would drop what it owes."""
        for name, settings in JOBS.items():
            latest = parse_cron(str(settings["cron"])).latest_fire(SYSTEM_CLOCK.now() - timedelta(seconds=1))
            for cursor in self.site.fleet.cursors(name):
                is_running = cursor["state"] == "running" or cursor["is_running"]
                if is_running and latest and cursor["fire"] and datetime.fromisoformat(cursor["fire"]) < latest:
                    return False
        return True

    def _is_idle(self) -> bool:
        return all(
            cursor["state"] != "running" and not cursor["is_running"]
            for name in JOBS
            for cursor in self.site.fleet.cursors(name)
        )
