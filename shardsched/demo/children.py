"""The processes that the demo starts, each ended by its own process id."""

from __future__ import annotations

import contextlib
import select
import signal
import subprocess
from typing import IO, TYPE_CHECKING

from shardsched.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from shardsched.clock import Clock


class Children:
    """Child processes by name. A folder is their working directory, and what they say goes to a file each in it.

    **Thread:** one.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def start(self, name: str, command: Sequence[str], env: Mapping[str, str], *, pipe: bool = False) -> int:
        """Start one in a session of its own, so that a Ctrl-C reaches the demo alone, and return its process id."""
        with (self._folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                list(command),
                cwd=self._folder,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipe else log,
                stderr=log,
                start_new_session=True,
                text=True,
            )
        self._processes[name] = process
        return process.pid

    def first_line(self, name: str, timeout_s: float) -> str:
        """Return the first line that a child says.

        Raises:
            ExecutionError: It says none in time.
        """
        output: IO[str] | None = self._processes[name].stdout
        if output is not None and select.select([output], [], [], timeout_s)[0]:
            line = output.readline().strip()
            if line:
                return line
        raise ExecutionError(f"process {name!r} does not start; it says: {self.last_words(name)}")

    def is_alive(self, name: str) -> bool:
        """Whether a child still runs."""
        return self._processes[name].poll() is None

    def log(self, name: str) -> str:
        """Return a child's file."""
        return (self._folder / f"{name}.log").read_text(errors="replace")

    def last_words(self, name: str) -> str:
        """Return the last line of a child's file."""
        lines = self.log(name).strip().splitlines()
        return lines[-1] if lines else "nothing"

    def kill(self, name: str) -> None:
        """End one at once, without a chance to tidy up."""
        process = self._processes[name]
        process.send_signal(signal.SIGKILL)
        process.wait()

    def stop_all(self, grace_s: float) -> None:
        """Ask all to end, and end those that do not in time."""
        living = [process for process in self._processes.values() if process.poll() is None]
        try:
            for process in living:
                process.terminate()
            deadline = self._clock.boot() + grace_s
            for process in living:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(deadline - self._clock.boot(), 0.0))
        finally:  # also when a second Ctrl-C cuts the grace short
            for process in living:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            for process in self._processes.values():
                if process.stdout is not None:
                    process.stdout.close()
