"""How often the kernel has killed for want of memory, as far as this process may know."""

from __future__ import annotations

from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


class OomCounter:
    """Tells whether an out-of-memory kill happened since it was last asked.

    Best effort: the counter is that of the control group where it can be read, else the machine's.
    """

    def __init__(self) -> None:
        self._sources = [*_own_cgroup_files(), Path("/proc/vmstat")]
        self._last_count = self._count()

    def has_grown(self) -> bool:
        """Return whether the counter has moved since the last call."""
        last_count, self._last_count = self._last_count, self._count()
        return self._last_count > last_count

    def _count(self) -> int:
        for source in self._sources:
            try:
                lines = source.read_text(encoding="ascii").splitlines()
            except (OSError, ValueError):
                continue
            counts = [line.split()[1] for line in lines if line.startswith("oom_kill ")]
            if counts and counts[0].isdigit():
                return int(counts[0])
        return 0


def _own_cgroup_files() -> list[Path]:
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    files = []
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":
            files.append(_CGROUPS / path.lstrip("/") / "memory.events")
        elif "memory" in controllers.split(","):
            files.append(_CGROUPS / "memory" / path.lstrip("/") / "memory.oom_control")
    return files
