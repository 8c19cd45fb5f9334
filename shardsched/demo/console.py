"""The console that goes with the demo, which goes on without it."""

from __future__ import annotations

import re
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.demo.children import Children

NAME = "console"
WANTED_PORT = 8321
"""Not the port of `shardsched console`, which may serve another fleet."""
_HOST = "127.0.0.1"
_ADDRESS = re.compile(r"the console answers at (http://\S+)")
_CODE = re.compile(r"give the code (\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """How somebody gets into the console."""

    address: str
    """Where the first user is made."""
    code: str
    """The one-time code that is asked for there."""


def door(log: str) -> Door | None:
    """Return how to get in, from what a console has logged; None if it does not say so yet."""
    address, code = _ADDRESS.search(log), _CODE.search(log)
    return Door(address=f"{address[1]}/setup", code=code[1]) if address and code else None


def free_port(wanted: int = WANTED_PORT) -> int:
    """Return a port of the loopback that nobody listens at: the wanted one if it may be."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, wanted))
        except OSError:
            listener.bind((_HOST, 0))
        return int(listener.getsockname()[1])


class DemoConsole:
    """The console's process. **Thread:** one.

    Attributes:
        door: How to get in; None while it starts and when it has ended.
    """

    def __init__(self, children: Children) -> None:
        self._children = children
        self._is_watched = False
        self.door: Door | None = None

    def start(self, env: Mapping[str, str]) -> None:
        """Start it, without waiting for it."""
        command = [sys.executable, "-m", "shardsched", "console", "--host", _HOST, "--port", str(free_port())]
        self._children.start(NAME, command, env)
        self._is_watched = True

    def news(self) -> str | None:
        """Return a line for people when it has begun to answer, or has ended by itself; each is told once."""
        if not self._is_watched:
            return None
        if not self._children.is_alive(NAME):
            self._is_watched, self.door = False, None
            return f"console    none; it says: {self._children.last_words(NAME)}"
        if self.door is None:
            self.door = door(self._children.log(NAME))
            if self.door is not None:
                return click.style(f"console    {self.door.address} and give the code {self.door.code}", bold=True)
        return None
