"""What a process is told from outside: options, environment variables, folders."""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from shardsched.core.name import check_executor_name, check_namespace, check_text, name_fault
from shardsched.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_NAMESPACE = "shardsched"
DEFAULT_SESSION_TIMEOUT_S = 10.0
DEFAULT_SLOTS = 16
"""Items that one executor runs at once; crawls mostly wait for the network."""
DEFAULT_GRACE_S = 10.0
"""How long a stopping executor lets its items finish."""
DRIFT_LIMIT_S = 60.0
"""An executor whose clock is further off than this takes no items."""


def state_folder() -> Path:
    """Return where this user's state is kept when nothing else is said."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "shardsched"


def default_registry() -> str:
    """Return the registry of this user on one machine: an SQLite file that needs nothing installed."""
    return f"sqlite:///{state_folder() / 'fleet.db'}"


def registry_url(option: str | None) -> str:
    """Return the registry's URL from the option, the environment or the default."""
    return option or os.environ.get("SHARDSCHED_REGISTRY") or default_registry()


NO_HISTORY = "none"
"""In place of the history's URL: nothing is kept."""


def history_url(option: str | None, registry: str) -> str:
    """Return the history database's URL from the option, the environment or the default; ``none`` for no history.

    The default is a file beside a registry that is one, else a file among this user's state.

    Args:
        option: What the command line says.
        registry: The registry's URL.

    Raises:
        SettingsError: It is of no kind that history can be kept in.
    """
    url = option or os.environ.get("SHARDSCHED_HISTORY") or _default_history(registry)
    kind, mark, _ = url.partition("://")
    if url != NO_HISTORY and not (mark and kind.lower() in {"sqlite", "postgresql"}):
        # The kind alone, since the rest may hold a password.
        shown = f" ({kind!a})" if mark else ""
        raise SettingsError(
            f"the URL of the history database is of no known kind{shown}; write sqlite:///history.db, "
            "postgresql://user:password@host/database, or none for no history"
        )
    return url


def _default_history(registry: str) -> str:
    kind, _, path = registry.partition("://")
    if kind.lower() == "sqlite" and len(path) > 1:
        return f"sqlite:///{PurePosixPath(path[1:]).with_suffix('.history.db')}"
    return f"sqlite:///{state_folder() / 'history.db'}"


def namespace_name(option: str | None) -> str:
    """Return the namespace from the option, the environment or the default.

    Raises:
        SettingsError: It may not be a namespace.
    """
    return check_namespace(option or os.environ.get("SHARDSCHED_NAMESPACE") or DEFAULT_NAMESPACE)


def default_executor_name() -> str:
    """Return a name that no other living process of this machine has: host and process id."""
    host = "".join(letter if name_fault(letter) is None or letter == "." else "-" for letter in socket.gethostname())
    return f"{host[:100] or 'host'}-{os.getpid()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """What one executor is told."""

    registry: str
    """URL of the registry."""
    namespace: str = DEFAULT_NAMESPACE
    """Which fleet it joins."""
    name: str = ""
    """Its name; empty: made of host and process id."""
    modules: tuple[str, ...] = ()
    """Modules that hold handlers."""
    import_paths: tuple[str, ...] = ()
    """Folders put before ``sys.path`` to find them."""
    slots: int = DEFAULT_SLOTS
    """Items run at once."""
    session_timeout_s: float = DEFAULT_SESSION_TIMEOUT_S
    """Wanted session time-out T, in seconds; the registry may change it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Its labels."""
    grace_s: float = DEFAULT_GRACE_S
    """How long a clean stop lets items finish, in seconds."""
    state_dir: Path = field(default_factory=state_folder)
    """Where it keeps its session ticket and the logs of runs."""
    drift_limit_s: float = DRIFT_LIMIT_S
    """How far its clock may be off, in seconds."""
    history: str = NO_HISTORY
    """URL of the history database, ``none`` for no history."""

    def home(self) -> Path:
        """Return the folder of this executor's own state, the same at every start under one name."""
        place = hashlib.blake2b(f"{self.registry}\0{self.namespace}".encode(), digest_size=6).hexdigest()
        return self.state_dir / place / self.name

    def log_folder(self) -> Path:
        """Return where the outputs of its runs are kept, in folders by job."""
        return self.home() / "logs"


def check_settings(settings: ExecutorSettings) -> ExecutorSettings:
    """Return the settings if an executor can run with them.

    Raises:
        SettingsError: One is refused; the message names it and the cure.
    """
    check_executor_name(settings.name)
    check_namespace(settings.namespace)
    if not 1 <= settings.slots <= 10_000:
        raise SettingsError(f"slots is {settings.slots}; give 1 to 10000")
    if not 1.0 <= settings.session_timeout_s <= 300.0:
        raise SettingsError(f"the session time-out is {settings.session_timeout_s:g} s; give 1 to 300")
    if not 0.0 <= settings.grace_s <= 86_400.0:
        raise SettingsError(f"grace is {settings.grace_s:g} s; give 0 to 86400")
    for label, text in settings.labels.items():
        check_text(label, "a label's name", SettingsError, 128)
        check_text(text, f"the value of label {label!r}", SettingsError, 256)
    return settings
