"""Serving the console: one process, as there is one look at the fleet for all viewers, and threads for requests."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, cast

from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger as GunicornLogger

from shardsched.errors import ShardschedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask

    from console.context import Context

logger = logging.getLogger(__name__)

THREADS = 16
GRACE_S = 5
SWITCH_S = 0.001
_APP_LOAD_ERROR = 4
"""The exit code of a worker after which gunicorn gives up instead of starting another."""


class _Logger(GunicornLogger):  # type: ignore[misc]  # it has no types
    """Gunicorn's, written like all other lines of the log."""

    def setup(self, cfg: Any) -> None:
        """Leave handlers and levels to the root logger."""
        self.loglevel = logging.WARNING
        self.error_log.setLevel(logging.WARNING)
        self.error_log.propagate = True


class _Server(BaseApplication):  # type: ignore[misc]  # it has no types
    def __init__(self, make_app: Callable[[], Flask], options: dict[str, Any]) -> None:
        self._make_app = make_app
        self._options = options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        try:
            return self._make_app()
        except ShardschedError as error:
            logger.error("%s", error, extra={"event": "console_not_started"})  # noqa: TRY400 - one line says it all
            sys.exit(_APP_LOAD_ERROR)


def serve(make_app: Callable[[], Flask], host: str, port: int, *, workers_tmp: str | None = None) -> None:
    """Serve until a signal ends it.

    Args:
        make_app: Makes the console; called in the process that serves, so that no connection crosses a fork.
        host: Address to listen at.
        port: Port to listen at.
        workers_tmp: Folder of gunicorn's heartbeat file.
    """
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    options: dict[str, Any] = {
        "bind": place,
        "workers": 1,
        "worker_class": "gthread",
        "threads": THREADS,
        "graceful_timeout": GRACE_S,
        "keepalive": 15,
        "control_socket_disable": True,
        "logger_class": _Logger,
        "forwarded_allow_ips": "",  # what proxies say is taken by ProxyFix only, and only if it is told to
        "worker_tmp_dir": workers_tmp,
        "when_ready": lambda _server: logger.info(
            "the console answers at http://%s", place, extra={"event": "console_ready"}
        ),
        "worker_exit": lambda _server, worker: _close(getattr(worker, "wsgi", None)),
    }
    # Requests share the interpreter with the look at the fleet: whoever waits for it has it after 1 ms, not 5.
    sys.setswitchinterval(SWITCH_S)
    _Server(make_app, options).run()


def _close(app: Any) -> None:
    if app is not None:
        parts = cast("Context", app.extensions["console"])
        parts.loads.close()
        parts.fleet.close()
        parts.store.close()
        parts.people.close()
        parts.history.close()
