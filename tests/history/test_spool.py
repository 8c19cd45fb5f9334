"""What is kept on disk comes back in order, whatever happened to the process and the disk."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from shardsched.history import spool as module
from shardsched.history.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that does not exist yet."""
    return tmp_path / "state" / "spool"


def lines(*numbers: int) -> list[bytes]:
    """Return numbered lines."""
    return [b"line %d\n" % number for number in numbers]


def drain(spool: Spool, count: int = 3) -> list[bytes]:
    """Return all there is, so many at a time."""
    found: list[bytes] = []
    while some := spool.peek(count):
        assert len(some) <= count
        found += some
        spool.advance()
    return found


def test_lines_come_back_in_order_while_others_are_added(folder: Path) -> None:
    """First in, first out."""
    spool = Spool(folder)
    assert spool.append(lines(0, 1, 2, 3)) == ""
    assert spool.peek(3) == lines(0, 1, 2)
    assert spool.append(lines(4)) == ""
    assert spool.peek(2) == lines(0, 1)
    spool.advance()
    assert drain(spool) == lines(2, 3, 4)
    assert spool.size_bytes == 0
    assert list(folder.iterdir()) == []
    assert spool.append(lines(5)) == ""
    assert drain(spool) == lines(5)


def test_what_was_not_advanced_over_is_there_at_the_next_start(folder: Path) -> None:
    """A process that ends in between loses nothing; a segment is read again from its beginning."""
    first = Spool(folder)
    first.append(lines(0, 1, 2))
    first.peek(1)
    first.advance()
    first.close()
    second = Spool(folder)
    second.append(lines(3))
    assert drain(second) == lines(0, 1, 2, 3)


def test_segments_follow_each_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read is deleted before all is read."""
    monkeypatch.setattr(module, "SEGMENT_BYTES", 20)
    spool = Spool(folder)
    for number in range(12):
        spool.append(lines(number))
    assert len(list(folder.iterdir())) == 4
    assert spool.peek(100) == lines(0, 1, 2)
    spool.advance()
    assert len(list(folder.iterdir())) == 3
    spool.close()
    assert drain(Spool(folder)) == lines(*range(3, 12))


def test_unfinished_last_line_is_passed_over(folder: Path) -> None:
    """A process killed in the middle of a write."""
    spool = Spool(folder)
    spool.append(lines(0))
    (path,) = folder.iterdir()
    with path.open("ab") as file:
        file.write(b"half a li")
    spool.close()
    again = Spool(folder)
    again.append(lines(1))
    assert drain(again) == lines(0, 1)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"no line feed", b"\0" * 100, b"\n\n"])
def test_segment_that_holds_no_record_goes(folder: Path, content: bytes) -> None:
    """It does not hold up what follows."""
    folder.mkdir(parents=True)
    (folder / "000000000001-1.jsonl").write_bytes(content)
    spool = Spool(folder)
    spool.append(lines(1))
    assert drain(spool)[-1:] == lines(1)
    assert list(folder.iterdir()) == []


def test_full_spool_drops_the_newest_and_takes_again_when_it_is_read(folder: Path) -> None:
    """What is older is kept."""
    spool = Spool(folder, limit_bytes=20)
    assert spool.append(lines(0, 1)) == ""
    assert "limit" in spool.append(lines(2))
    assert drain(spool) == lines(0, 1)
    assert spool.append(lines(3)) == ""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_drops_the_newest_and_leaves_no_half_line(small_disk: Path) -> None:
    """What fits is kept whole, and lines that come later do not run into a piece of an earlier one."""
    spool = Spool(small_disk)
    kept = 0
    while not (reason := spool.append([b"%06d" % kept + b"x" * 993 + b"\n"])):
        kept += 1
    assert "No space left" in reason
    assert kept > 50
    assert "No space left" in spool.append([b"y" * 70_000 + b"\n"])
    found = drain(spool)
    assert [line[:6] for line in found] == [b"%06d" % number for number in range(kept)]
    assert spool.append(lines(1)) == ""
    assert drain(spool) == lines(1)
    spool.close()


def test_folder_that_cannot_be_made_is_a_reason_and_no_exception(tmp_path: Path) -> None:
    """A read-only or misused place costs records, nothing else."""
    (tmp_path / "file").touch()
    spool = Spool(tmp_path / "file" / "spool")
    assert "Not a directory" in spool.append(lines(0))
    assert spool.peek(1) == []
    spool.close()


def test_two_spools_share_a_folder(folder: Path) -> None:
    """Neither reads nor deletes what the other still holds; what one leaves, the next start takes over."""
    one, other = Spool(folder), Spool(folder)
    one.append(lines(1))
    other.append(lines(2))
    third = Spool(folder)
    assert third.peek(9) == []
    assert drain(one) == lines(1)
    one.append(lines(3))
    one.close()
    assert drain(Spool(folder)) == lines(3)
    assert drain(other) == lines(2)


def test_files_are_for_their_owner_alone(folder: Path) -> None:
    """Parameters of runs may hold what a crawler logs in with."""
    Spool(folder).append(lines(0))
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
