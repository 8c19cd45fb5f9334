"""The first user: by a file with a password, or by whoever reads the one-time code in the log."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, cast

from console.password import check_password
from shardsched.errors import HistoryError, SettingsError
from shardsched.people.audit import AuditEntry, Result
from shardsched.people.error import AccountConflictError
from shardsched.people.role import Role

if TYPE_CHECKING:
    from flask import Flask

    from console.context import Context

logger = logging.getLogger(__name__)

NAME = "admin"


def make_first_user(app: Flask) -> None:
    """Make the user ``admin`` if there is nobody and a file has their password; else log the one-time code.

    Raises:
        ConfigurationError: The file cannot be read, or the password is refused.
    """
    parts = cast("Context", app.extensions["console"])
    path = parts.settings.admin_password_file
    try:
        if not parts.people.users.is_empty():
            return
        if path is not None:
            try:
                password = check_password(path.read_text().strip("\r\n"), NAME)
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(f"CONSOLE_ADMIN_PASSWORD_FILE {path} cannot be read: {error}") from error
            with contextlib.suppress(AccountConflictError):  # another console was first
                parts.people.users.create(NAME, Role.ADMIN, parts.passwords.hash(password), only_first=True)
                entry = AuditEntry(actor="", action="user.create", kind="user", object=NAME, result=Result.DONE)
                parts.people.audit.begin(entry)
            return
    except HistoryError as error:
        logger.warning("%s", error, extra={"event": "console_history_away"})
    logger.warning(
        "nobody can sign in yet; open /setup and give the code %s (valid for an hour, once)",
        parts.setup_code.text,
        extra={"event": "console_setup_code"},
    )
