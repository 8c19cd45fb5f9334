"""The left bar: the pages that are there, for whoever may see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import current_app, request

from console.context import actor_or_none
from console.role import access_of
from console.text import lazy_gettext as _l

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Page:
    """One entry of the left bar."""

    endpoint: str
    """Its view; the entry is left out while there is none."""
    title: str
    """What it is called."""
    icon: str
    """Its icon."""
    key: str = ""
    """The letter that leads there after ``g``."""

    @property
    def is_here(self) -> bool:
        """Whether the present page belongs to it."""
        return request.blueprint == self.endpoint.partition(".")[0]


PAGES = (
    Page("overview.index", _l("Overview"), "layout-grid", "o"),
    Page("map.index", _l("Shard map"), "grid-dots", "s"),
    Page("job.index", _l("Jobs"), "list-check", "j"),
    Page("executor.index", _l("Executors"), "server-2", "e"),
    Page("execution.index", _l("Executions"), "history", "x"),
    Page("statistics.index", _l("Statistics"), "chart-bar", "t"),
)
ADMINISTRATION = (
    Page("user.index", _l("Users"), "users", "u"),
    Page("token.index", _l("API tokens"), "key", "k"),
    Page("audit.index", _l("Audit log"), "clipboard-list", "a"),
)


def visible(pages: tuple[Page, ...]) -> Iterator[Page]:
    """Yield the pages that are there and that whoever looks may see."""
    who = actor_or_none()
    for page in pages:
        view = current_app.view_functions.get(page.endpoint)
        access = None if view is None else access_of(view, "GET")
        if access is not None and (access.role is None or (who is not None and who.may(access.role))):
            yield page
