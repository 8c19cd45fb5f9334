"""The command line: ``shardsched``."""

from __future__ import annotations

from shardsched.cli.main import main

__all__ = ["main"]
