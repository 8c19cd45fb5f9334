"""One run as its warden sees it.

A ward begins WAITING for the fork server. Once its descriptors are handed over it is STARTING, and its process greets;
only then is its process id known. Told to go, it is RUNNING. A request to stop makes it STOPPING (SIGTERM was sent,
SIGKILL follows at ``kill_at``) or, where there is no time to ask, KILLING. When its leader is dead it is SWEEPING: the
dead leader is kept as a zombie, so that its process group cannot be anybody else's, while all that it left behind is
killed. When nothing is left it is OVER and its end is reported. A process that ends before it greets never ran user
code, so the run may go back to WAITING and be tried again.
"""

from __future__ import annotations

import os
import socket
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardsched.execution.frame import Channel
from shardsched.execution.log_file import LogFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.execution.outcome import Stop
    from shardsched.execution.process_tree import Mark

_READ_BYTES = 64 * 1024
"""What a pipe holds: one read empties it, and no flood keeps the warden from its other wards."""

_LAST_READ_COUNT = 32
"""All writers are dead by then and a pipe is emptied by one or two; should one live on, it shall not hold us up."""

_SWEEP_WAIT_S = 0.002
_SLOW_SWEEP_WAIT_S = 0.05
_FAST_SWEEP_COUNT = 100
"""After so many passes what is left hangs in the kernel, and there is no hurry any more."""


class Phase(Enum):
    """Where a ward stands."""

    WAITING = auto()
    """Not handed to the fork server yet."""
    STARTING = auto()
    """Handed over; has not greeted."""
    RUNNING = auto()
    """Told to go."""
    STOPPING = auto()
    """Asked to stop."""
    KILLING = auto()
    """Sent SIGKILL; not dead yet."""
    SWEEPING = auto()
    """Dead; what it left behind may not be."""
    OVER = auto()
    """Nothing is left of it."""


class Event(Enum):
    """What happens to a ward."""

    HANDED_OVER = auto()
    """Its descriptors went to a new process."""
    GREETED = auto()
    """Its process is supervised."""
    FELL = auto()
    """Its process ended before it greeted; it may be tried again."""
    ASKED = auto()
    """SIGTERM was sent."""
    KILLED = auto()
    """SIGKILL was sent."""
    DIED = auto()
    """Its leader is dead."""
    SWEPT = auto()
    """Nothing of it is left."""
    DROPPED = auto()
    """It will not be started."""


TRANSITIONS: Mapping[tuple[Phase, Event], Phase] = {
    (Phase.WAITING, Event.HANDED_OVER): Phase.STARTING,
    (Phase.WAITING, Event.DROPPED): Phase.OVER,
    (Phase.STARTING, Event.GREETED): Phase.RUNNING,
    (Phase.STARTING, Event.FELL): Phase.WAITING,
    (Phase.STARTING, Event.DROPPED): Phase.OVER,
    (Phase.RUNNING, Event.ASKED): Phase.STOPPING,
    (Phase.RUNNING, Event.KILLED): Phase.KILLING,
    (Phase.RUNNING, Event.DIED): Phase.SWEEPING,
    (Phase.STOPPING, Event.KILLED): Phase.KILLING,
    (Phase.STOPPING, Event.DIED): Phase.SWEEPING,
    (Phase.KILLING, Event.DIED): Phase.SWEEPING,
    (Phase.SWEEPING, Event.SWEPT): Phase.OVER,
}
"""Every pair that is missing is a fault of the warden."""

ALIVE = frozenset({Phase.RUNNING, Phase.STOPPING, Phase.KILLING})
"""Phases in which the leader may be alive and its process id is known."""


def next_phase(phase: Phase, event: Event) -> Phase:
    """Return the phase after an event.

    Raises:
        ValueError: The event cannot happen in that phase.
    """
    try:
        return TRANSITIONS[phase, event]
    except KeyError:
        message = f"a run that is {phase.name} cannot be {event.name}"
        raise ValueError(message) from None


