"""Switching single items of a job off and on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from shardsched.admin.race import until_won
from shardsched.core.item import check_known_items
from shardsched.errors import ConflictError, StaleVersionError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from shardsched.admin.change import JobChange
    from shardsched.core.view import JobEntry


class Update(Protocol):
    """Changes settings of a job, unless it has another version than expected."""

    def __call__(self, name: str, changes: Mapping[str, Any], *, expected_version: int) -> JobChange:
        """As `Jobs.update`."""
        ...


def switch_items(
    read: Callable[[str], JobEntry], update: Update, name: str, items: Iterable[int] | None, *, is_enabled: bool
) -> JobChange:
    """Enable or disable items of a job, all where none are named; others are not touched, whoever changes the job too.

    Args:
        read: Returns the job as it is stored.
        update: Changes it.
        name: The job's name.
        items: Which items.
        is_enabled: Whether they are enabled, else disabled.

    Raises:
        ConflictError: The job cannot be read, or is being deleted.
        ItemParameterError: There is no such item.
        JobNotFoundError: There is no such job.
        RegistryUnavailableError: No answer.
    """
    chosen = None if items is None else frozenset(items)

    def attempt() -> JobChange | None:
        entry = read(name)
        disabled = switched_items(entry, chosen, is_enabled=is_enabled)
        try:
            return update(entry.name, {"disabled_items": disabled}, expected_version=entry.version)
        except StaleVersionError:
            return None

    return until_won(attempt, name)


def switched_items(entry: JobEntry, chosen: frozenset[int] | None, *, is_enabled: bool) -> tuple[int, ...]:
    """Return the items of a job that are disabled once chosen ones, None for all, are enabled or disabled.

    Raises:
        ConflictError: The job cannot be read.
        ItemParameterError: There is no such item.
    """
    config = entry.config
    if config is None:
        message = Sentence(
            "the items of job %(name)r cannot be changed: %(held)s; mend it with 'job update' first",
            name=entry.name,
            held=entry.held,
        )
        raise ConflictError(message)
    before = frozenset(config.disabled_items)
    items = before | frozenset(range(config.items)) if chosen is None else chosen
    check_known_items(entry.name, items - before, config.items)
    return tuple(sorted(before - items if is_enabled else before | items))
