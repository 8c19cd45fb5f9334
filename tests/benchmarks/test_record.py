"""The peers' record keeps what ran."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchmarks.peers import record

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_record_of_two_runs_reads_back_without_the_unfinished_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs read back in order; a line that is still being written is left out."""
    path = tmp_path / "record"
    monkeypatch.setenv("PEER_RECORD", str(path))
    record.write(10.0, "a", moment=10.25)
    record.write(11.0, "b", moment=11.5)
    with path.open("a") as file:
        file.write("12.1 12.0 c")
    wanted = [record.Mark(10.25, 10.0, "a", os.getpid()), record.Mark(11.5, 11.0, "b", os.getpid())]
    assert record.read(path) == wanted


def test_record_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    """Before the first run there is nothing."""
    assert record.read(tmp_path / "none") == []
