"""The coordination store: one contract, three implementations."""

from __future__ import annotations
