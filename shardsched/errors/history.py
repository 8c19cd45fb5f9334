"""Errors of the history database."""

from __future__ import annotations

from shardsched.errors.base import ShardschedError


class HistoryError(ShardschedError):
    """Raised when the history database cannot do what was asked."""


class HistoryUnavailableError(HistoryError):
    """Raised when the history database gave no answer or turned us away: what was asked may have happened or not."""


class HistorySchemaError(HistoryError):
    """Raised when the tables of the history database are not those that this release knows."""
