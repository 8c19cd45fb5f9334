"""What becomes of an item whose marker is given back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.core.fire import ItemState

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.decision import Release
    from shardsched.core.fire import Cursor
    from shardsched.core.view import ItemView


def lost_cursor(release: Release, view: ItemView, now: datetime) -> Cursor | None:
    """Return the cursor that a release writes: the run is lost; None if it stays, for the run to go on elsewhere."""
    cursor, marker = view.cursor, view.marker
    if not release.is_final or cursor is None or marker is None or cursor.run != marker.run:
        return None
    return replace(
        cursor,
        state=ItemState.LOST,
        ended_at=now,
        message="its claim was given back",
        job_param=None,
        param=None,
    )
