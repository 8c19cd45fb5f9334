"""Decisions as functions of values: no I/O, clock, thread, randomness or log in here."""

from __future__ import annotations
