"""A file of JSON records, one a line, that survives the death of its writer."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class JsonLines:
    """Records appended to one file by one writer at a time.

    A writer that is killed in the middle of a line leaves it torn. The next writer ends that line first, and readers
    pass over what is not a record, so a torn line costs its own record and no other.

    Attributes:
        path: The file; it is made with its folder by the first record.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_mended = False

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record with one system call."""
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            if not self._is_mended and self._is_torn(descriptor):
                line = b"\n" + line
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
        self._is_mended = True

    @staticmethod
    def _is_torn(descriptor: int) -> bool:
        size = os.fstat(descriptor).st_size
        return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the records that are whole."""
        if not self.path.exists():
            return
        for line in self.path.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record
