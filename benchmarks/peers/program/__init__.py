"""Programs that run in the peers' own virtual environment, each the shortest honest set-up of one peer."""

from __future__ import annotations
