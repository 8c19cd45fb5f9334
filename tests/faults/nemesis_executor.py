"""Faults of executors and of the processes below them."""

from __future__ import annotations

import os
import signal
from functools import partial
from typing import TYPE_CHECKING

from tests.faults.fault import Fault, anyone, briefly, longer, struck, the_leader
from tests.faults.log_tail import SaveTail
from tests.faults.site import GRACE_S, boot_s
from tests.faults.strike import Kind, Strike
from tests.fleet.fleet_harness import wait_until

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.faults.site import Site


def _end(site: Site, name: str) -> None:
    site.ended.add(name)
    site.executor(name).kill()


def _a_saver(site: Site, _rng: random.Random) -> str:
    """Return an executor at the moment at which an item of it saves its checkpoint."""
    tail = SaveTail(site.fleet.record)
    return str(wait_until(lambda: next(iter(tail.states().saving.values()), ""), "an item to save its checkpoint"))


def _kill(fault: str, choose: Callable[[Site, random.Random], str], site: Site, rng: random.Random) -> Strike:
    name = choose(site, rng)
    strike = struck(fault, Kind.KILLED, [name])
    _end(site, name)
    site.set_unable([name])
    return strike


def _kill_with_warden(fault: str, site: Site, rng: random.Random) -> Strike:
    name = anyone(site, rng)
    warden = site.warden(name)
    strike = struck(fault, Kind.KILLED, [name])
    # The warden first, or it would do its duty; the executor cannot tell anybody in between.
    os.kill(warden, signal.SIGKILL)
    _end(site, name)
    site.set_unable([name])
    return strike


def _kill_and_restart(fault: str, site: Site, rng: random.Random) -> Strike:
    name = anyone(site, rng)
    strike = struck(fault, Kind.KILLED, [name])
    _end(site, name)
    site.start(name)
    site.changed_at = boot_s()
    return strike


def _start(site: Site, strike: Strike) -> None:
    for name in strike.victims:
        site.start(name)
    site.set_able(strike.victims)


def _stop(fault: str, choose: Callable[[Site, random.Random], str], site: Site, rng: random.Random) -> Strike:
    name = choose(site, rng)
    strike = struck(fault, Kind.ASKED, [name])
    site.ended.add(name)
    site.set_unable([name])
    code = site.executor(name).stop(GRACE_S + 15.0)
    assert code == 0, f"{name} ended with exit code {code} at SIGTERM"
    site.set_unable([name])
    return strike


def _freeze(fault: str, choose: Callable[[Site, random.Random], str], site: Site, rng: random.Random) -> Strike:
    name = choose(site, rng)
    site.executor(name).freeze()
    site.set_unable([name])
    return struck(fault, Kind.SILENT, [name])


def _thaw(site: Site, strike: Strike) -> None:
    for name in strike.victims:
        site.executor(name).thaw()
    site.set_able(strike.victims)


def _signal_below(
    fault: str, find: Callable[[Site, str], int], number: signal.Signals, kind: Kind, site: Site, rng: random.Random
) -> Strike:
    name = anyone(site, rng)
    pid = find(site, name)
    strike = struck(fault, kind, [name])
    os.kill(pid, number)
    return strike


def _nothing(_site: Site, _strike: Strike) -> None:
    """Whatever it was heals by itself."""


def _warden(site: Site, name: str) -> int:
    return site.warden(name)


def _fork_server(site: Site, name: str) -> int:
    return site.fork_server(name)


def _killed(name: str, choose: Callable[[Site, random.Random], str], promise: str) -> Fault:
    return Fault(name=name, promise=promise, begin=partial(_kill, name, choose), heal=_start, hold_s=longer)


def _frozen(
    name: str,
    choose: Callable[[Site, random.Random], str],
    hold_s: Callable[[float], float],
    promise: str,
) -> Fault:
    return Fault(name=name, promise=promise, begin=partial(_freeze, name, choose), heal=_thaw, hold_s=hold_s)


def _stopped(name: str, choose: Callable[[Site, random.Random], str], promise: str) -> Fault:
    return Fault(name=name, promise=promise, begin=partial(_stop, name, choose), heal=_start, hold_s=briefly)


def _below(name: str, find: Callable[[Site, str], int], number: signal.Signals, kind: Kind, promise: str) -> Fault:
    return Fault(
        name=name,
        promise=promise,
        begin=partial(_signal_below, name, find, number, kind),
        heal=_nothing,
        hold_s=lambda _: 4.0,
    )


_DEAD_FIRST = "its items are dead before anyone else starts them; it rejoins by itself"
_ELSEWHERE = "unfinished items run elsewhere within T + 1 s; finished ones never again"

EXECUTOR_FAULTS = (
    _killed("executor-killed", anyone, _ELSEWHERE),
    _killed("leader-killed", the_leader, f"{_ELSEWHERE}; a new leader within T + 1 s"),
    Fault(
        name="executor-killed-and-restarted",
        promise="the new process takes the name over at once; unfinished items run again",
        begin=partial(_kill_and_restart, "executor-killed-and-restarted"),
        heal=_nothing,
        hold_s=briefly,
    ),
    Fault(
        name="executor-and-warden-killed",
        promise=f"the items die with the warden; {_ELSEWHERE}",
        begin=partial(_kill_with_warden, "executor-and-warden-killed"),
        heal=_start,
        hold_s=longer,
    ),
    _killed(
        "checkpoint-torn", _a_saver, "killed in a save, its item goes on from that one or from the last acknowledged"
    ),
    _stopped("executor-stopped", anyone, "items finish within the grace or go on elsewhere at once; exit code 0"),
    _stopped("leader-stopped", the_leader, "the same; another leads at once"),
    _frozen("executor-frozen", anyone, longer, _DEAD_FIRST),
    _frozen("leader-frozen", the_leader, longer, f"{_DEAD_FIRST}; a new leader within T + 1 s"),
    _frozen("executor-frozen-briefly", anyone, briefly, "running items go on, nothing is run again"),
    _below("warden-killed", _warden, signal.SIGKILL, Kind.KILLED, "its items are dead, and are run again"),
    _below("warden-frozen", _warden, signal.SIGSTOP, Kind.TROUBLED, "all dead within 2 s, and run again"),
    _below("fork-server-killed", _fork_server, signal.SIGKILL, Kind.TROUBLED, "running items go on; a new one starts"),
)
"""What may happen to executors."""
