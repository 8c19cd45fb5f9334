"""What a fleet does while faults hit it: short and long items, and each policy for what was missed."""

from __future__ import annotations

JOBS: dict[str, dict[str, object]] = {
    "tick": {"cron": "0/2 * * * * ?", "items": 4},
    "work": {"cron": "0/10 * * * * ?", "items": 6, "param": "hold=3"},
    "long": {"cron": "0/30 * * * * ?", "items": 3, "param": "hold=12"},
    "skipping": {"cron": "0/5 * * * * ?", "items": 2, "param": "hold=1", "misfire": "skip", "misfire_grace_s": 4},
    "catching-up": {"cron": "0/5 * * * * ?", "items": 2, "misfire": "all"},
    "pausable": {"cron": "0/2 * * * * ?", "items": 3},
}
"""The jobs by name, with their settings; what an item does is told by ``param`` (see the fleet's jobs)."""
