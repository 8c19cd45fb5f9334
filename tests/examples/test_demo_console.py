"""The console of the demo is told of, and never in its way."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import click
import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.demo.children import Children
from shardsched.demo.console import DemoConsole, Door, door, free_port
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Children]:
    """A family that is ended after the test."""
    family = Children(tmp_path, SYSTEM_CLOCK)
    yield family
    family.stop_all(grace_s=10.0)


def test_door_is_found_when_the_log_has_address_and_code() -> None:
    """In whichever order; one of them alone is not enough."""
    address = "2026-12-01T09:47:13.106Z INFO    the console answers at http://127.0.0.1:8321\n"
    code = "nobody can sign in yet; open /setup and give the code AUFDL-VXRY9-3JR9K-58WCB (valid for an hour, once)\n"
    found = Door(address="http://127.0.0.1:8321/setup", code="AUFDL-VXRY9-3JR9K-58WCB")
    assert door(address + code) == door(code + address) == found
    assert door(address) is door(code) is door("") is None


def test_port_is_another_one_when_the_wanted_is_taken() -> None:
    """Two demos at once do not meet."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = int(listener.getsockname()[1])
        assert free_port(taken) not in {0, taken}
    assert free_port(taken) == taken


def test_console_that_does_not_start_is_told_once(children: Children) -> None:
    """In one line with the reason, and the demo goes on."""
    console = DemoConsole(children)
    assert console.news() is None
    console.start(os.environ | {"SHARDSCHED_HISTORY": "none"})
    news = click.unstyle(eventually(console.news, 60.0) or "")
    assert news.startswith("console    none; it says: shardsched: the console keeps its users in the history database")
    assert (console.news(), console.door) == (None, None)
