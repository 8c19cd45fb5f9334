"""A decentralised, sharded cron scheduler for Python crawler fleets."""

from __future__ import annotations

import logging

from shardsched.execution.context import ShardingContext
from shardsched.execution.decorator import sharded_job
from shardsched.execution.kinds import dataflow_job, http_job, scrapy_job, shell_job
from shardsched.execution.listener import FireInfo, JobListener

# A library leaves it to the program whether and where its records are written.
logging.getLogger("shardsched").addHandler(logging.NullHandler())

__version__ = "0.1.0"
__all__ = [
    "FireInfo",
    "JobListener",
    "ShardingContext",
    "__version__",
    "dataflow_job",
    "http_job",
    "scrapy_job",
    "sharded_job",
    "shell_job",
]
