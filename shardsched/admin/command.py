"""Asking a job to run now, and to stop what runs."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.admin.asking import read_cursors, stopped_commands
from shardsched.admin.race import until_won
from shardsched.admin.reader import Reader
from shardsched.coordination.command import write_commands
from shardsched.core.assignment import decode_assignment
from shardsched.core.command import MAX_WAITING_TRIGGERS, Commands, Trigger, next_number, waiting_triggers
from shardsched.core.item import check_known_items, format_items
from shardsched.core.name import check_text
from shardsched.core.reason import PAUSED, judge, live_owners
from shardsched.errors import ConflictError, CorruptNodeError, ItemParameterError, JobConfigError
from shardsched.registry.base import Check, Committed
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.clock import Clock
    from shardsched.core.job import JobConfig
    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Changes, Registry

_MAX_PARAM_LENGTH = 64 * 1024
LAYOUT_WAIT_S = 3.0
"""How long a trigger waits for the leader to lay out an edited item count; it takes a third of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerReceipt:
    """What a trigger will run."""

    job: str
    """The job."""
    number: int
    """Which trigger of the job it is."""
    owners: dict[str, tuple[int, ...]]
    """By executor: the items that it runs."""
    waiting: tuple[int, ...] = ()
    """Items that have no living owner and run when they get one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReceipt:
    """What a stop concerns."""

    job: str
    """The job."""
    running: tuple[int, ...]
    """Items that ran when it was asked."""


class JobCommands:
    """Commands to the jobs of one namespace. **Thread:** any; nothing is kept."""

    def __init__(self, registry: Registry, paths: Paths, clock: Clock) -> None:
        self._registry = registry
        self._paths = paths
        self._clock = clock
        self._reader = Reader(registry, paths)

    def trigger(
        self, name: str, *, param: str | None = None, only: Iterable[int] | None = None, by: str = ""
    ) -> TriggerReceipt:
        """Have a job run once now, also a paused one; its schedule stays as it is.

        Args:
            name: The job's name.
            param: Stands in for the job's parameter in this run; None for the job's own.
            only: The items to run, None for all.
            by: Who asks.

        **Atomicity:** one transaction that checks the job. **Unknown:** it may run; look before asking again.

        Raises:
            JobNotFoundError: There is no such job.
            ConflictError: It would not run: the job is held or deleted, nobody owns the items, or too many wait.
            ItemParameterError: There is no such item.
            JobConfigError: The parameter cannot be stored.
            StaleVersionError: Others change the job all the time.
            RegistryUnavailableError: No answer.
        """
        name = self._reader.known_job(name)
        if param is not None:
            check_text(param, "param", JobConfigError, _MAX_PARAM_LENGTH)
        wanted = None if only is None else tuple(sorted(set(only)))
        self._await_layout(name)
        return until_won(lambda: self._try_trigger(name, param, wanted, by), self._paths.commands(name))

    def _await_layout(self, name: str) -> None:
        """Give the leader a moment to lay out a count that was edited just now, as by a script that then triggers."""
        entry = self._reader.entry(name)
        if entry.config is None or entry.config.deleting or entry.held is not None:
            return
        wanted, path, laid_out = entry.config.items, self._paths.assignment(name), threading.Event()

        def look(report: Changes) -> None:
            node = report.nodes.get(path)
            with contextlib.suppress(CorruptNodeError):
                if node is not None and decode_assignment(path, node.value).newest.items == wanted:
                    laid_out.set()

        if entry.assignment is not None and entry.assignment.newest.items != wanted:
            watch = self._registry.watch(path, look)
            laid_out.wait(LAYOUT_WAIT_S)
            watch.cancel()

    def _try_trigger(
        self, name: str, param: str | None, wanted: tuple[int, ...] | None, by: str
    ) -> TriggerReceipt | None:
        entry = self._reader.entry(name)
        config = _usable(entry)
        owners = self._owners(entry, config, wanted)
        # An item that was never laid out gets no owner, should the count be edited again: a trigger for it would wait
        # for ever.
        laid_out = _laid_out(entry, config)
        cursors = read_cursors(self._reader, entry)
        commands = entry.commands or Commands(uid=config.uid)
        waiting = waiting_triggers(commands, entry.assignment, cursors)
        if len(waiting) >= MAX_WAITING_TRIGGERS:
            message = Sentence(
                "%(count)s triggers of job %(name)r still wait to run; wait until some have run",
                count=len(waiting),
                name=name,
            )
            raise ConflictError(message)
        trigger = Trigger(
            number=next_number(commands, entry.assignment, cursors),
            at=self._clock.now(),
            items=config.items,
            only=wanted,
            param=param,
            by=by,
        )
        if not self._write(entry, replace(commands, triggers=(*waiting, trigger)), laid_out):
            return None
        owned = {item for items in owners.values() for item in items}
        unowned = tuple(sorted(_enabled(name, config, wanted) - owned))
        return TriggerReceipt(job=name, number=trigger.number, owners=owners, waiting=unowned)

    def _write(self, entry: JobEntry, commands: Commands, assignment_version: int | None = None) -> bool:
        """Store commands unless the job, or the assignment if told, changed; return whether it did not."""
        checks = [Check(self._paths.job(entry.name), entry.version)]
        if assignment_version is not None:
            checks.append(Check(self._paths.assignment(entry.name), assignment_version))
        outcome = self._registry.transact([*checks, write_commands(self._paths, entry, commands)])
        return isinstance(outcome, Committed)

    def _owners(self, entry: JobEntry, config: JobConfig, wanted: tuple[int, ...] | None) -> dict[str, tuple[int, ...]]:
        """Return who runs which of the wanted items.

        Raises:
            ConflictError: Nobody would run any of them.
            ItemParameterError: There is no such item.
        """
        _check_items(entry.name, config, wanted)
        fleet = self._reader.members()
        items = _enabled(entry.name, config, wanted)
        owned = live_owners(entry.assignment, fleet)
        owners = {
            name: mine for name, all_items in owned.items() if (mine := tuple(i for i in all_items if i in items))
        }
        if not owners:
            reasons = [reason for reason in judge(entry, fleet).reasons if reason != PAUSED]
            why = reasons[0] if reasons else Sentence("they wait for an owner")
            what = Sentence("it") if wanted is None else Sentence("items %(items)s of it", items=format_items(wanted))
            message = Sentence(
                "job %(name)r cannot be triggered, since nobody would run %(what)s: %(why)s",
                name=entry.name,
                what=what,
                why=why,
            )
            raise ConflictError(message)
        return owners

    def stop(self, name: str, *, by: str = "") -> StopReceipt:
        """Stop all running items of a job; its next fire starts as ever, so pause it first to keep it still.

        **Atomicity:** one transaction. **Unknown:** asking again is safe.

        Raises:
            JobNotFoundError: There is no such job.
            ConflictError: Its configuration cannot be read.
            StaleVersionError: Others change the job all the time.
            RegistryUnavailableError: No answer.
        """
        return until_won(lambda: self._try_stop(name, by), self._paths.commands(name))

    def _try_stop(self, name: str, by: str) -> StopReceipt | None:
        entry = self._reader.entry(name)
        if entry.config is None:
            message = Sentence(
                "job %(name)r cannot be stopped: %(held)s; delete it, or mend it with 'job update'",
                name=name,
                held=entry.held,
            )
            raise ConflictError(message)
        commands = stopped_commands(self._reader, entry, entry.config.uid, self._clock.now(), by)
        if not self._write(entry, commands):
            return None
        views = self._reader.items({name: entry})[name]
        running = tuple(item for item, view in views.items() if view.marker is not None)
        return StopReceipt(job=name, running=running)


def _usable(entry: JobEntry) -> JobConfig:
    if entry.held is not None or entry.config is None:
        message = Sentence(
            "job %(name)r cannot be triggered, since it is held: %(held)s; mend it with 'job update'",
            name=entry.name,
            held=entry.held,
        )
        raise ConflictError(message)
    if entry.config.deleting:
        message = Sentence("job %(name)r cannot be triggered, since it is being deleted", name=entry.name)
        raise ConflictError(message)
    return entry.config


def _laid_out(entry: JobEntry, config: JobConfig) -> int | None:
    """Return the version of the assignment that has all the items of the configuration.

    Raises:
        ConflictError: There is none yet.
    """
    if entry.assignment is None or entry.assignment.newest.items != config.items:
        message = Sentence(
            "job %(name)r cannot be triggered at this moment, since its %(count)s items are not laid out yet; "
            "ask again in a second",
            name=entry.name,
            count=config.items,
        )
        raise ConflictError(message)
    return entry.assignment_version


def _check_items(job: str, config: JobConfig, wanted: tuple[int, ...] | None) -> None:
    if wanted is None:
        return
    if not wanted:
        message = Sentence(
            "job %(job)r has no item in an empty list; its items are 0 to %(last)s", job=job, last=config.items - 1
        )
        raise ItemParameterError(message)
    check_known_items(job, wanted, config.items)


def _enabled(job: str, config: JobConfig, wanted: tuple[int, ...] | None) -> set[int]:
    """Return the items that a trigger runs.

    Raises:
        ConflictError: None, or one that was asked for, since it is disabled.
    """
    items, disabled = set(range(config.items) if wanted is None else wanted), set(config.disabled_items)
    refused = items & disabled
    if refused and (wanted is not None or not items - disabled):
        message = Sentence(
            "job %(job)r cannot be triggered, since items %(items)s are disabled; "
            "enable them with 'shardsched job enable %(job)s'",
            job=job,
            items=format_items(refused),
        )
        raise ConflictError(message)
    return items - disabled
