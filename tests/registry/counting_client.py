"""A client in a process of its own, which counts a node up: ``counting_client URL TIMES``."""

from __future__ import annotations

import sys

from shardsched.registry.base import Committed, Put
from shardsched.registry.url import open_registry


def main(url: str, times: int) -> None:
    """Read, add one, and write with the version that was read, until it was done so often."""
    with open_registry(url) as registry:
        while times:
            node = registry.get("/counter", fresh=True)
            if node is None:
                raise SystemExit("there is no counter")
            value = str(int(node.value) + 1).encode()
            times -= isinstance(registry.transact([Put("/counter", value, node.version)], timeout_s=40), Committed)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
