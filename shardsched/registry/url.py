"""Which registry a URL names.

=================================================  =====================================================================
``sqlite:///fleet.db``, ``sqlite:////abs/path``    a file; relative to the working folder with three slashes
``postgresql://user:password@host:5432/database``  what libpq takes, parameters included
``zk://user:password@h1:2181,h2:2181/chroot``      see `ZOOKEEPER_PARAMETERS`; credentials of the digest scheme
``memory://name``                                  in this process: the same name is the same registry
=================================================  =====================================================================
"""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import SettingsError
from shardsched.registry.memory import MemoryRegistry, MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.clock import Clock
    from shardsched.registry.base import Registry

ZOOKEEPER_PARAMETERS: Mapping[str, str] = {
    "tls": "1: encrypt (as does giving any of the following)",
    "ca": "file with the authorities (PEM)",
    "certificate": "file with our certificate (PEM)",
    "key": "file with its key (PEM)",
    "verify": "0: take any certificate",
    "check_hostname": "0: do not compare the servers' names",
    "tick": "the servers' tickTime in seconds",
}
"""What may stand behind the ``?`` of a ZooKeeper URL."""

CREDENTIALS_VARIABLE = "SHARDSCHED_ZOOKEEPER_CREDENTIALS"
"""``user:password``, where they shall not stand in the URL."""
CREDENTIALS_FILE_VARIABLE = "SHARDSCHED_ZOOKEEPER_CREDENTIALS_FILE"
"""File that holds them, where they shall not stand in the environment either."""
KEY_PASSWORD_VARIABLE = "SHARDSCHED_ZOOKEEPER_KEY_PASSWORD"  # noqa: S105 - the name of a variable
"""Of the key that encrypts the link to ZooKeeper."""

_ZOOKEEPER_TICK_S = 2.0

_stores: dict[str, MemoryStore] = {}
_stores_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked for, with the URL taken apart as far as all kinds have in common."""

    url: str = field(repr=False)
    rest: str = field(repr=False)
    session_timeout_s: float
    tick_s: float | None
    clock: Clock
    needs_write: bool


def open_registry(
    url: str,
    *,
    session_timeout_s: float = 10.0,
    clock: Clock = SYSTEM_CLOCK,
    tick_s: float | None = None,
    needs_write: bool = True,
) -> Registry:
    """Return the registry that a URL names, not yet connected: call its `open`.

    Args:
        url: See the module.
        session_timeout_s: The wanted session time-out T.
        clock: The machine's clocks.
        tick_s: How coarsely the registry looks at time-outs, where it is not the usual.
        needs_write: Whether opening it fails where we may only read; SQLite and PostgreSQL always need it.

    Raises:
        SettingsError: The URL cannot be read, or its kind is not known.

    Example:
        >>> with open_registry("memory://example") as registry:
        ...     registry.children("/")
        ()
    """
    kind, mark, rest = url.partition("://")
    make = _KINDS.get(kind.lower()) if mark else None
    if make is None:
        known = ", ".join(f"{name}://" for name in _KINDS)
        raise SettingsError(
            f"the registry {redacted_url(url)!a} is of no known kind; begin the URL with one of {known}"
        )
    return make(_Request(url, rest, session_timeout_s, tick_s, clock, needs_write))


_USER = re.compile(r"://[^/]*@")
_SECRET = re.compile(r"((?:password|passwd|secret|sslpassword)=)[^&]*", re.IGNORECASE)


def redacted_url(url: str) -> str:
    """Return a URL in which nothing is left that must not be printed: neither user nor password."""
    return _SECRET.sub(r"\1***", _USER.sub("://***@", url))


def _memory(request: _Request) -> Registry:
    with _stores_lock:
        store = _stores.get(request.rest)
        if store is None:
            store = _stores[request.rest] = MemoryStore(request.clock)
    return MemoryRegistry(store, session_timeout_s=request.session_timeout_s, tick_s=request.tick_s or 0.0)


def _sqlite(request: _Request) -> Registry:
    from shardsched.registry.sql import SqlRegistry  # noqa: PLC0415 - loads its library only where it is used
    from shardsched.registry.sql_sqlite import Sqlite  # noqa: PLC0415 - loads its library only where it is used

    path = sqlite_path(request.rest)
    if path is None:
        raise SettingsError(
            f"the registry {request.url!a} names no file; write sqlite:///fleet.db or sqlite:////folder/fleet.db, and "
            "memory://name for one in memory"
        )
    return SqlRegistry(
        Sqlite(path, request.clock),
        session_timeout_s=request.session_timeout_s,
        tick_s=request.tick_s,
        clock=request.clock,
    )


def sqlite_path(rest: str) -> Path | None:
    """Return the file that an SQLite URL names, given what stands behind its ``://``; None if it names none."""
    if not rest.startswith("/") or rest in {"/", "/:memory:"} or "?" in rest:
        return None
    return Path(unquote(rest[1:])).expanduser()


