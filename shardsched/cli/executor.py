"""``shardsched executor``: the executors of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from shardsched.cli.connection import open_admin, registry_options, who_asks
from shardsched.cli.journal import tell
from shardsched.cli.output import json_option, write_json, write_line
from shardsched.cli.screen import write_executors

if TYPE_CHECKING:
    from shardsched.cli.connection import Place


@click.group()
def executor() -> None:
    """See and drain executors."""


@executor.command("list")
@registry_options
@json_option
def list_executors(place: Place, *, as_json: bool) -> None:
    """List executors, with what they own and run."""
    with open_admin(place) as admin:
        status = admin.status()
    if as_json:
        write_json({"executors": [one.as_json() for one in status.executors]})
    elif status.executors:
        write_executors(status)
    else:
        write_line("no executor lives; start one with 'shardsched run MODULE'")


@executor.command()
@click.argument("name")
@click.option("--now", is_flag=True, help="Stop its running items too, to be run elsewhere.")
@click.option("--reason", default="", help="Why, for others to read.")
@registry_options
def drain(name: str, reason: str, place: Place, *, now: bool) -> None:
    """Take an executor's items away, until it is undrained and over restarts under the same name.

    What runs there finishes, unless --now is given.
    """
    with open_admin(place) as admin:
        is_changed = admin.executors.drain(name, now=now, reason=reason, by=who_asks())
    write_line(f"{name}: drained" if is_changed else f"{name}: was drained already")
    if is_changed:
        tell(place, "command_drain", executor=name, message=reason, now=now)


@executor.command()
@click.argument("name")
@registry_options
def undrain(name: str, place: Place) -> None:
    """Give a drained executor items again."""
    with open_admin(place) as admin:
        is_changed = admin.executors.undrain(name)
    write_line(f"{name}: takes items again" if is_changed else f"{name}: was not drained")
    if is_changed:
        tell(place, "command_undrain", executor=name)