class Ward:
    """One run: its order, its process and its descriptors.

    Attributes:
        order: The executor's order, as it came.
        run: The run's id.
        number: Number of its mark, unique in the life of the warden.
        phase: Where it stands.
        stop: Why it was asked to stop, None if it was not.
        pid: Its leader, 0 before it greeted.
        try_count: How often it was handed over.
        started_at: When it was told to go.
        died_at: When its leader was seen dead.
        deadline: By when it must have greeted.
        timeout_at: When it is stopped for taking too long; None for never.
        warn_at: When it is reported for taking long; None for never, or when it was.
        kill_at: When SIGKILL follows SIGTERM; None before.
        sweep_count: How often its leftovers were looked for.
        report: What its process said of its end.
        is_asking: Whether the executor has not answered yet what its process asked.
        next_ask: What its process asked meanwhile, to be passed on then.
        channel: Our end of the stream to its process.
        output_fd: Our end of its output.
    """

    def __init__(self, order: Mapping[str, Any], number: int) -> None:
        self.order = order
        self.run: str = order["run"]
        self.number = number
        self.phase = Phase.WAITING
        self.stop: Stop | None = None
        self.pid = 0
        self.try_count = 0
        self.started_at = 0.0
        self.died_at = 0.0
        self.deadline: float | None = None
        self.timeout_at: float | None = None
        self.warn_at: float | None = None
        self.kill_at: float | None = None
        self.sweep_count = 0
        self.report: dict[str, Any] | None = None
        self.is_asking = False
        self.next_ask: dict[str, Any] | None = None
        self.channel: Channel | None = None
        self.output_fd: int | None = None
        self._log = LogFile(Path(order["log"]), order["cap"])
        self.log_path: str = order["log"] if self._log.is_written else ""

    def move(self, event: Event) -> None:
        """Go to the next phase.

        Raises:
            ValueError: The event cannot happen now.
        """
        self.phase = next_phase(self.phase, event)

    def begin(self, deadline: float) -> None:
        """Note that its descriptors were handed over, and by when its process must greet."""
        self.move(Event.HANDED_OVER)
        self.try_count += 1
        self.deadline = deadline

    def die(self, now: float) -> None:
        """Note that its leader is dead; the clock asks nothing more of it."""
        self.move(Event.DIED)
        self.died_at = now
        self.kill_at = self.timeout_at = self.warn_at = None

    def go(self, mark: Mark, now: float) -> None:
        """Let its process run the handler; its time counts from now."""
        timeout_s, warn_after_s = self.order["timeout"], self.order["warn_after"]
        self.started_at = now
        self.timeout_at = None if timeout_s is None else now + timeout_s
        self.warn_at = None if warn_after_s is None else now + warn_after_s
        if self.channel is not None:
            order = {"handler": self.order["handler"], "context": self.order["context"]}
            self.channel.send({"type": "go", "mark": mark} | order)

    def open_ends(self) -> tuple[socket.socket, int]:
        """Make its descriptors and return those for its process: the channel and the output."""
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        self.output_fd, write_fd = os.pipe()
        os.set_blocking(self.output_fd, False)
        return theirs, write_fd

    def close_ends(self) -> None:
        """Close our descriptors."""
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        if self.output_fd is not None:
            os.close(self.output_fd)
            self.output_fd = None

    def read_output(self) -> bool:
        """Move output to the log once; return whether more may come at once."""
        if self.output_fd is None:
            return False
        try:
            data = os.read(self.output_fd, _READ_BYTES)
        except BlockingIOError:
            return False
        self._log.write(data)
        return bool(data)

    def close_log(self) -> int:
        """Read what output is left, complete the log and return how many bytes it had no room for."""
        for _ in range(_LAST_READ_COUNT):
            if not self.read_output():
                break
        return self._log.close()

    def next_moment(self, now: float) -> float:
        """Return when something is to be done about it, if nothing happens before."""
        if self.phase is Phase.SWEEPING:
            return now + (_SWEEP_WAIT_S if self.sweep_count < _FAST_SWEEP_COUNT else _SLOW_SWEEP_WAIT_S)
        moments = (self.deadline, self.timeout_at, self.warn_at, self.kill_at)
        return min((moment for moment in moments if moment is not None), default=float("inf"))
