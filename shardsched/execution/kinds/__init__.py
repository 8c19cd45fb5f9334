"""Jobs that need no handler of one's own, and handlers in the form of a flow of batches."""

from __future__ import annotations

from shardsched.execution.kinds.dataflow import dataflow_job
from shardsched.execution.kinds.description import JobSettings, http_job, scrapy_job, shell_job

__all__ = ["JobSettings", "dataflow_job", "http_job", "scrapy_job", "shell_job"]
