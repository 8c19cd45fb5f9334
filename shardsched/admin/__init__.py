"""What people may do to jobs and executors, and what they see of them; used by the command line and the console."""

from __future__ import annotations

from shardsched.admin.admin import Admin
from shardsched.admin.change import JobChange, Registration
from shardsched.admin.removal import Removal

__all__ = ["Admin", "JobChange", "Registration", "Removal"]
