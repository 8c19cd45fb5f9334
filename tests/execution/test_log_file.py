"""The log of a run keeps both ends of its output within its limit."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from shardsched.execution.log_file import LogFile

NOTE = re.compile(rb"\n\.\.\.\[(\d+) bytes dropped\]\.\.\.\n")


@given(st.lists(st.integers(0, 3000), max_size=12), st.integers(1024, 6000))
@example([512], 1024)
@example([960], 1024)
@example([961], 1024)
def test_log_holds_the_output_or_both_ends_of_it(sizes: list[int], cap: int) -> None:
    """Whatever the pieces, the file is the output, or its start, the number of missing bytes, and its end."""
    output = bytes(number % 251 for number in range(sum(sizes)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "deep", "run.log")
        log = LogFile(path, cap)
        rest = output
        for size in sizes:
            log.write(rest[:size])
            rest = rest[size:]
        dropped = log.close()
        kept = path.read_bytes()
    assert len(kept) <= cap
    if not dropped:
        assert kept == output
        return
    head, told, tail = NOTE.split(kept, maxsplit=1)
    assert int(told) == dropped
    assert len(head) + dropped + len(tail) == len(output)
    assert output.startswith(head)
    assert output.endswith(tail)
    assert len(head) == cap // 2
    assert len(tail) >= cap // 2 - 64


def test_log_shows_the_first_half_while_the_run_goes_on(tmp_path: Path) -> None:
    """One can look into the log of a running item."""
    log = LogFile(tmp_path / "run.log", 4096)
    log.write(b"so far\n")
    assert (tmp_path / "run.log").read_bytes() == b"so far\n"
    log.close()


def test_log_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Output may hold what the crawler logs in with."""
    LogFile(tmp_path / "run.log", 4096).close()
    assert (tmp_path / "run.log").stat().st_mode & 0o777 == 0o600


def test_log_with_nowhere_to_go_counts_what_it_drops(tmp_path: Path) -> None:
    """No place to write is no error of the run."""
    (tmp_path / "file").touch()
    log = LogFile(tmp_path / "file" / "run.log", 4096)
    assert not log.is_written
    log.write(b"lost")
    assert log.close() == 4


def test_log_on_a_full_disk_counts_what_it_drops() -> None:
    """A disk without room is no error of the run."""
    log = LogFile(Path("/dev/full"), 4096)
    log.write(b"x" * 10_000)
    assert log.close() >= 10_000
