"""Records of the demo's job survive the death of whoever writes them."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from examples.json_lines import JsonLines
from shardsched.demo.record import RecordFolder

RUN = {
    "job": "pydoc",
    "item": 1,
    "executor": "e1",
    "fire": "2026-12-01T08:00:00+00:00",
    "run_id": "r1",
    "attempt": 1,
    "cause": "schedule",
    "token": 7,
}
START = {"event": "start", **RUN, "start": "2026-12-01T08:00:00.100000+00:00"}
END = {"event": "end", **RUN, "end": "2026-12-01T08:00:03+00:00", "finished": True}
PAGE = {**RUN, "url": "http://127.0.0.1/os.html", "ended": "2026-12-01T08:00:01+00:00"}


def test_json_lines_read_gives_back_what_was_appended(tmp_path: Path) -> None:
    """Records come back in order, whatever their text."""
    lines = JsonLines(tmp_path / "folder" / "a.jsonl")
    records: list[dict[str, object]] = [{"n": 1}, {"text": "line\nbreak, é, 漢"}, {"n": 3}]
    for record in records:
        lines.append(record)
    assert list(lines.read()) == records


def test_json_lines_read_of_no_file_is_empty(tmp_path: Path) -> None:
    """The first run finds nothing, and that is no error."""
    assert list(JsonLines(tmp_path / "none.jsonl").read()) == []


@given(st.data())
def test_json_lines_append_after_a_torn_line_loses_that_line_only(data: st.DataObject) -> None:
    """However much of its last line a killed writer got out, all other records stay."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        JsonLines(path).append({"n": 1})
        torn = json.dumps({"n": 2, "text": "é"}, ensure_ascii=False).encode()
        kept = data.draw(st.integers(1, len(torn) - 1))
        with path.open("ab") as file:
            file.write(torn[:kept])
        assert list(JsonLines(path).read()) == [{"n": 1}]
        JsonLines(path).append({"n": 3})
        assert list(JsonLines(path).read()) == [{"n": 1}, {"n": 3}]


APPEND_FOR_EVER = """
import itertools, pathlib, sys
from examples.json_lines import JsonLines
lines = JsonLines(pathlib.Path(sys.argv[1]))
for number in itertools.count():
    lines.append({"n": number, "text": "x" * 500})
"""


def test_json_lines_of_killed_writers_are_whole_in_order(tmp_path: Path) -> None:
    """Writers killed in the middle, one after the other, leave records that begin at 0 and have no gap."""
    path = tmp_path / "a.jsonl"
    for _ in range(3):
        size = path.stat().st_size if path.exists() else 0
        with subprocess.Popen([sys.executable, "-c", APPEND_FOR_EVER, str(path)]) as writer:
            while (path.stat().st_size if path.exists() else 0) < size + 20_000:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    writer.wait(0.005)
                assert writer.returncode is None
            writer.kill()
    numbers = [record["n"] for record in JsonLines(path).read()]
    assert numbers.count(0) == 3
    assert all(later in (earlier + 1, 0) for earlier, later in itertools.pairwise(numbers))


def test_record_folder_read_joins_starts_and_ends_and_reads_on(tmp_path: Path) -> None:
    """A run is known from its start, gets its end when that is written, and pages add up."""
    folder = RecordFolder(tmp_path)
    assert folder.read().runs == ()
    runs, pages = JsonLines(tmp_path / "runs-1.jsonl"), JsonLines(tmp_path / "pages-1.jsonl")
    runs.append(START)
    pages.append(PAGE)
    first = folder.read()
    assert [(run.run_id, run.token, run.is_finished) for run in first.runs] == [("r1", 7, False)]
    runs.append(END)
    pages.append(PAGE | {"url": "http://127.0.0.1/re.html"})
    second = folder.read()
    assert [run.is_finished for run in second.runs] == [True]
    assert [page.url[-7:] for page in second.pages] == ["os.html", "re.html"]
    assert second.unreadable_count == 0


def test_record_folder_read_leaves_a_line_that_is_being_written(tmp_path: Path) -> None:
    """Half a line is no record yet, and a whole one once the rest is there."""
    line = json.dumps(START).encode() + b"\n"
    path = tmp_path / "runs-1.jsonl"
    path.write_bytes(line[:20])
    folder = RecordFolder(tmp_path)
    assert folder.read().runs == ()
    with path.open("ab") as file:
        file.write(line[20:])
    records = folder.read()
    assert len(records.runs) == 1
    assert records.unreadable_count == 0


def test_record_folder_read_counts_what_is_no_record(tmp_path: Path) -> None:
    """Torn lines, other JSON and an end without a start are counted and harm nothing else."""
    path = tmp_path / "runs-1.jsonl"
    path.write_bytes(b'{"torn": \n[1]\n{"event":"end","run_id":"other"}\n' + json.dumps(START).encode() + b"\n")
    records = RecordFolder(tmp_path).read()
    assert len(records.runs) == 1
    assert records.unreadable_count == 3
