"""Taking jobs out of a namespace as a document, and bringing those of a job file in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.admin.reader import Reader
from shardsched.core.name import name_fault
from shardsched.errors import ConfigurationError, ConflictError, CorruptNodeError, JobNotFoundError
from shardsched.jobfile import WRITING, Action, OnConflict, plan_import
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shardsched.admin.job import Jobs
    from shardsched.clock import Clock
    from shardsched.core.job import JobConfig
    from shardsched.core.paths import Paths
    from shardsched.jobfile import ImportPlan, Parsed, Step
    from shardsched.registry.base import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Jobs taken out."""

    configs: tuple[JobConfig, ...]
    """Those that can be read, by name."""
    left_out: Mapping[str, str]
    """By job, why it is left out."""


class Exchange:
    """Exports and imports jobs. **Thread:** any; nothing is kept between calls."""

    def __init__(self, registry: Registry, paths: Paths, clock: Clock, jobs: Jobs) -> None:
        self._reader = Reader(registry, paths)
        self._clock = clock
        self._jobs = jobs

    def export(self, names: Sequence[str] = ()) -> Export:
        """Return jobs as they are stored; all when none is named.

        Raises:
            JobNotFoundError: There is no job of a name.
            RegistryUnavailableError: No answer.
        """
        wanted = sorted({self._reader.known_job(name) for name in names} or self._reader.job_names())
        entries = self._reader.entries(wanted)
        missing = sorted(set(names) - set(entries))
        if missing:
            raise JobNotFoundError(job=missing[0])
        configs, left_out = [], {}
        for name, entry in entries.items():
            if entry.config is None:
                left_out[name] = entry.held or "its record cannot be read"
            elif entry.config.deleting:
                left_out[name] = "it is being deleted"
            else:
                configs.append(entry.config)
        return Export(configs=tuple(configs), left_out=left_out)

    def plan(self, parsed: Parsed, on_conflict: OnConflict = OnConflict.FAIL) -> ImportPlan:
        """Return what an import of a file would do; nothing is written.

        Raises:
            RegistryUnavailableError: No answer.
        """
        names = [entry.name for entry in parsed.entries if name_fault(entry.name) is None]
        return plan_import(parsed, self._reader.entries(names), self._clock.now(), on_conflict)

    def carry_out(self, plan: ImportPlan) -> Iterator[Step]:
        """Do what was planned, and yield each step as it was done.

        A handler need not be hosted: its job waits for an executor that hosts it. A job that somebody else made or
        changed since the plan was made is a conflict; with `OnConflict.FAIL` nothing is written after it.

        **Atomicity:** each job. **Unknown:** importing the file again is safe: what is written already is unchanged.

        Raises:
            ConflictError: The plan is blocked; nothing was written.
            RegistryUnavailableError: No answer; the steps yielded before are done.
        """
        if plan.is_blocked:
            raise ConflictError(
                Sentence("a job conflicts or is refused, so nothing was written; mend it, or give --on-conflict")
            )
        is_over = False
        for step in plan.steps:
            if step.action not in WRITING:
                yield step
                continue
            done = self._write(step) if not is_over else _given_up(step)
            is_over = is_over or (plan.on_conflict is OnConflict.FAIL and done.action not in WRITING)
            yield done

    def unhosted(self, plan: ImportPlan) -> tuple[str, ...]:
        """Return the handlers of a plan's new and changed jobs that no living executor hosts.

        Raises:
            RegistryUnavailableError: No answer.
        """
        wanted = {step.settings["handler"] for step in plan.steps if "handler" in step.settings}
        executors = self._reader.members().executors.values() if wanted else ()
        return tuple(sorted(wanted - {handler for record in executors for handler in record.handlers}))

    def _write(self, step: Step) -> Step:
        try:
            if step.action is Action.CREATE:
                self._jobs.create(step.name, step.settings, must_be_hosted=False)
            else:
                self._jobs.update(step.name, step.settings, expected_version=step.version, must_be_hosted=False)
        except (ConflictError, JobNotFoundError) as error:
            return replace(step, action=Action.CONFLICT, reason=str(error))
        except (ConfigurationError, CorruptNodeError) as error:
            return replace(step, action=Action.REFUSED, reason=str(error))
        return step


def _given_up(step: Step) -> Step:
    return replace(step, action=Action.SKIP, reason=Sentence("not written, since a job before it could not be"))
