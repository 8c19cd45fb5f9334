"""The loop of one executor: read a view, plan, act; in parts that claim, settle and account."""

from __future__ import annotations
