"""A client in a process of its own, to be frozen by a test: ``frozen_client URL TIMEOUT_S``.

It makes ``/fence``, prints ``ready``, renews, and prints each change of its session's state. With every renewal it counts
``/count`` up behind a check of its fence, which must never be done once the fence has gone.
"""

from __future__ import annotations

import sys
import threading

from shardsched.errors import RegistryError
from shardsched.registry.base import Check, Create, Put
from shardsched.registry.url import open_registry


def say(text: str) -> None:
    """Print a line for the test to read."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(url: str, timeout_s: float) -> None:
    """Renew until standard input ends."""
    over = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        over.set()

    with open_registry(url, session_timeout_s=timeout_s) as registry:
        registry.transact([Create("/fence", ephemeral=True)])
        registry.on_session(lambda state: say(str(state)))
        registry.renew(Check("/fence")).result(10)
        say("ready")
        threading.Thread(target=wait_for_end, daemon=True).start()
        while not over.wait(timeout_s / 20):
            try:
                registry.submit([Check("/fence"), Put("/count", b"counted")])
                registry.renew(Check("/fence")).result(10)
            except RegistryError:
                continue


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
