"""Which job waits for which, both ways. Used by one thread at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.core.dependency import upstream_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class Bonds:
    """The jobs that wait for others."""

    def __init__(self) -> None:
        self._after: dict[str, frozenset[str]] = {}
        self._dependents: dict[str, set[str]] = {}

    def set(self, job: str, after: Iterable[str]) -> None:
        """Set for which jobs one waits; none where it is gone."""
        before, wanted = self._after.get(job, frozenset()), frozenset(after)
        for upstream in before - wanted:
            self._dependents[upstream].discard(job)
            if not self._dependents[upstream]:
                del self._dependents[upstream]
        for upstream in wanted - before:
            self._dependents.setdefault(upstream, set()).add(job)
        if wanted:
            self._after[job] = wanted
        else:
            self._after.pop(job, None)

    def dependents(self, job: str) -> tuple[str, ...]:
        """Return the jobs that wait for one, by name."""
        return tuple(sorted(self._dependents.get(job, ())))

    def upstream(self, job: str) -> frozenset[str]:
        """Return the jobs that stand before one, directly or not."""
        return upstream_of(job, lambda name: self._after.get(name, ()))
