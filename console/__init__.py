"""The web console."""

from __future__ import annotations
