"""Errors of runs."""

from __future__ import annotations

from shardsched.errors.base import ShardschedError


class ExecutionError(ShardschedError):
    """Raised when a run cannot be started or has failed."""


class RunFailedError(ExecutionError):
    """Raised by a handler to have its run fail with one sentence, without a traceback."""


class RunTimeoutError(ExecutionError):
    """Raised when a run went on for longer than its time-out."""


class ShutdownError(ExecutionError):
    """Raised when a run is asked of an executor that is stopping."""


class CheckpointError(ExecutionError):
    """Raised when an item's checkpoint cannot be saved or loaded; it says what became of it."""


class StaleTokenError(CheckpointError):
    """Raised when a run saves its checkpoint whose claim of the item is over; nothing was saved."""
