"""One look through a namespace for what is wrong in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shardsched.admin.checkup_chain import chain_cases
from shardsched.admin.checkup_item import checkpoint_cases, item_cases
from shardsched.admin.finding import Case, Fault, Finding
from shardsched.admin.mend import Mend
from shardsched.core.name import name_fault
from shardsched.core.paths import PERSISTENT_ROOTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from shardsched.admin.reader import Names, Reader
    from shardsched.core.view import FleetView, JobEntry

JOB_KINDS = ("assignments", "commands", "fires", "items", "running", "checkpoints")
"""Kinds of records that belong to jobs."""


class Checkup:
    """One look. **Thread:** used by one."""

    def __init__(self, reader: Reader, now: datetime) -> None:
        self._reader = reader
        self._paths = reader.paths
        self._now = now
        self._mend = Mend(reader, now)

    def cases(self) -> list[Case]:
        """Return all that is wrong.

        Raises:
            RegistryUnavailableError: No answer.
        """
        if self._reader.registry.get(self._paths.root) is None:
            return []
        fleet = self._reader.members()
        jobs = self._reader.job_names()
        entries = self._reader.entries(jobs)
        views = self._reader.items(entries)
        found = [*self._roots(), *self._executors(fleet), *self._leader(fleet), *self._orphans(jobs)]
        for name, entry in sorted(entries.items()):
            found += self._job(entry)
            if entry.config is not None and entry.config.deleting:
                continue
            found += self._assignment(entry, fleet)
            found += item_cases(self._mend, entry, views[name], fleet)
            found += checkpoint_cases(name, self._reader.checkpoints(name))
        return [*found, *chain_cases(self._mend, self._reader, entries)]

    def _roots(self) -> Iterator[Case]:
        paths = [*(self._paths.under(kind) for kind in PERSISTENT_ROOTS), self._paths.epoch]
        for path, node in zip(paths, self._reader.registry.read(paths), strict=True):
            if node is None:
                yield Case(
                    Finding(
                        fault=Fault.MISSING_NODE,
                        path=path,
                        message="the node is not there, so nothing can be created below it",
                        cure="run 'shardsched doctor --repair'",
                        is_mendable=True,
                    ),
                    self._mend.create_namespace,
                )

    def _executors(self, fleet: FleetView) -> Iterator[Case]:
        names, drained = self._reader.names("executors", "drained")
        sessions = self._reader.names("sessions")[0]
        for name in sorted(set(names) - set(fleet.executors)):
            yield _unreadable(self._paths.executor(name), f"executor {name}'s record cannot be read", f"restart {name}")
        for name in sorted(set(drained) - set(fleet.drained)):
            message = f"the drain mark of executor {name} cannot be read, so it does not count"
            yield _unreadable(self._paths.drained(name), message, f"drain or undrain {name} anew")
        for name, record in sorted(fleet.executors.items()):
            if record.incarnation not in sessions:
                message = f"executor {name} has lost its fence, so that all its writes are refused"
                cure = f"restart {name}"
                yield Case(Finding(fault=Fault.LOST_FENCE, path=self._paths.executor(name), message=message, cure=cure))

    def _leader(self, fleet: FleetView) -> Iterator[Case]:
        path = self._paths.leader
        node = self._reader.registry.get(path, fresh=True)
        if node is None and fleet.executors:
            message, cure = "executors live and none of them leads", "restart one of them"
            yield Case(Finding(fault=Fault.NO_LEADER, path=path, message=message, cure=cure))
        elif node is not None and fleet.leader is None:
            yield _unreadable(path, "the leader's record cannot be read", "stop the executor that wrote it")
        elif node is not None and fleet.leader is not None:
            sessions = self._reader.names("sessions")[0]
            if fleet.leader.incarnation not in sessions:
                finding = Finding(
                    fault=Fault.LOST_FENCE,
                    path=path,
                    message=f"{fleet.leader.name} is said to lead under a session that does not exist",
                    cure="run 'shardsched doctor --repair'",
                    is_mendable=True,
                )
                yield Case(finding, partial(self._mend.delete_node, path, node.version))

    def _orphans(self, jobs: Names) -> Iterator[Case]:
        for kind, names in zip(JOB_KINDS, self._reader.names(*JOB_KINDS), strict=True):
            for name in sorted(set(names) - set(jobs)):
                path = f"{self._paths.under(kind)}/{name}"
                running = self._reader.registry.children(path) if kind == "running" else ()
                finding = Finding(
                    fault=Fault.ORPHAN,
                    path=path,
                    job=name,
                    message=f"there is no job {name!r}" + (f", yet items {', '.join(running)} run" if running else ""),
                    cure="restart the executors that run them" if running else "run 'shardsched doctor --repair'",
                    is_mendable=not running,
                )
                yield Case(finding, None if running else partial(self._mend.delete_orphan, name, path))

    def _job(self, entry: JobEntry) -> Iterator[Case]:
        path, config = self._paths.job(entry.name), entry.config
        delete = f"delete it with 'shardsched job delete {entry.name}'"
        fault = name_fault(entry.name)
        if fault:
            message = f"the job's name is not valid: {fault}"
            yield Case(Finding(fault=Fault.BAD_NAME, path=path, job=entry.name, message=message, cure=delete))
        elif config is None:
            cure = f"give the bad setting anew with 'shardsched job update {entry.name}', or {delete}"
            yield _unreadable(path, entry.held or "unreadable configuration", cure, entry.name)
        elif config.deleting:
            message = "the job's deletion is not finished"
            finding = Finding(
                fault=Fault.HALF_DELETED,
                path=path,
                job=entry.name,
                message=message,
                cure="wait until its items have ended",
                is_mendable=True,
            )
            yield Case(finding, partial(self._mend.finish_deletion, entry.name))
        elif entry.held is not None and entry.held.startswith("unreadable commands"):
            commands = self._paths.commands(entry.name)
            yield _mendable(commands, entry.held, entry.name, partial(self._mend.reset_commands, entry))
        elif entry.held is not None:
            cure = f"mend it with 'shardsched job update {entry.name}'"
            yield Case(Finding(fault=Fault.HELD_JOB, path=path, job=entry.name, message=entry.held, cure=cure))
        if config is not None:
            yield from self._parents(entry)

    def _parents(self, entry: JobEntry) -> Iterator[Case]:
        paths = (self._paths.cursors(entry.name), self._paths.markers(entry.name))
        for path, node in zip(paths, self._reader.registry.read(paths), strict=True):
            if node is None:
                finding = Finding(
                    fault=Fault.MISSING_NODE,
                    path=path,
                    job=entry.name,
                    message="the node is not there, so no item of the job can be claimed",
                    cure="run 'shardsched doctor --repair'",
                    is_mendable=True,
                )
                yield Case(finding, partial(self._mend.create_parent, entry, path))

    def _assignment(self, entry: JobEntry, fleet: FleetView) -> Iterator[Case]:
        path = self._paths.assignment(entry.name)
        if entry.config is not None and entry.assignment_fault is not None and entry.assignment_version is not None:
            mend = partial(self._mend.delete_node, path, entry.assignment_version)
            yield _mendable(path, f"the assignment cannot be used: {entry.assignment_fault}", entry.name, mend)
        gone = sorted(set(entry.assignment.owners if entry.assignment else ()) - set(fleet.executors))
        if gone:
            finding = Finding(
                fault=Fault.OWNER_GONE,
                path=path,
                job=entry.name,
                message=f"items are assigned to {', '.join(gone)}, which no longer lives",
                cure="the leader assigns them anew; if none leads, start an executor",
            )
            yield Case(finding)


def _unreadable(path: str, message: str, cure: str, job: str | None = None) -> Case:
    return Case(Finding(fault=Fault.UNREADABLE, path=path, job=job, message=message, cure=cure))


def _mendable(path: str, message: str, job: str, mend: partial[bool]) -> Case:
    cure = "run 'shardsched doctor --repair'"
    return Case(Finding(fault=Fault.UNREADABLE, path=path, job=job, message=message, cure=cure, is_mendable=True), mend)
