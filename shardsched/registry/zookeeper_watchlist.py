"""The watches of one registry, one for each prefix, whoever subscribes to it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from shardsched.registry.report import Report
from shardsched.registry.zookeeper_watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.registry.base import Changes, Subscription
    from shardsched.registry.callback import CallbackThread
    from shardsched.registry.zookeeper_client import Client
    from shardsched.registry.zookeeper_path import Chroot


class WatchList:
    """Begins all watches anew at every connection, and ends those that nobody needs."""

    def __init__(self, chroot: Chroot, callbacks: CallbackThread) -> None:
        self._chroot = chroot
        self._callbacks = callbacks
        self._lock = threading.RLock()
        self._client: Client | None = None
        self._watches: dict[str, Watch] = {}

    def connected(self, client: Client) -> None:
        """Read everything anew."""
        with self._lock:
            self._client = client
            for watch in self._watches.values():
                watch.begin(client)

    def disconnected(self) -> None:
        """Stop reading until the next connection."""
        with self._lock:
            self._client = None
            for watch in self._watches.values():
                watch.suspend()

    def subscribe(self, prefix: str, callback: Callable[[Changes], None]) -> Subscription:
        """Report what is at a prefix, now and whenever it changes."""
        report = Report(prefix, callback, self._unsubscribe, self._callbacks)
        with self._lock:
            watch = self._watches.get(prefix)
            if watch is not None:
                watch.add(report)
                return report
            watch = self._watches[prefix] = Watch(prefix, self._chroot)
            watch.add(report)
            if self._client is not None:
                watch.begin(self._client)
        return report

    def _unsubscribe(self, report: Report) -> None:
        with self._lock:
            watch = self._watches.get(report.prefix)
            if watch is None or not watch.remove(report):
                return
            del self._watches[report.prefix]
            # The servers keep one watch for a connection and path, so those of the others go with ours.
            removed = watch.end()
            for other in self._watches.values():
                for path in removed:
                    other.rearm(path)
