"""One module for each step, never changed once released."""

from __future__ import annotations
