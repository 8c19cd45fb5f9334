"""The control plane, mirrored: one watch for each kind of record, whatever the number of jobs.

Reports arrive on the registry's callback thread and are only stored there, with a note of what changed; records are
decoded when somebody asks. A view may be old, so every write that follows from it carries the versions it was read
with.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from shardsched.core.bond import Bonds
from shardsched.core.fleet import drain_or_none, executor_or_none, job_entry, leader_or_none
from shardsched.core.paths import CONTROL_PLANE, Paths, last_part
from shardsched.core.view import FleetView, JobEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.core.executor import DrainMark, ExecutorRecord
    from shardsched.registry.base import Changes, Node, Registry, Subscription

_T = TypeVar("_T")
_JOB_KINDS = ("jobs", "assignments", "commands")


class Mirror:
    """The control plane as it was last reported.

    **Thread:** any. `on_change` runs on the registry's callback thread and must be quick: it is told nothing, ask
    `take_changes`.
    """

    def __init__(self, registry: Registry, paths: Paths, on_change: Callable[[], None]) -> None:
        self._registry = registry
        self._paths = paths
        self._on_change = on_change
        self._lock = threading.Lock()
        self._nodes: dict[str, dict[str, Node]] = {kind: {} for kind in CONTROL_PLANE}
        self._complete: set[str] = set()
        self._entries: dict[str, JobEntry] = {}
        self._changed_jobs: set[str] = set()
        self._is_fleet_changed = False
        self._revision = 0
        self._subscriptions: list[Subscription] = []
        self._executors: dict[str, ExecutorRecord] = {}
        self._drained: dict[str, DrainMark] = {}
        self._bonds = Bonds()
        self._unbound: set[str] = set()

    def start(self) -> None:
        """Begin to watch; `is_complete` turns true when all has been reported once."""
        for kind in CONTROL_PLANE:
            prefix = self._paths.under(kind)
            self._subscriptions.append(self._registry.watch(prefix, partial(self._take, kind)))

    def stop(self) -> None:
        """Stop watching; what was reported stays."""
        for subscription in self._subscriptions:
            subscription.cancel()
        self._subscriptions.clear()

    @property
    def is_complete(self) -> bool:
        """Whether everything has been reported at least once."""
        return len(self._complete) == len(CONTROL_PLANE)

    def _take(self, kind: str, report: Changes) -> None:
        prefix = self._paths.under(kind)
        with self._lock:
            kept = self._nodes[kind]
            touched = set(report.nodes)
            if report.complete:
                touched |= set(kept)
                self._complete.add(kind)
            changed = {path for path in touched if self._store(kept, path, report.nodes.get(path)) and path != prefix}
            names = {last_part(path) for path in changed}
            if changed and kind in _JOB_KINDS:
                self._changed_jobs |= names
                if kind == "jobs":
                    self._unbound |= names
                for name in names:
                    self._entries.pop(name, None)
            elif changed and kind != "leader":
                self._decode(kind, changed)
            if self._is_news(kind, names):
                self._is_fleet_changed = True
                self._revision += 1
        self._on_change()

    def _is_news(self, kind: str, names: set[str]) -> bool:
        """Whether the leader has to look at a change.

        Its own writes are no news to it; an assignment that vanished, or that somebody spoilt, is.
        """
        if kind == "leader":
            return True
        if kind == "assignments":
            entries = [self._entry(name) for name in names]
            return any(entry is not None and entry.assignment is None for entry in entries)
        return bool(names) and kind != "commands"

    @staticmethod
    def _store(kept: dict[str, Node], path: str, node: Node | None) -> bool:
        before = kept.get(path)
        if node is None:
            kept.pop(path, None)
            return before is not None
        kept[path] = node
        return before is None or (before.version, before.created_id) != (node.version, node.created_id)

    def _decode(self, kind: str, changed: set[str]) -> None:
        for path in changed:
            name, node = last_part(path), self._nodes[kind].get(path)
            if kind == "executors":
                record = executor_or_none(self._paths, name, node.value) if node else None
                _keep(self._executors, name, record)
            else:
                mark = drain_or_none(self._paths, name, node.value) if node else None
                _keep(self._drained, name, mark)

    @property
    def revision(self) -> int:
        """Grows with every change that the leader has to look at."""
        return self._revision

    def take_changes(self) -> tuple[frozenset[str], bool]:
        """Return the jobs that changed since the last call, and whether the leader has something to look at."""
        with self._lock:
            jobs, self._changed_jobs = frozenset(self._changed_jobs), set()
            is_fleet_changed, self._is_fleet_changed = self._is_fleet_changed, False
        return jobs, is_fleet_changed

    def entry(self, job: str) -> JobEntry | None:
        """Return one job, None if it does not exist."""
        with self._lock:
            return self._entry(job)

    def _entry(self, job: str) -> JobEntry | None:
        entry = self._entries.get(job)
        if entry is None:
            node = self._nodes["jobs"].get(self._paths.job(job))
            assignment = self._nodes["assignments"].get(self._paths.assignment(job))
            commands = self._nodes["commands"].get(self._paths.commands(job))
            entry = job_entry(
                job,
                job=None if node is None else (node.value, node.version, node.created_id),
                assignment=None if assignment is None else (assignment.value, assignment.version),
                commands=None if commands is None else (commands.value, commands.version),
                paths=self._paths,
            )
            if entry is not None:
                self._entries[job] = entry
        return entry

    def dependents(self, job: str) -> tuple[str, ...]:
        """Return the jobs that wait for one, by name."""
        with self._lock:
            return self._known_bonds().dependents(job)

    def upstream(self, job: str) -> frozenset[str]:
        """Return the jobs that stand before one, directly or not."""
        with self._lock:
            return self._known_bonds().upstream(job)

    def _known_bonds(self) -> Bonds:
        for name in self._unbound:
            entry = self._entry(name)
            self._bonds.set(name, entry.config.after if entry is not None and entry.config is not None else ())
        self._unbound.clear()
        return self._bonds

    def executors(self) -> Mapping[str, ExecutorRecord]:
        """Return the executors that live and whose record can be read, by name."""
        with self._lock:
            return dict(self._executors)

    def unreadable(self, kind: str) -> frozenset[str]:
        """Return the names of ``executors`` or ``drained`` whose node says nothing that can be used.

        Some of them may be names that no executor can have.
        """
        prefix = self._paths.under(kind)
        with self._lock:
            read = self._executors if kind == "executors" else self._drained
            return frozenset(last_part(path) for path in self._nodes[kind] if path != prefix) - read.keys()

    def is_listened(self, handler: str) -> bool:
        """Whether some living executor's code for a handler has listeners that are told of whole fires."""
        with self._lock:
            return any(handler in record.listening for record in self._executors.values())

    def job_names(self) -> tuple[str, ...]:
        """Return the names of all jobs."""
        prefix = self._paths.under("jobs")
        with self._lock:
            return tuple(last_part(path) for path in self._nodes["jobs"] if path != prefix)

    def fleet(self) -> FleetView:
        """Return all of it, frozen."""
        names = self.job_names()
        with self._lock:
            jobs = {name: entry for name in names if (entry := self._entry(name)) is not None}
            leader = self._nodes["leader"].get(self._paths.leader)
            return FleetView(
                executors=dict(self._executors),
                drained=dict(self._drained),
                leader=None if leader is None else leader_or_none(self._paths, leader.value),
                jobs=jobs,
            )

    def leader_node(self) -> Node | None:
        """Return the leader's node as it was last reported."""
        return self._nodes["leader"].get(self._paths.leader)

    def drain_mark(self, executor: str) -> DrainMark | None:
        """Return an executor's drain mark, None if it is not drained."""
        return self._drained.get(executor)


def _keep(kept: dict[str, _T], name: str, value: _T | None) -> None:
    if value is None:
        kept.pop(name, None)
    else:
        kept[name] = value
