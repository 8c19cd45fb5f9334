"""Files of jobs: writing ours, reading ours and those of other schedulers, and what importing one would do.

Nothing here reads a file or a registry: texts go in, values come out.
"""

from __future__ import annotations

from shardsched.jobfile.entry import Entry, Parsed, Refusal, Remark
from shardsched.jobfile.form import Form, Wish, parse_jobs
from shardsched.jobfile.native import job_document, write_json, write_yaml
from shardsched.jobfile.plan import WRITING, Action, Change, ImportPlan, OnConflict, Step, plan_import
from shardsched.jobfile.text import MAX_FILE_BYTES, decode_file

__all__ = [
    "MAX_FILE_BYTES",
    "WRITING",
    "Action",
    "Change",
    "Entry",
    "Form",
    "ImportPlan",
    "OnConflict",
    "Parsed",
    "Refusal",
    "Remark",
    "Step",
    "Wish",
    "decode_file",
    "job_document",
    "parse_jobs",
    "plan_import",
    "write_json",
    "write_yaml",
]
