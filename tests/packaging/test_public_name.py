"""What users import is small, and cheap to import."""

from __future__ import annotations

import subprocess
import sys

import shardsched


def test_public_names_are_these() -> None:
    """A name more or less is a decision, not an accident."""
    kinds = {"dataflow_job", "http_job", "scrapy_job", "shell_job"}
    listening = {"FireInfo", "JobListener"}
    assert set(shardsched.__all__) == {"ShardingContext", "__version__", "sharded_job"} | kinds | listening
    assert all(hasattr(shardsched, name) for name in shardsched.__all__)


def test_import_of_the_package_loads_no_registry() -> None:
    """A module of jobs pays for the decorator only, not for drivers and servers."""
    code = "import sys, shardsched; print(*{'kazoo', 'sqlalchemy', 'apscheduler', 'flask', 'click'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == ""
