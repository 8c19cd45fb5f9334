"""Finding what is wrong in a registry, and mending what can be mended without loss."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.admin.checkup import Checkup
from shardsched.admin.finding import PASSING
from shardsched.admin.reader import Reader

if TYPE_CHECKING:
    from shardsched.admin.finding import Case, Finding
    from shardsched.clock import Clock
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Registry

PATIENCE_S = 2.0
"""How long a fault that a healthy fleet shows for a moment must last; the leader takes about 0.3 s to act."""


class Doctor:
    """Checks one namespace. **Thread:** any; nothing is kept."""

    def __init__(self, registry: Registry, paths: Paths, clock: Clock) -> None:
        self._registry = registry
        self._paths = paths
        self._clock = clock

    def examine(self, *, patience_s: float = PATIENCE_S) -> tuple[Finding, ...]:
        """Return what is wrong; a fault that passes by itself within the patience is none.

        Raises:
            RegistryUnavailableError: No answer.
        """
        return tuple(case.finding for case in self._cases(patience_s))

    def repair(self, *, patience_s: float = PATIENCE_S) -> tuple[Finding, ...]:
        """Mend what can be mended without loss; return all that was wrong, with what became of it.

        **Atomicity:** each finding by itself. **Unknown:** repairing again is safe.

        Raises:
            RegistryUnavailableError: No answer.
        """
        return tuple(
            case.finding if case.mend is None else replace(case.finding, is_mended=case.mend())
            for case in self._cases(patience_s)
        )

    def _cases(self, patience_s: float) -> list[Case]:
        first = self._look()
        passing = {(case.finding.fault, case.finding.path) for case in first if case.finding.fault in PASSING}
        if not passing:
            return first
        threading.Event().wait(patience_s)
        return [
            case
            for case in self._look()
            if case.finding.fault not in PASSING or (case.finding.fault, case.finding.path) in passing
        ]

    def _look(self) -> list[Case]:
        return Checkup(Reader(self._registry, self._paths), self._clock.now()).cases()