def _postgresql(request: _Request) -> Registry:
    from shardsched.registry.sql import SqlRegistry  # noqa: PLC0415 - loads its library only where it is used
    from shardsched.registry.sql_postgres import Postgres  # noqa: PLC0415 - loads its library only where it is used

    return SqlRegistry(
        Postgres(f"postgresql://{request.rest}"),
        session_timeout_s=request.session_timeout_s,
        tick_s=request.tick_s,
        clock=request.clock,
    )


def _zookeeper(request: _Request) -> Registry:
    from shardsched.registry.zookeeper import Tls, ZooKeeperRegistry  # noqa: PLC0415 - loads its library only where it is used

    place, _, query = request.rest.partition("?")
    address, slash, chroot = place.partition("/")
    user, _, hosts = address.rpartition("@")
    parameters = _zookeeper_parameters(query)
    tls = None
    if parameters.keys() - {"tick"} and _is_on(parameters.get("tls", "1")):
        tls = Tls(
            ca=parameters.get("ca"),
            certificate=parameters.get("certificate"),
            key=parameters.get("key"),
            key_password=os.environ.get(KEY_PASSWORD_VARIABLE),
            verify=_is_on(parameters.get("verify", "1")),
            check_hostname=_is_on(parameters.get("check_hostname", "1")),
        )
    return ZooKeeperRegistry(
        hosts,
        chroot=unquote(slash + chroot),
        session_timeout_s=request.session_timeout_s,
        tick_s=_tick_s(request, parameters),
        credentials=unquote(user) or os.environ.get(CREDENTIALS_VARIABLE) or _credentials_in_file(),
        tls=tls,
        needs_write=request.needs_write,
        clock=request.clock,
    )


def _credentials_in_file() -> str | None:
    path = os.environ.get(CREDENTIALS_FILE_VARIABLE)
    if not path:
        return None
    try:
        return Path(path).expanduser().read_text().strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the file {path!a} of {CREDENTIALS_FILE_VARIABLE} cannot be read: {error}") from error


def _zookeeper_parameters(query: str) -> dict[str, str]:
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(parameters.keys() - ZOOKEEPER_PARAMETERS.keys())
    if unknown:
        known = ", ".join(ZOOKEEPER_PARAMETERS)
        raise SettingsError(f"the ZooKeeper URL has the parameter {unknown[0]!a}, which is not known; give {known}")
    return parameters


def _tick_s(request: _Request, parameters: Mapping[str, str]) -> float:
    if request.tick_s is not None:
        return request.tick_s
    try:
        return float(parameters.get("tick", _ZOOKEEPER_TICK_S))
    except ValueError:
        raise SettingsError(f"the tick {parameters['tick']!a} of the ZooKeeper URL is no number of seconds") from None


def _is_on(text: str) -> bool:
    if text.lower() not in {"0", "1", "no", "yes", "false", "true"}:
        raise SettingsError(f"a parameter of the ZooKeeper URL is {text!a}; give 0 or 1")
    return text.lower() in {"1", "yes", "true"}


_KINDS: Mapping[str, Callable[[_Request], Registry]] = {
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "zk": _zookeeper,
    "memory": _memory,
}
