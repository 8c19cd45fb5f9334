"""What is away at present, and what cannot be done because of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from flask import g

from console.context import context
from console.text import gettext as _

if TYPE_CHECKING:
    from console.fleet import Sight
    from console.store import StoreFault


class Away(NamedTuple):
    """What is away, as far as is known; nothing is asked for that."""

    store: StoreFault | None
    """Why nothing can be changed, as the history database does not answer."""
    sight: Sight
    """The fleet as last seen, with the fault of the registry."""

    @property
    def history(self) -> str:
        """Why nothing at all can be changed, in a few words; empty where it can."""
        if self.store is None:
            return ""
        return (
            _("The history database takes nothing in")
            if self.store.is_readable
            else _("The history database does not answer")
        )

    @property
    def registry(self) -> str:
        """Why nothing of the fleet can be changed, in a few words; empty where it can."""
        return self.history or (_("The registry does not answer") if self.sight.fault else "")


def away() -> Away:
    """Return what is away, the same throughout a request."""
    if "away" not in g:
        g.away = Away(context().store.fault(), context().fleet.sight(wait_s=0))
    return cast("Away", g.away)
