"""The web console: what an operator sees and does, in a browser and over an API.

It sees only `shardsched.admin`, `shardsched.people`, `shardsched.core`, errors, settings and the clock. It schedules
nothing and keeps nothing that the registry or the history database does not have: end it, and the fleet goes on.
"""

from __future__ import annotations
