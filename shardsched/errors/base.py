"""The root of all errors."""

from __future__ import annotations


class ShardschedError(Exception):
    """Base of all errors of shardsched; catch it to catch them all."""
