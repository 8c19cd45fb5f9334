"""What one subscriber of a watch is told, many changes in one report."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from shardsched.registry.base import Changes
from shardsched.registry.zookeeper_callback import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.registry.base import Node
    from shardsched.registry.zookeeper_callback import CallbackThread


class Report(Listener[Changes]):
    """Gathers changes until the callback thread has time for them.

    A subscriber is told nothing before its first complete report.
    """

    def __init__(
        self, callback: Callable[[Changes], None], forget: Callable[[Report], None], callbacks: CallbackThread
    ) -> None:
        super().__init__(callback, lambda: forget(self))
        self._callbacks = callbacks
        self._lock = threading.Lock()
        self._nodes: dict[str, Node | None] = {}
        self._complete = False
        self._is_posted = False

    def add(self, changes: Mapping[str, Node | None]) -> None:
        """Report changes."""
        with self._lock:
            self._nodes.update(changes)
            self._post()

    def replace(self, nodes: Mapping[str, Node]) -> None:
        """Report all there is."""
        with self._lock:
            self._nodes = dict(nodes)
            self._complete = True
            self._post()

    def _post(self) -> None:
        if not self._is_posted:
            self._is_posted = True
            self._callbacks.post(self._send)

    def _send(self) -> None:
        with self._lock:
            changes = Changes(self._nodes, self._complete)
            self._nodes, self._complete, self._is_posted = {}, False, False
        self.deliver(changes)
