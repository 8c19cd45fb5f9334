"""Who may use a view. A view without a role is refused to everybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from shardsched.people.role import Role

if TYPE_CHECKING:
    from collections.abc import Callable

View = TypeVar("View", bound="Callable[..., Any]")

_ATTRIBUTE = "console_access"


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use a view."""

    role: Role | None
    """The least role, None for anybody."""
    needs_proof: bool = False
    """Whether the password must have been given a short while ago."""
    is_storeless: bool = False
    """Whether it may change something while the history database is away."""


def role(
    needed: Literal["public", "viewer", "operator", "admin"], *, proof: bool = False, storeless: bool = False
) -> Callable[[View], View]:
    """Say who may use a view.

    ``proof`` asks for the password again when it was given long ago; ``storeless`` allows a change while the history
    database is away. Put it nearest to the function, below the route, so that what wraps the function keeps it.
    """
    access = Access(None if needed == "public" else Role(needed), proof, storeless)

    def decorate(view: View) -> View:
        setattr(view, _ATTRIBUTE, access)
        return view

    return decorate


def access_of(view: Callable[..., Any], method: str) -> Access | None:
    """Return who may use a view by a method, None if nobody said."""
    owner = getattr(view, "view_class", None)
    if owner is not None:
        name = "get" if method == "HEAD" and not hasattr(owner, "head") else method.lower()
        view = getattr(owner, name, view)
    found = getattr(view, _ATTRIBUTE, None)
    return found if isinstance(found, Access) else None
