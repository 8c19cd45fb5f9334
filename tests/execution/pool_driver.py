"""An executor's process for tests that freeze or kill it: owns a pool and keeps its lease.

``python -m tests.execution.pool_driver FOLDER COOKIE LEASE_S HANDLER…`` launches the handlers, and writes to
``FOLDER/driver.json`` the process ids of the warden and the items once all have begun.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from shardsched.clock import SYSTEM_CLOCK
from shardsched.execution.pool import ProcessPool, RunStarted
from tests.execution.pool_harness import EPOCH, JOBS, ROOT, spec
from tests.waiting import Recorder

BEAT_S = 0.1


def main(folder: Path, executor: str, lease_s: float, handlers: list[str]) -> None:
    """Run items until somebody ends this process."""
    events: Recorder[object] = Recorder()
    pool = ProcessPool(
        executor=executor, modules=[JOBS], import_paths=[str(ROOT)], log_dir=folder / "logs", on_event=events
    )
    pool.start()
    never = threading.Event()

    def confirm() -> None:
        now = SYSTEM_CLOCK.boot()
        pool.set_lease(EPOCH, now + lease_s, now + lease_s * 0.8)

    def beat() -> None:
        while not never.wait(BEAT_S):
            confirm()

    now = SYSTEM_CLOCK.boot()
    pool.set_lease(EPOCH, now + 60, now + 60)
    for number, handler in enumerate(handlers):
        pool.launch(spec(handler, f"run{number}", folder), EPOCH)
    events.wait_for(lambda values: sum(isinstance(e, RunStarted) for e in values) == len(handlers), 60)
    confirm()
    threading.Thread(target=beat, daemon=True).start()
    pids = {event.run_id: event.pid for event in events.values if isinstance(event, RunStarted)}
    (folder / "driver.tmp").write_text(json.dumps({"warden": pool.warden_pid, "items": pids}))
    (folder / "driver.tmp").rename(folder / "driver.json")
    never.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4:])
