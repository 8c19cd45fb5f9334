"""What the console is told from outside."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from console.setting import secret_key, settings_from_environment
from shardsched.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "Zq3vXk9wTn5rBm7yLp2sHd8fJc4gQa6e"


def test_key_is_made_once_and_is_this_users_alone(tmp_path: Path) -> None:
    """Sign-ins survive a restart, and nobody else can make cookies."""
    key = secret_key(None, tmp_path / "state")
    path = tmp_path / "state" / "console.key"
    assert secret_key(None, tmp_path / "state") == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        secret_key(None, tmp_path / "state")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "x",
        "a" * 64,
        "changeme" * 8,
        "secret-0123456789-abcdefghijklmnop",
        "your-secret-key-here-1234567890-abc",
        GOOD[:31],
    ],
)
def test_key_that_everybody_knows_is_refused(tmp_path: Path, key: str) -> None:
    """With the command that makes a good one."""
    with pytest.raises(SettingsError, match="token_urlsafe"):
        secret_key(key, tmp_path)


def test_environment_is_read(tmp_path: Path) -> None:
    """All of it, and what is left out has its default."""
    given = {
        "SECRET_KEY": GOOD,
        "CONSOLE_HTTPS": "1",
        "TRUSTED_PROXIES": "2",
        "CONSOLE_ADMIN_PASSWORD_FILE": "/run/secret",
    }
    settings = settings_from_environment("fleet", "zk://", tmp_path, given)
    assert (settings.secret_key, settings.is_https, settings.trusted_proxies) == (GOOD, True, 2)
    assert str(settings.admin_password_file) == "/run/secret"
    assert GOOD not in repr(settings)
    plain = settings_from_environment("fleet", "zk://", tmp_path, {})
    assert (plain.is_https, plain.trusted_proxies, plain.admin_password_file) == (False, 0, None)


@pytest.mark.parametrize("given", [{"TRUSTED_PROXIES": "all"}, {"TRUSTED_PROXIES": "-1"}, {"CONSOLE_HTTPS": "maybe"}])
def test_environment_is_refused_by_name(tmp_path: Path, given: dict[str, str]) -> None:
    """The message names the variable."""
    with pytest.raises(SettingsError, match=next(iter(given))):
        settings_from_environment("fleet", "zk://", tmp_path, {"SECRET_KEY": GOOD, **given})
