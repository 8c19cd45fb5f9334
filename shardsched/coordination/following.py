"""Telling the jobs that wait for one of its completed fires, within the transaction that completes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.coordination.command import write_commands
from shardsched.coordination.notice import Notice, following_notice
from shardsched.coordination.record import read_cursors, read_entries
from shardsched.core.dependency import MAX_DEPENDENTS, Following, following, needs_cursors
from shardsched.registry.base import Check

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from shardsched.coordination.mirror import Mirror
    from shardsched.core.fire import Cursor
    from shardsched.core.paths import Paths
    from shardsched.core.tally import ClosedFire
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Operation, Registry

MAX_FOLLOWING_BYTES = 256 * 1024
"""Size of what one transaction stores of all dependent jobs, well below what ZooKeeper takes."""
_IN_CIRCLE = Following(dropped="they wait for each other; change its 'after'")
_TOO_MANY = Following(dropped=f"more than {MAX_DEPENDENTS} jobs wait for it; have some wait for another job")
_TOO_LARGE = Following(dropped="the commands of all jobs that wait for it are too large for one transaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Followers:
    """What the jobs that wait for one are told."""

    operations: tuple[Operation, ...] = ()
    """What stores it, with the checks that nobody edits, pauses or lays out such a job meanwhile."""
    notices: tuple[Notice, ...] = ()
    """What is told once it is stored."""
    jobs: frozenset[str] = frozenset()
    """The jobs that are written."""


def tell_followers(
    registry: Registry, paths: Paths, mirror: Mirror, job: str, fires: Sequence[ClosedFire], now: datetime
) -> Followers:
    """Return what the jobs that wait for one are told of its completed fires.

    They are read anew, since the mirror may be old; who they are is the mirror's word.

    Raises:
        RegistryUnavailableError: No answer.
    """
    names, upstream = mirror.dependents(job), mirror.upstream(job)
    entries = read_entries(registry, paths, names[:MAX_DEPENDENTS]) if fires else {}
    operations: list[Operation] = []
    notices: list[Notice | None] = []
    written: set[str] = set()
    size = 0
    for index, name in enumerate(names if fires else ()):
        entry = entries.get(name)
        changed, told = _follow(registry, paths, entry, job, fires, now)
        if name in upstream or index >= MAX_DEPENDENTS:
            told = [(fire, _IN_CIRCLE if name in upstream else _TOO_MANY) for fire in fires]
        elif entry is not None and changed is not None and changed.commands is not None:
            write = write_commands(paths, entry, changed.commands)
            size += len(write.value)
            if size <= MAX_FOLLOWING_BYTES:
                operations += [*_checks(paths, entry), write]
                written.add(name)
            else:
                told = [(fire, _TOO_LARGE) for fire in fires]
        notices += [following_notice(name, job, fire, one) for fire, one in told]
    return Followers(
        operations=tuple(operations),
        notices=tuple(notice for notice in notices if notice is not None),
        jobs=frozenset(written),
    )


def _follow(
    registry: Registry, paths: Paths, entry: JobEntry | None, job: str, fires: Sequence[ClosedFire], now: datetime
) -> tuple[JobEntry | None, list[tuple[ClosedFire, Following]]]:
    """Return a dependent job as it is to stand after fires, None if it stays; and what each fire does to it."""
    told: list[tuple[ClosedFire, Following]] = []
    cursors: Mapping[int, Cursor] | None = None
    if entry is not None and needs_cursors(entry):
        every = read_cursors(registry, paths, entry.name)[0]
        uid = entry.config.uid if entry.config else ""
        cursors = {item: cursor for item, cursor in every.items() if cursor.uid == uid}
    changed = None
    for fire in fires:
        followed = following(changed or entry, job, fire, cursors, now)
        told.append((fire, followed))
        if followed.commands is not None and entry is not None:
            changed = replace(changed or entry, commands=followed.commands)
    return changed, told


def _checks(paths: Paths, entry: JobEntry) -> list[Operation]:
    checks: list[Operation] = [Check(paths.job(entry.name), entry.version)]
    if entry.assignment is not None and entry.assignment_version is not None:
        checks.append(Check(paths.assignment(entry.name), entry.assignment_version))
    return checks
