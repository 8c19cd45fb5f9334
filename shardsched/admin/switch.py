"""Switching single items of a job off and on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.core.item import check_known_items
from shardsched.errors import ConflictError

if TYPE_CHECKING:
    from shardsched.core.view import JobEntry


def switched_items(entry: JobEntry, chosen: frozenset[int] | None, *, is_enabled: bool) -> tuple[int, ...]:
    """Return the items of a job that are disabled once chosen ones, None for all, are enabled or disabled.

    Raises:
        ConflictError: The job cannot be read.
        ItemParameterError: There is no such item.
    """
    config = entry.config
    if config is None:
        message = f"the items of job {entry.name!r} cannot be changed: {entry.held}; mend it with 'job update' first"
        raise ConflictError(message)
    before = frozenset(config.disabled_items)
    items = before | frozenset(range(config.items)) if chosen is None else chosen
    check_known_items(entry.name, items - before, config.items)
    return tuple(sorted(before - items if is_enabled else before | items))
