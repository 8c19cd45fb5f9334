"""All runs that are in the warden's hands: how each gets its process, is stopped and ends.

The phases of a run are those of `ward`; the warden decides when, this module does it.
"""

from __future__ import annotations

import contextlib
import selectors
import signal
from typing import TYPE_CHECKING, Any

from shardsched.execution.frame import FrameError
from shardsched.execution.oom_counter import OomCounter
from shardsched.execution.outcome import Outcome, Stop, Verdict, judge_unstarted
from shardsched.execution.passage import give_answer, pass_asks
from shardsched.execution.process_tree import MAX_NUMBER, Mark, signal_group
from shardsched.execution.starter import Starter
from shardsched.execution.sweep import (
    close_ward,
    ended,
    is_dead,
    is_own_child,
    kill_leftovers,
    note_report,
    reap_strays,
)
from shardsched.execution.ward import ALIVE, Event, Phase, Ward

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_START_PATIENCE_S = 10.0
"""How long a process may take to greet; a guess, a hundred times what a busy machine needs."""
_MAX_TRY_COUNT = 2
"""A process that ends before it greets is mostly due to a fork server that was killed; the next one will do."""


class Custody:
    """The runs of one warden."""

    def __init__(
        self,
        config: Mapping[str, Any],
        nofile: int,
        selector: selectors.BaseSelector,
        tell: Callable[[Mapping[str, Any]], None],
        refusal: Callable[[str], str | None],
        clock: Callable[[], float],
    ) -> None:
        """Start with no run and no fork server.

        Args:
            config: What the executor said first: ``cookie``, and what `Starter` needs.
            nofile: The limit of open files that items get.
            selector: Where descriptors are watched; the data of a key is to be called when it is ready.
            tell: Sends a message to the executor.
            refusal: Returns why a run of an epoch may not start now, None if it may.
            clock: Returns seconds of the boot clock.
        """
        self._cookie: str = config["cookie"]
        self._selector = selector
        self._tell = tell
        self._refusal = refusal
        self._clock = clock
        self._greeted_at = 0.0
        self._wards: dict[str, Ward] = {}
        self._last_number = 0
        self._oom_counter = OomCounter()
        self._starter = Starter(config, nofile, watch=self._watch_starter, forget=self._forget)

    @property
    def has_unsent(self) -> bool:
        """Whether an item has not taken its order yet."""
        return any(ward.channel is not None and ward.channel.has_unsent for ward in self._wards.values())

    def next_moment(self) -> float:
        """Return when `check` must be called, if nothing happens before."""
        now = self._clock()
        moments = [moment for ward in self._wards.values() if (moment := ward.next_moment(now)) > now]
        return min(moments, default=self._starter.ready_by)

    def warm_up(self) -> None:
        """Have the fork server import the modules before the first run needs it."""
        self._starter.warm_up(self._clock())

    def launch(self, order: dict[str, Any]) -> None:
        """Take a run over."""
        self._last_number = self._last_number % MAX_NUMBER + 1
        ward = Ward(order, self._last_number)
        self._wards[ward.run] = ward
        refusal = self._refusal(order["epoch"])
        if refusal is not None:
            self._drop(ward, Verdict(Outcome.REFUSED, refusal))

    def answer(self, message: Mapping[str, Any]) -> None:
        """Give a run, if there is one of that id, the executor's answer to what it asked."""
        if message["run"] in self._wards:
            give_answer(self._wards[message["run"]], message, self._tell)

    def stop(self, run: str, stop: Stop, grace_s: float) -> None:
        """Stop a run, if there is one of that id."""
        if run in self._wards:
            self._stop(self._wards[run], stop, grace_s)

    def stop_all(self, stop: Stop, grace_s: float, *, but_epoch: str | None = None) -> None:
        """Stop all runs, those of one epoch excepted."""
        for ward in list(self._wards.values()):
            if but_epoch is None or ward.order["epoch"] != but_epoch:
                self._stop(ward, stop, grace_s)

    def _stop(self, ward: Ward, stop: Stop, grace_s: float) -> None:
        now = self._clock()
        if ward.stop is None:
            ward.stop = stop
        if ward.phase is Phase.WAITING:
            self._drop(ward, judge_unstarted(ward.stop))
        elif ward.phase is Phase.RUNNING and grace_s > 0:
            signal_group(ward.pid, signal.SIGTERM)
            ward.move(Event.ASKED)
            ward.kill_at = now + grace_s
        elif ward.phase in {Phase.RUNNING, Phase.STOPPING} and grace_s <= 0:
            self._kill(ward)
        elif ward.phase is Phase.STOPPING:
            ward.kill_at = min(ward.kill_at or now, now + grace_s)

    def _kill(self, ward: Ward) -> None:
        signal_group(ward.pid, signal.SIGKILL)
        ward.move(Event.KILLED)
        ward.kill_at = None

    def pump(self) -> None:
        """Hand waiting runs over, in their order, as long as they are taken."""
        now = self._clock()
        for ward in [ward for ward in self._wards.values() if ward.phase is Phase.WAITING]:
            try:
                is_taken = self._starter.hand_over(ward, now)
            except OSError as error:
                self._drop(ward, Verdict(Outcome.START_FAILED, f"no process could be made: {error.strerror}"))
                continue
            if not is_taken:
                ward.close_ends()
                return
            ward.begin(now + _START_PATIENCE_S)
            self._watch_ward(ward)

    def check(self) -> None:
        """Do what the clock asks for."""
        now = self._clock()
        if now >= self._starter.ready_by:
            self._starter.give_up()
        for ward in list(self._wards.values()):
            if ward.deadline is not None and now >= max(ward.deadline, self._greeted_at + _START_PATIENCE_S):
                # The fork server hangs: one that is only slow would have brought others to life meanwhile.
                self._starter.kill()
                self._fall(ward)
            else:
                self._check_run(ward, now)

    def _check_run(self, ward: Ward, now: float) -> None:
        if ward.warn_at is not None and now >= ward.warn_at:
            ward.warn_at = None
            self._tell({"type": "warned", "run": ward.run, "message": f"runs for {now - ward.started_at:.0f} s"})
        if ward.kill_at is not None and now >= ward.kill_at:
            self._kill(ward)
        if ward.timeout_at is not None and now >= ward.timeout_at:
            ward.timeout_at = None
            stop = Stop(Outcome.TIMEOUT, f"took longer than its time-out of {ward.order['timeout']:g} s")
            self._stop(ward, stop, ward.order["grace"])

    def check_deaths(self) -> None:
        """See which processes have died; called after every SIGCHLD and every tick."""
        for ward in self._wards.values():
            if ward.phase in ALIVE and is_dead(ward.pid):
                ward.die(self._clock())
        if self._starter.reap() and self._starter.failure:
            for ward in list(self._wards.values()):
                if ward.phase is Phase.WAITING:
                    self._drop(ward, Verdict(Outcome.START_FAILED, self._starter.failure))
        reap_strays(self._known())

    def sweep(self) -> None:
        """Kill what dead runs left behind, and report those of which nothing is left."""
        for ward in [ward for ward in self._wards.values() if ward.phase is Phase.SWEEPING]:
            ward.sweep_count += 1
            if kill_leftovers(ward, self._cookie, self._known()):
                ward.move(Event.SWEPT)
                self._leave(ward, close_ward(ward, self._oom_counter.has_grown))

    @property
    def is_empty(self) -> bool:
        """Whether no run is left."""
        return not self._wards

    def flush(self) -> None:
        """Send on what items had not taken."""
        for ward in self._wards.values():
            if ward.channel is not None:
                ward.channel.flush()

    def abandon(self) -> None:
        """Kill all groups at once; nobody is told any more."""
        self._starter.kill()
        for ward in self._wards.values():
            if ward.pid:
                signal_group(ward.pid, signal.SIGKILL)

    def close_logs(self) -> None:
        """Complete the logs of runs that were abandoned."""
        for ward in self._wards.values():
            ward.close_log()

    def _known(self) -> set[int]:
        return {ward.pid for ward in self._wards.values()} | {self._starter.pid}

    def _drop(self, ward: Ward, verdict: Verdict) -> None:
        """End a run of which no user code ran."""
        ward.move(Event.DROPPED)
        self._leave(ward, ended(ward, verdict))

    def _leave(self, ward: Ward, report: Mapping[str, Any]) -> None:
        self._close_ends(ward)
        del self._wards[ward.run]
        self._tell(report)

    def _watch_starter(self, channel: Any) -> None:
        self._selector.register(channel, selectors.EVENT_READ, self._on_starter)

    def _watch_ward(self, ward: Ward) -> None:
        for watched, callback in ((ward.channel, self._on_item), (ward.output_fd, self._on_output)):
            if watched is not None:
                self._selector.register(watched, selectors.EVENT_READ, lambda callback=callback: callback(ward))

    def _forget(self, watched: Any) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(watched)

    def _close_ends(self, ward: Ward) -> None:
        for watched in (ward.channel, ward.output_fd):
            if watched is not None:
                # A closed descriptor's number is soon another's, so the selector must let go of it first.
                self._forget(watched)
        ward.close_ends()

    def _on_starter(self) -> None:
        ready = self._starter.receive()
        if ready is not None:
            self._tell(ready)

    def _on_output(self, ward: Ward) -> None:
        if ward.output_fd is not None and not ward.read_output():
            # Nobody has the other end any more; the closed pipe would wake the selector for ever.
            self._forget(ward.output_fd)

    def _on_item(self, ward: Ward) -> None:
        channel = ward.channel
        if channel is None:
            return
        try:
            messages = channel.receive()
        except FrameError:
            messages, channel.is_open = [], False
        if messages and ward.phase is Phase.STARTING and messages[0].get("type") == "hello":
            self._greet(ward, int(messages[0]["pid"]))
        note_report(ward, messages)
        pass_asks(ward, messages, self._tell)
        if not channel.is_open:
            self._forget(channel)
            channel.close()
            if ward.phase is Phase.STARTING:
                self._fall(ward)

    def _greet(self, ward: Ward, pid: int) -> None:
        # Dead and collected already, if it is no child: the closed stream will tell.
        if not is_own_child(pid) or ward.channel is None:
            return
        self._greeted_at = self._clock()
        ward.pid, ward.deadline = pid, None
        ward.move(Event.GREETED)
        refusal = self._refusal(ward.order["epoch"])
        if ward.stop is None and refusal is not None:
            ward.stop = Stop(Outcome.REFUSED, refusal)
        if ward.stop is not None:
            ward.stop = Stop(*judge_unstarted(ward.stop)[:2])
            self._kill(ward)
            return
        ward.go(Mark(self._cookie, ward.number), self._clock())
        self._tell({"type": "started", "run": ward.run, "pid": pid})

    def _fall(self, ward: Ward) -> None:
        """Try a run again, or end it, whose process ended before it greeted."""
        self._close_ends(ward)
        ward.deadline = None
        if ward.stop is not None:
            self._drop(ward, judge_unstarted(ward.stop))
        elif ward.report is None and ward.try_count < _MAX_TRY_COUNT:
            ward.move(Event.FELL)
        else:
            message = "its process ended before it could start; the log of the executor may say why"
            self._drop(ward, Verdict(Outcome.START_FAILED, str((ward.report or {}).get("message", message))))
