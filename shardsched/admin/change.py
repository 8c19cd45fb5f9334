"""What became of a job that was changed, or that code describes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """What a change did."""

    job: str
    """The job."""
    version: int
    """The configuration's version now."""
    changed: tuple[str, ...]
    """The settings that have another value now, by the names people use; empty if nothing was to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What became of a job that code describes."""

    job: str
    """The job."""
    is_created: bool = False
    """Whether it was created now."""
    is_updated: bool = False
    """Whether the registry's copy was changed to the code's."""
    differences: tuple[str, ...] = ()
    """The settings in which the registry's copy differed from the code's, by the names people use."""
    fault: str | None = None
    """Why the registry's copy was left as it is although it cannot be used, or None."""
