"""The example that goes on where it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from examples.follow_logs import follow_logs
from shardsched import ShardingContext

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_each_line_is_counted_once_over_many_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run reads what is new alone, half a line not yet, and two items share the files."""
    monkeypatch.setenv("LOG_FOLDER", str(tmp_path))
    items = [ShardingContext(job="follow-logs", item=item, items=2) for item in range(2)]

    def errors() -> int:
        for ctx in items:
            follow_logs(ctx)
        return sum(ctx.load({"errors": 0})["errors"] for ctx in items)

    assert errors() == 0
    for number in range(6):
        (tmp_path / f"{number}.log").write_text("9:00 ERROR a\n9:01 INFO b\n9:02 ERROR half")
    assert errors() == 6
    assert errors() == 6
    for number in range(6):
        with (tmp_path / f"{number}.log").open("a") as file:
            file.write(" a line\n")
    assert errors() == 12
