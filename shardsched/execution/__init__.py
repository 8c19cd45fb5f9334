"""How items run and are stopped."""

from __future__ import annotations
