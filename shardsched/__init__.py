"""A decentralised, sharded cron scheduler for Python crawler fleets."""

from __future__ import annotations

from shardsched.execution.context import ShardingContext
from shardsched.execution.decorator import sharded_job

__version__ = "0.1.0"
__all__ = ["ShardingContext", "__version__", "sharded_job"]
