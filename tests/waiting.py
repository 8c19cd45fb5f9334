"""Waiting for what other threads, processes and servers bring about, always with a deadline."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.registry.base import Changes, Node

Value = TypeVar("Value")

_NEVER = threading.Event()


def eventually(condition: Callable[[], Value], timeout_s: float = 10.0, pause_s: float = 0.02) -> Value:
    """Return the condition's first true value.

    Raises:
        AssertionError: It did not become true in time.
    """
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not so after {timeout_s:g} s; last it was {value!r}")
        _NEVER.wait(pause_s)
    return value


def pass_time(seconds: float) -> None:
    """Let real time pass, where a server's own clock is what is being tried."""
    _NEVER.wait(seconds)


class Recorder(Generic[Value]):
    """A callback that keeps what it was called with."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._changed = threading.Condition()

    def __call__(self, value: Value) -> None:
        """Keep a value."""
        with self._changed:
            self.values.append(value)
            self._changed.notify_all()

    def wait_for(self, condition: Callable[[list[Value]], bool], timeout_s: float = 10.0) -> None:
        """Return when the values kept so far fulfil the condition.

        Raises:
            AssertionError: They did not in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self.values), timeout_s):
                raise AssertionError(f"not so after {timeout_s:g} s; kept so far: {self.values!r}")


class Picture:
    """A watch callback that keeps the state which the reports add up to."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.complete_count = 0
        self.report_count = 0
        self._changed = threading.Condition()

    def __call__(self, changes: Changes) -> None:
        """Apply a report."""
        with self._changed:
            self.report_count += 1
            if changes.complete:
                self.complete_count += 1
                self.nodes.clear()
            for path, node in changes.nodes.items():
                if node is None:
                    self.nodes.pop(path, None)
                else:
                    self.nodes[path] = node
            self._changed.notify_all()

    def wait_for(self, condition: Callable[[Picture], bool], timeout_s: float = 10.0) -> None:
        """Return when the picture fulfils the condition.

        Raises:
            AssertionError: It did not in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self), timeout_s):
                raise AssertionError(f"not so after {timeout_s:g} s; the picture is {sorted(self.nodes)!r}")
