"""Seeing to it that no job waits for itself, also when several people edit at once.

A job that is written to wait for others is written with a check of every job before it, directly or not. Of two edits
that would close a circle together, the later one meets a job that the earlier one changed, is refused, and looks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.core.dependency import MAX_UPSTREAM
from shardsched.core.name import name_fault
from shardsched.errors import JobConfigError
from shardsched.registry.base import Check, Create, Delete
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from shardsched.admin.reader import Reader
    from shardsched.core.job import JobConfig
    from shardsched.registry.base import Operation


def upstream_checks(reader: Reader, config: JobConfig) -> list[Operation]:
    """Return what is refused if a job before this one is edited, made or deleted meanwhile.

    Raises:
        JobConfigError: The job would wait for itself, or more than 500 jobs stand before it.
        RegistryUnavailableError: No answer.
    """
    operations: list[Operation] = []
    path_to: dict[str, str] = {
        name: Sentence("%(job)r after %(upstream)r", job=config.name, upstream=name) for name in config.after
    }
    level = list(path_to)
    while level:
        if config.name in path_to or len(path_to) > MAX_UPSTREAM:
            raise JobConfigError(_refusal(config.name, path_to), setting="after")
        entries = reader.entries([name for name in level if not name_fault(name)])
        following: list[str] = []
        for name in level:
            entry = entries.get(name)
            if entry is not None:
                operations.append(Check(reader.paths.job(name), entry.version))
            elif not name_fault(name):
                # Made and deleted within the transaction: so it is refused if the job is made meanwhile.
                path = reader.paths.job(name)
                operations += [Create(path), Delete(path)]
            after = entry.config.after if entry is not None and entry.config is not None else ()
            for upstream in after:
                if upstream not in path_to:
                    path_to[upstream] = Sentence("%(path)s after %(upstream)r", path=path_to[name], upstream=upstream)
                    following.append(upstream)
        level = following
    return operations


def _refusal(job: str, path_to: dict[str, str]) -> str:
    if job in path_to:
        return Sentence(
            "job %(job)r would wait for itself (%(path)s); leave one of them out of 'after'", job=job, path=path_to[job]
        )
    return Sentence(
        "more than %(most)s jobs stand before job %(job)r; have it wait for fewer", most=MAX_UPSTREAM, job=job
    )
