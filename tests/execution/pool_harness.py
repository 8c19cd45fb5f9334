"""A process pool under test, and ways to see what became of its processes."""

from __future__ import annotations

import itertools
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardsched.clock import SYSTEM_CLOCK
from shardsched.execution.pool import PoolReady, ProcessPool, RunAsked, RunEnded, RunSpec, RunStarted
from shardsched.execution.process_tree import all_processes, is_marked, stat_of
from tests.waiting import Recorder, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shardsched.execution.pool import PoolEvent

JOBS = "tests.execution.item_jobs"
EPOCH = "session-1"
ROOT = Path(__file__).resolve().parents[2]


def is_alive(pid: int) -> bool:
    """Say whether a process exists and is not only waiting to be collected."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def all_dead(pids: Sequence[int]) -> bool:
    """Say whether none of the processes is alive."""
    return not any(is_alive(pid) for pid in pids)


def marked_pids(cookie: str) -> list[int]:
    """Return the living processes that carry an executor's mark."""
    return [pid for pid in all_processes() if is_marked(pid, cookie) and is_alive(pid)]


def noted_pids(folder: Path, run_id: str = "*") -> list[int]:
    """Return the process ids that handlers noted in a folder."""
    return [int(path.suffix[1:]) for path in folder.glob(f"{run_id}.*") if path.suffix[1:].isdigit()]


def spec(
    handler: str, run_id: str, notes: Path | str = "", param: str = "", task: Any = None, **settings: Any
) -> RunSpec:
    """Return what to run."""
    context = {
        "job": handler,
        "item": 0,
        "items": 1,
        "run_id": run_id,
        "job_param": str(notes),
        "param": param,
        "fire_time": "2026-01-01T00:00:00+00:00",
    } | ({} if task is None else {"task": task})
    return RunSpec(run_id=run_id, job=handler, item=0, items=1, handler=handler, context=context, **settings)


class PoolUnderTest:
    """A pool with the test's handlers, and all that it told."""

    def __init__(
        self,
        folder: Path,
        modules: Sequence[str] = (JOBS,),
        import_paths: Sequence[str] = (),
        answer: Callable[[str, Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> None:
        self._answer = answer
        self.notes = folder / "notes"
        self.notes.mkdir(parents=True, exist_ok=True)
        self.events: Recorder[PoolEvent] = Recorder()
        self.pool = ProcessPool(
            executor=f"test {uuid.uuid4().hex}",
            modules=modules,
            import_paths=[str(ROOT), *import_paths],
            log_dir=folder / "logs",
            on_event=self._hear,
        )
        self._numbers = itertools.count(1)

    def _hear(self, event: PoolEvent) -> None:
        self.events(event)
        if isinstance(event, RunAsked) and self._answer is not None:
            answer = self._answer(event.run_id, event.request)
            self.pool.answer(event.run_id, {"number": event.request["number"], **answer})

    def start(self, lease_s: float = 600.0) -> None:
        """Start it under a lease."""
        self.pool.start()
        self.lease(lease_s)

    def lease(self, until_s: float, soft_s: float | None = None, epoch: str = EPOCH) -> float:
        """Give a lease that ends so many seconds from now; return its end."""
        now = SYSTEM_CLOCK.boot()
        self.pool.set_lease(epoch, now + until_s, now + (until_s if soft_s is None else soft_s))
        return now + until_s

    def launch(self, handler: str, param: str = "", epoch: str = EPOCH, **settings: Any) -> str:
        """Launch a handler and return the run's id."""
        run_id = f"run{next(self._numbers)}"
        self.pool.launch(spec(handler, run_id, self.notes, param, **settings), epoch)
        return run_id

    def started(self, run_id: str) -> RunStarted:
        """Wait until a run has begun."""
        self.events.wait_for(lambda events: any(isinstance(e, RunStarted) and e.run_id == run_id for e in events))
        return next(e for e in self.events.values if isinstance(e, RunStarted) and e.run_id == run_id)

    def ended(self, run_id: str, timeout_s: float = 20.0) -> RunEnded:
        """Wait until a run is over; it must be over only once."""
        self.events.wait_for(
            lambda events: any(isinstance(e, RunEnded) and e.run_id == run_id for e in events), timeout_s
        )
        (end,) = [e for e in self.events.values if isinstance(e, RunEnded) and e.run_id == run_id]
        return end

    def ready(self) -> PoolReady:
        """Wait until the fork server is ready, and return the last such event."""
        self.events.wait_for(lambda events: any(isinstance(e, PoolReady) for e in events), 60)
        return [e for e in self.events.values if isinstance(e, PoolReady)][-1]

    def run(self, handler: str, param: str = "", **settings: Any) -> RunEnded:
        """Launch a handler and wait for its end."""
        return self.ended(self.launch(handler, param, **settings))

    def pids(self, run_id: str, count: int = 1) -> list[int]:
        """Wait until a run has noted so many process ids."""
        return eventually(lambda: pids if len(pids := noted_pids(self.notes, run_id)) >= count else [])

    def log(self, end: RunEnded) -> str:
        """Return the output of a run."""
        return Path(end.log_path).read_text()

    def fork_server_pid(self) -> int:
        """Return the process id of the fork server, 0 if there is none."""
        warden = self.pool.warden_pid
        for pid in all_processes():
            # Items are forked from it and look like it, but carry marks of their own.
            stat = stat_of(pid)
            if stat is not None and stat.parent == warden and is_marked(pid, self.pool.cookie, 0) and is_alive(pid):
                return pid
        return 0


def stopwatch() -> float:
    """Return seconds for measuring spans."""
    return time.monotonic()
