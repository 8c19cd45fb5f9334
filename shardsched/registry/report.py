"""What one subscriber of a watch is told: many changes become one report."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from shardsched.registry.base import Changes
from shardsched.registry.callback import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.registry.base import Node
    from shardsched.registry.callback import CallbackQueue


class Report(Listener[Changes]):
    """Gathers changes of one prefix until its subscriber has time for them.

    Whoever adds to it does so in the order in which the changes happened, so that no report goes back in time.

    Attributes:
        prefix: What is watched: this path and its direct children.
    """

    def __init__(
        self,
        prefix: str,
        callback: Callable[[Changes], None],
        forget: Callable[[Report], None],
        callbacks: CallbackQueue,
    ) -> None:
        super().__init__(callback, lambda: forget(self))
        self.prefix = prefix
        self._callbacks = callbacks
        self._lock = threading.Lock()
        self._nodes: dict[str, Node | None] = {}
        self._is_complete = False
        self._is_posted = False

    def add(self, changes: Mapping[str, Node | None]) -> None:
        """Report what changed."""
        with self._lock:
            self._nodes.update(changes)
            self._post()

    def replace(self, nodes: Mapping[str, Node]) -> None:
        """Report all there is, whatever was to be reported before."""
        with self._lock:
            self._nodes = dict(nodes)
            self._is_complete = True
            self._post()

    def _post(self) -> None:
        if not self._is_posted:
            self._is_posted = True
            self._callbacks.post(self._send)

    def _send(self) -> None:
        with self._lock:
            changes = Changes(self._nodes, self._is_complete)
            self._nodes, self._is_complete, self._is_posted = {}, False, False
        self.deliver(changes)
