"""Starts the processes of this package; run by path, never imported.

``launch.py warden FD EXECUTOR_PID`` is run isolated (``-I -S``): it imports the warden without running
``shardsched/__init__``, which would bring in what the warden must not depend on. The other roles get the import path
of the executor, so that they see the same code, and one JSON object that says the rest.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType


def _import_bare() -> None:
    """Put packages without content in the place of ours, so that their modules import one by one."""
    folder = Path(__file__).resolve().parent
    for name, path in (("shardsched", folder.parent), ("shardsched.execution", folder)):
        package = ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package


def main(arguments: list[str]) -> None:
    """Run one role.

    Args:
        arguments: The role and what it needs.
    """
    role = arguments[0]
    if role == "warden":
        _import_bare()
        from shardsched.execution.warden import main as run_warden  # noqa: PLC0415 - not before the line above

        run_warden(int(arguments[1]), int(arguments[2]))
        return
    order = json.loads(arguments[1])
    if role == "forkserver":
        os.setsid()
    sys.path[:] = order["paths"]
    from shardsched.execution import forkserver  # noqa: PLC0415 - found by the path set above

    if role == "forkserver":
        forkserver.serve(order)
    else:
        forkserver.run_alone(order)


if __name__ == "__main__":
    main(sys.argv[1:])
