"""What a fleet does while faults hit it: short and long items, each policy for what was missed, and checkpoints."""

from __future__ import annotations

LONG_S = 14.0
"""How long the longest items run, in seconds: longer than a session time-out."""
JOBS: dict[str, dict[str, object]] = {
    "tick": {"cron": "0/2 * * * * ?", "items": 4},
    "work": {"cron": "0/10 * * * * ?", "items": 6, "param": "hold=3"},
    "long": {"cron": "0/20 * * * * ?", "items": 3, "param": f"hold={LONG_S:g}"},
    "skipping": {"cron": "0/5 * * * * ?", "items": 2, "param": "hold=1", "misfire": "skip", "misfire_grace_s": 4},
    "catching-up": {"cron": "0/5 * * * * ?", "items": 2, "misfire": "all"},
    "counting": {"cron": "0/10 * * * * ?", "items": 2, "param": "hold=5 save=1"},
    "pausable": {"cron": "0/2 * * * * ?", "items": 3},
}
"""The jobs by name, with their settings; what an item does is told by ``param`` (see the fleet's jobs)."""
