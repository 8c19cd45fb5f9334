"""What the console is told from outside."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.errors import SettingsError
from shardsched.settings import state_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8350
MIN_SECRET_LENGTH = 32
_SAMPLES = ("change", "secret", "sample", "example", "default", "password", "insecure", "your", "test", "dev-", "xxx")
"""What texts begin with that stand in documents to be replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    """What one console is told."""

    namespace: str
    """The fleet that it shows."""
    registry: str = ""
    """Where the registry is, for people; without a password."""
    secret_key: str = field(repr=False)
    """Signs cookies."""
    is_https: bool = False
    """Whether browsers reach it by HTTPS only: cookies are then sent no other way."""
    trusted_proxies: int = 0
    """How many proxies in front of it say truly where a request comes from."""
    state_dir: Path = field(default_factory=state_folder)
    """Where executors of this machine keep the outputs of runs."""
    admin_password_file: Path | None = None
    """File with the password of the first user, ``admin``; None to set up in the browser."""


def settings_from_environment(
    namespace: str, registry: str, state_dir: Path, environment: Mapping[str, str] = os.environ
) -> ConsoleSettings:
    """Return the settings from the environment: see ``docs/console.md``.

    Raises:
        SettingsError: One is refused, with the cure.
    """
    password_file = environment.get("CONSOLE_ADMIN_PASSWORD_FILE")
    return ConsoleSettings(
        namespace=namespace,
        registry=registry,
        secret_key=secret_key(environment.get("SECRET_KEY"), state_dir),
        is_https=_is_on("CONSOLE_HTTPS", environment.get("CONSOLE_HTTPS", "")),
        trusted_proxies=_proxy_count(environment.get("TRUSTED_PROXIES", "")),
        state_dir=state_dir,
        admin_password_file=Path(password_file) if password_file else None,
    )


def secret_key(given: str | None, state_dir: Path) -> str:
    """Return the key that signs cookies: as given, or from a file of this user that is made at the first start.

    Raises:
        SettingsError: The key is too short or stands in some document, or the file cannot be kept.
    """
    if given is not None:
        return _checked_key(given, "SECRET_KEY")
    path = state_dir / "console.key"
    try:
        if not path.exists():
            state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(path, secrets.token_urlsafe(48))
        key = path.read_text().strip()
        if path.stat().st_mode & 0o077:
            raise SettingsError(f"{path} can be read by others; run chmod 600 on it, or remove it for a new one")
    except OSError as error:
        raise SettingsError(f"the file {path} cannot be used ({error.strerror}); give SECRET_KEY instead") from error
    return _checked_key(key, str(path))


def _write_once(path: Path, key: str) -> None:
    """Write a file that only this user reads; if another process was first, leave that one's."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key + "\n")
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _checked_key(key: str, where: str) -> str:
    cure = "give at least 32 random characters, such as python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
    if len(key) < MIN_SECRET_LENGTH or len(set(key)) < 10:
        raise SettingsError(f"{where} is too short or too simple to sign cookies; {cure}")
    if key.lower().startswith(_SAMPLES):
        raise SettingsError(f"{where} looks like the sample of a document, which everybody knows; {cure}")
    return key


def _is_on(name: str, text: str) -> bool:
    if text.lower() in {"", "0", "no", "false"}:
        return False
    if text.lower() in {"1", "yes", "true"}:
        return True
    raise SettingsError(f"{name} is {text!a}; give 1 or 0")


def _proxy_count(text: str) -> int:
    if not text:
        return 0
    if not text.isascii() or not text.isdigit() or int(text) > 10:
        raise SettingsError(f"TRUSTED_PROXIES is {text!a}; give the number of proxies in front of the console, 0 to 10")
    return int(text)
