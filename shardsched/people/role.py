"""What somebody may do."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """A role; each may do what those before it may."""

    VIEWER = "viewer"
    """Sees everything but users, tokens of others and the audit."""
    OPERATOR = "operator"
    """Also triggers, pauses, stops, edits and drains."""
    ADMIN = "admin"
    """Also deletes jobs, and sees and changes users, tokens and the audit."""

    def includes(self, other: Role) -> bool:
        """Whether this role may do what another may."""
        order = list(Role)
        return order.index(self) >= order.index(other)
