"""Clearing what the items of a job have saved."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.admin.race import until_won
from shardsched.admin.reader import Reader
from shardsched.core.events import Event
from shardsched.core.item import format_items, is_item_name
from shardsched.errors import ConflictError, ItemParameterError
from shardsched.registry.base import Committed, Create, Delete
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Operation, Registry

logger = logging.getLogger(__name__)

_CHUNK = 60
"""Items cleared by one transaction, of three operations each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetReceipt:
    """What a reset cleared."""

    job: str
    """The job."""
    items: tuple[int, ...]
    """The items that had a checkpoint."""


class JobCheckpoints:
    """The checkpoints of the jobs of one namespace. **Thread:** any; nothing is kept."""

    def __init__(self, registry: Registry, paths: Paths) -> None:
        self._registry = registry
        self._paths = paths
        self._reader = Reader(registry, paths)

    def reset(
        self, name: str, *, only: Iterable[int] | None = None, even_running: bool = False, by: str = ""
    ) -> ResetReceipt:
        """Clear what items of a job have saved, so that their next runs begin anew.

        Args:
            name: The job's name.
            only: The items, None for all.
            even_running: Whether to clear it also of items that run; such a run knows what it has loaded, and may save
                again.
            by: Who asks.

        **Atomicity:** in chunks of items; an item that begins to run meanwhile is not cleared. **Unknown:** asking
        again is safe.

        Raises:
            JobNotFoundError: There is no such job.
            ConflictError: Items run.
            ItemParameterError: There is no such item.
            StaleVersionError: Others change the checkpoints all the time.
            RegistryUnavailableError: No answer.
        """
        entry = self._reader.entry(name)
        wanted = None if only is None else frozenset(only)
        cleared: set[int] = set()
        path = self._paths.checkpoints(name)
        until_won(lambda: self._try_reset(entry, wanted, cleared, even_running=even_running), path)
        items = tuple(sorted(cleared))
        fields = {"event": Event.CHECKPOINTS_RESET, "job": name, "items": format_items(items), "by": by}
        logger.info(
            "%s cleared the checkpoints of items %s", by or "somebody", format_items(items) or "none", extra=fields
        )
        return ResetReceipt(job=name, items=items)

    def _try_reset(
        self, entry: JobEntry, wanted: frozenset[int] | None, cleared: set[int], *, even_running: bool
    ) -> bool | None:
        job = entry.name
        markers, checkpoints = self._registry.read_children(
            [self._paths.markers(job), self._paths.checkpoints(job)], fresh=True
        )
        stored = {int(one) for one in checkpoints or () if is_item_name(one)}
        _check_items(entry, wanted, stored | cleared)
        items = sorted(stored if wanted is None else stored & wanted)
        running = {int(one) for one in markers or () if is_item_name(one)} & set(items)
        if running and not even_running:
            message = Sentence(
                "items %(items)s of job %(job)r run, and would save again; "
                "wait until they have ended, stop the job, or insist with --running",
                items=format_items(running),
                job=job,
            )
            raise ConflictError(message)
        for start in range(0, len(items), _CHUNK):
            chunk = items[start : start + _CHUNK]
            outcome = self._registry.transact(self._clear(job, chunk, even_running=even_running))
            if not isinstance(outcome, Committed):
                return None
            cleared.update(chunk)
        return True

    def _clear(self, job: str, items: Iterable[int], *, even_running: bool) -> list[Operation]:
        """Return what clears items; refused, unless told, if one runs: its marker could not be created."""
        operations: list[Operation] = []
        for item in items:
            marker, clear = self._paths.marker(job, item), Delete(self._paths.checkpoint(job, item))
            operations += [clear] if even_running else [Create(marker, ephemeral=True), clear, Delete(marker)]
        return operations


def _check_items(entry: JobEntry, wanted: frozenset[int] | None, stored: set[int]) -> None:
    count = entry.config.items if entry.config else 0
    unknown = sorted(item for item in wanted or () if not 0 <= item < count and item not in stored)
    if unknown:
        message = Sentence(
            "job %(job)r has no item %(item)s; its items are 0 to %(last)s",
            job=entry.name,
            item=unknown[0],
            last=count - 1,
        )
        raise ItemParameterError(message)
