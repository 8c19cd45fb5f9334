"""Outputs of runs on disk: what is read, and what never is."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.history.log_shelf import MAX_BLOCK_BYTES, MAX_HITS, LogShelf
from shardsched.history.row import RunRow

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLACE = "0123456789ab"
RUN = RunRow(
    run_id="r1",
    job="news",
    uid="u",
    item=0,
    items=1,
    fire=NOW,
    cause="schedule",
    attempt=1,
    executor="e1",
    incarnation="i",
    token=1,
    queued_at=NOW,
)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A folder of executors' state with the output of one run, beside a secret."""
    folder = tmp_path / "state"
    log = folder / PLACE / "e1" / "logs" / "news" / "r1.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(b"line %d\n" % number for number in range(1, 20_001)))
    (tmp_path / "secret.log").write_text("secret")
    return folder


def kept(folder: Path) -> RunRow:
    """The run with its place."""
    path = str(folder / PLACE / "e1" / "logs" / "news" / "r1.log")
    return replace(RUN, log_path=path)


def test_blocks_of_a_log_are_whole_lines_without_gap_or_overlap(state: Path) -> None:
    """From the end to the beginning, all lines are there once, with their numbers."""
    with LogShelf(state).opened(kept(state)) as log:
        assert log is not None
        lines: list[str] = []
        block = log.before(log.size, 5_000)
        while True:
            mine = block.text.splitlines()
            assert mine[0] == f"line {block.first_line}"
            lines[:0] = mine
            if not block.begin:
                break
            block = log.before(block.begin, 5_000)
    assert lines == [f"line {number}" for number in range(1, 20_001)]


@given(sizes=st.lists(st.integers(0, 60), max_size=12), limit=st.integers(16, 200))
def test_following_gives_what_was_written_whatever_the_pieces(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], limit: int
) -> None:
    """Bytes are neither lost nor repeated, and a line that is being written waits for its end."""
    folder = tmp_path_factory.mktemp("log")
    path = folder / PLACE / "e1" / "logs" / "news" / "r1.log"
    path.parent.mkdir(parents=True)
    whole = b"".join(b"\xe5\x95\x86" * (size // 3) + b"x" * (size % 3) + b"\n" for size in sizes) + b"last"
    got, end = "", 0
    for cut in (len(whole) // 3, len(whole) // 2, len(whole)):
        path.write_bytes(whole[:cut])
        is_over = cut == len(whole)
        with LogShelf(folder).opened(kept(folder)) as log:
            assert log is not None
            while True:
                block = log.after(end, limit, is_over=is_over)
                assert is_over or len(block.text.encode()) >= limit - 3 or block.text == "" or block.text.endswith("\n")
                got, end = got + block.text, block.end
                if not block.text:
                    break
    assert end == len(whole)
    if limit > 64:
        assert got == whole.decode()


def test_line_is_found_with_those_about_it(state: Path) -> None:
    """A link to a line works wherever it is; one behind the end shows the end."""
    with LogShelf(state).opened(kept(state)) as log:
        assert log is not None
        for line in (1, 2, 777, 12_345, 20_000):
            block = log.around(line, 8_000)
            assert f"line {line}" in block.text.splitlines()
            assert block.text.splitlines()[line - block.first_line] == f"line {line}"
        assert "line 20000" in log.around(99_999, 8_000).text


def test_search_counts_all_lines_and_shows_the_first(state: Path) -> None:
    """In whatever case, without what steers terminals."""
    path = state / PLACE / "e1" / "logs" / "news" / "r1.log"
    path.write_bytes(path.read_bytes() + b"\x1b[31mPa\x1b[0mge \xe5\x95\x86\xe5\x93\x81\n")
    with LogShelf(state).opened(kept(state)) as log:
        assert log is not None
        found = log.search("LINE 1")
        assert found.count == 11_111
        assert len(found.lines) == MAX_HITS
        assert found.lines[:2] == ((1, "line 1"), (10, "line 10"))
        assert log.search("page \u5546").lines == ((20_001, "Page \u5546\u54c1"),)
        assert len(log.raw(0, 10**9)) <= MAX_BLOCK_BYTES


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../../etc/passwd",
        f"{PLACE}/e1/logs/news/../../../../secret.log",
        f"/x/{PLACE}/e1/logs/other/r1.log",
        f"/x/{PLACE}/e2/logs/news/r1.log",
        f"/x/{PLACE}/e1/logs/news/r2.log",
        "/x/../e1/logs/news/r1.log",
        f"/x/{PLACE}/e1/logs/news/r1.log\0",
        f"/x/{PLACE}/e1/%2e%2e/news/r1.log",
    ],
)
def test_path_of_anything_else_is_not_opened(state: Path, path: str) -> None:
    """Whatever history says, only the run's own output is opened."""
    with LogShelf(state).opened(replace(RUN, log_path=path)) as log:
        assert log is None


@pytest.mark.parametrize(("job", "executor", "run_id"), [("..", "e1", "r1"), ("news", "..", "r1"), ("a/b", "e1", "r1")])
def test_names_that_are_like_paths_lead_nowhere(state: Path, job: str, executor: str, run_id: str) -> None:
    """A job that somebody called .. has no output outside."""
    path = f"/x/{PLACE}/{executor}/logs/{job}/{run_id}.log"
    with LogShelf(state).opened(replace(RUN, job=job, executor=executor, run_id=run_id, log_path=path)) as log:
        assert log is None


def test_links_and_pipes_are_not_followed(state: Path, tmp_path: Path) -> None:
    """Neither a file nor a folder on the way may be a link, and what is no file is not read."""
    logs = state / PLACE / "e1" / "logs"
    (logs / "news" / "r2.log").symlink_to(tmp_path / "secret.log")
    os.mkfifo(logs / "news" / "r3.log")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "r4.log").write_text("secret")
    (logs / "linked").symlink_to(outside)
    shelf = LogShelf(state)
    for job, run_id in (("news", "r2"), ("news", "r3"), ("linked", "r4")):
        with shelf.opened(replace(RUN, job=job, run_id=run_id, log_path=str(logs / job / f"{run_id}.log"))) as log:
            assert log is None
    with shelf.opened(kept(state)) as log:
        assert log is not None
