"""The record of runs and events in an SQL database: rows, a recorder that never waits, and queries."""

from __future__ import annotations
