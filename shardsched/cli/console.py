"""``shardsched console``: the web console, and its users."""

from __future__ import annotations

import importlib.util
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shardsched.cli.connection import OPEN_S, Place, registry_options
from shardsched.cli.log import configure_logging
from shardsched.cli.output import json_option, write_json, write_table
from shardsched.core.paths import Paths
from shardsched.errors import SettingsError
from shardsched.settings import NO_HISTORY, history_url, namespace_name, registry_url, state_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from flask import Flask

    from console.fleet import Link
    from shardsched.people import People

_NEEDED = ("flask", "flask_smorest", "gunicorn", "argon2")


def history_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option that says which history database, as its argument ``history``."""
    help_text = "URL of the history database [SHARDSCHED_HISTORY; default: beside the registry]."
    return click.option("--history", help=help_text)(command)


@click.group(invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(1, 65535), default=8350, show_default=True, help="Port to listen at.")
@click.option("--log-json", is_flag=True, help="Log as JSON, one object a line.")
@click.option("--state-dir", type=click.Path(path_type=Path), help="Folder of this machine's executors, for outputs.")
@history_option
@registry_options
@click.pass_context
def console(
    ctx: click.Context,
    *,
    host: str,
    port: int,
    log_json: bool,
    state_dir: Path | None,
    history: str | None,
    place: Place,
) -> None:
    """Serve the web console.

    The first user is made in the browser with a one-time code that the log shows, or by 'shardsched console user add'.
    """
    if any(importlib.util.find_spec(name) is None for name in _NEEDED):
        raise click.ClickException(
            "the console needs more libraries: install them with pip install 'shardsched[console]'"
        )
    if ctx.invoked_subcommand is not None:
        return
    configure_logging(as_json=log_json, is_verbose=False)
    logging.getLogger("console").setLevel(logging.INFO)
    # Imported here: `shardsched console --help` and a wrong option need none of it.
    from console.app import create_app  # noqa: PLC0415
    from console.server import serve  # noqa: PLC0415
    from console.setting import settings_from_environment  # noqa: PLC0415
    from shardsched.history.engine import PATIENCE_S  # noqa: PLC0415
    from shardsched.history.query import History  # noqa: PLC0415
    from shardsched.people import People  # noqa: PLC0415
    from shardsched.registry.url import redacted_url  # noqa: PLC0415

    url, namespace = registry_url(place.registry), namespace_name(place.namespace)
    settings = settings_from_environment(namespace, redacted_url(url), state_folder())
    if state_dir is not None:
        settings = replace(settings, state_dir=state_dir)
    database = _history_url(place, history)

    def make_app() -> Flask:
        people = People(database, namespace, patience_s=PATIENCE_S)
        past = History(database, namespace=namespace, patience_s=PATIENCE_S)
        return create_app(settings, partial(_connect, url, namespace), people, past)

    serve(make_app, host, port)


def _connect(url: str, namespace: str) -> Link:
    from console.fleet import Link  # noqa: PLC0415 - in the process that serves
    from shardsched.admin import Admin  # noqa: PLC0415
    from shardsched.admin.live import LiveFleet  # noqa: PLC0415
    from shardsched.errors import ShardschedError  # noqa: PLC0415
    from shardsched.registry.url import open_registry  # noqa: PLC0415

    client = open_registry(url, needs_write=False)
    try:
        client.open(OPEN_S)
    except ShardschedError:
        client.close()
        raise
    paths = Paths(namespace)
    return Link(admin=Admin(client, paths), live=LiveFleet(client, paths), close=client.close)


def _history_url(place: Place, history: str | None) -> str:
    url = history_url(history, registry_url(place.registry))
    if url == NO_HISTORY:
        raise SettingsError("the console keeps its users in the history database; give --history a URL")
    return url


def _people(place: Place, history: str | None) -> People:
    from shardsched.people import People  # noqa: PLC0415 - its library loads only when needed

    return People(_history_url(place, history), namespace_name(place.namespace))


@console.group()
def user() -> None:
    """See and make users of the console, also when nobody can sign in."""


@user.command("list")
@json_option
@history_option
@registry_options
def list_users(*, place: Place, history: str | None, as_json: bool) -> None:
    """List the users."""
    people = _people(place, history)
    users, _count = people.users.page(limit=10_000)
    people.close()
    if as_json:
        write_json([{"name": one.name, "role": one.role.value} for one in users])
    else:
        write_table(("NAME", "ROLE"), [(one.name, one.role.value) for one in users])


@user.command("add")
@click.argument("name")
@click.option("--role", type=click.Choice(["viewer", "operator", "admin"]), default="viewer", show_default=True)
@click.option("--password-file", type=click.File(), help="File with the password, - for standard input; else asked.")
@history_option
@registry_options
def add_user(*, place: Place, history: str | None, name: str, role: str, password_file: Any | None) -> None:
    """Make a user."""
    from shardsched.people.role import Role  # noqa: PLC0415 - its library loads only when needed

    people = _people(place, history)
    people.users.create(name, Role(role), _password_hash(name, password_file))
    people.close()
    click.echo(f"user {name} can sign in as {role}")


@user.command("password")
@click.argument("name")
@click.option("--password-file", type=click.File(), help="File with the password, - for standard input; else asked.")
@history_option
@registry_options
def set_password(*, place: Place, history: str | None, name: str, password_file: Any | None) -> None:
    """Give a user another password; all their sign-ins and tokens end."""
    from shardsched.people.error import AccountNotFoundError  # noqa: PLC0415 - its library loads only when needed

    people = _people(place, history)
    found = people.users.named(name)
    if found is None:
        raise AccountNotFoundError(kind="user", name=name)
    people.users.update(found.id, {"password_hash": _password_hash(found.name, password_file)})
    people.tokens.revoke_all(found.id)
    people.close()
    click.echo(f"user {found.name} has another password")


def _password_hash(name: str, file: Any | None) -> str:
    from console.password import Passwords, check_password  # noqa: PLC0415 - its library loads only when needed

    given = click.prompt("Password", hide_input=True, confirmation_prompt=True) if file is None else file.read()
    return Passwords().hash(check_password(str(given).strip("\r\n"), name))
