"""Who asks, and what they may do: checked where things are done, whatever page or program asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.errors import ShardschedError
from shardsched.people.role import Role
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.people.token import Token
    from shardsched.people.user import User
    from shardsched.people.web_session import WebSession


_ROLES = {"viewer": Sentence("viewer"), "operator": Sentence("operator"), "admin": Sentence("admin")}


class ForbiddenError(ShardschedError):
    """Raised when somebody asks for what they may not do.

    Attributes:
        code: ``role``, ``scope`` or ``proof`` (the password must be given anew first).
        needed: The role that may, for ``role``.
    """

    def __init__(self, code: str, needed: Role | None = None) -> None:
        super().__init__(
            Sentence("the token's scope does not have this")
            if code == "scope"
            else Sentence("this needs the %(role)s role", role=_ROLES.get(str(needed), needed))
        )
        self.code = code
        self.needed = needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Somebody who asks: a user by a browser or by a token."""

    user: User
    """The user."""
    session: WebSession | None = None
    """Their sign-in, None for a token."""
    token: Token | None = None
    """The token they use, None for a browser."""
    looks_until: datetime | None = None
    """Until when they may look without the history database, by which alone they may more; None if it let them in."""

    @property
    def only_looks(self) -> bool:
        """Whether they may only look, whatever their role."""
        return self.looks_until is not None

    @property
    def role(self) -> Role:
        """What they may do."""
        if self.only_looks:
            return Role.VIEWER
        return self.user.role if self.token is None else self.token.role

    @property
    def name(self) -> str:
        """Their name, as is kept with what they ask."""
        return self.user.name

    def may(self, role: Role) -> bool:
        """Whether they may do what a role may."""
        return self.role.includes(role)

    def may_change(self, job: str) -> bool:
        """Whether they may change a job: at least operators, and within the token's scope."""
        return self.may(Role.OPERATOR) and (self.token is None or self.token.covers(job))

    def require(self, role: Role) -> None:
        """Refuse what a role may not.

        Raises:
            ForbiddenError: They have a lesser one.
        """
        if not self.may(role):
            raise ForbiddenError("role", role)

    def require_all(self, role: Role) -> None:
        """Refuse what concerns more than single jobs, to a token that has some jobs only.

        Raises:
            ForbiddenError: Their role is less, or their token has a scope.
        """
        self.require(role)
        if self.token is not None and self.token.scope:
            raise ForbiddenError("scope")

    def require_job(self, job: str, role: Role = Role.OPERATOR) -> None:
        """Refuse to change a job that they may not.

        Raises:
            ForbiddenError: Their role is less, or their token's scope does not have it.
        """
        self.require(role)
        if self.token is not None and not self.token.covers(job):
            raise ForbiddenError("scope")
