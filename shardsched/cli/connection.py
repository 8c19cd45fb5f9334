"""Reaching the registry from the command line."""

from __future__ import annotations

import functools
import getpass
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from shardsched.core.paths import Paths
from shardsched.errors import RegistryUnavailableError
from shardsched.settings import namespace_name, registry_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.admin import Admin

OPEN_S = 7.0
"""How long to try to reach the registry, in seconds; a person waits at the terminal."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which registry and which namespace, as the command line says."""

    registry: str | None
    """URL as given, None for that of the environment or the default."""
    namespace: str | None
    """Likewise."""


def registry_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say which registry and which namespace, as its argument ``place``."""

    @functools.wraps(command)
    def with_place(*args: Any, registry: str | None, namespace: str | None, **options: Any) -> Any:
        return command(*args, place=Place(registry, namespace), **options)

    given = click.option("--namespace", help="Namespace [SHARDSCHED_NAMESPACE; default: shardsched].")(with_place)
    return click.option("--registry", help="Registry's URL [SHARDSCHED_REGISTRY; default: a file of this user].")(given)


@contextmanager
def open_admin(place: Place) -> Iterator[Admin]:
    """Reach the registry, and leave it afterwards.

    Raises:
        RegistryUnavailableError: No answer within `OPEN_S`; the message names the registry without its password.
        SettingsError: The URL or the namespace is refused.
    """
    # Imported here, so that commands that need no registry do not wait for its client libraries.
    from shardsched.admin import Admin  # noqa: PLC0415
    from shardsched.registry.url import open_registry, redacted_url  # noqa: PLC0415

    url = registry_url(place.registry)
    paths = Paths(namespace_name(place.namespace))
    client = open_registry(url)
    try:
        client.open(OPEN_S)
        yield Admin(client, paths)
    except RegistryUnavailableError as error:
        message = f"the registry {redacted_url(url)} does not answer: {error}"
        raise RegistryUnavailableError(message) from error
    finally:
        client.close()


def who_asks() -> str:
    """Return who uses the command line, as is kept with what they ask."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "unknown"
    return f"{user}@{socket.gethostname()}"
