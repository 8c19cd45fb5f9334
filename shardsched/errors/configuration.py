"""Errors of data that the caller gave."""

from __future__ import annotations

from functools import partial

from shardsched.errors.base import ShardschedError
from shardsched.sentence import Sentence


class ConfigurationError(ShardschedError, ValueError):
    """Raised when data given by the caller is wrong; nothing was written."""


class JobConfigError(ConfigurationError):
    """Raised when a setting of a job is refused.

    Attributes:
        setting, key: The name of the setting, such as ``items``; for ``task`` also which key of it.
    """

    def __init__(self, message: str, *, setting: str = "", key: str = "") -> None:
        super().__init__(message)
        self.setting = setting
        self.key = key


class CronExpressionError(ConfigurationError):
    """Raised when a cron expression or its zone is refused.

    Attributes:
        expression: The expression as given.
        field: The field at fault, or None when the whole text is.
        reason: What is wrong and what to write instead.
    """

    def __init__(self, *, expression: str, reason: str, field: str | None = None) -> None:
        super().__init__(
            Sentence(
                "cron expression %(expression)r, %(field)s: %(reason)s",
                expression=expression,
                field=field,
                reason=reason,
            )
            if field
            else Sentence("cron expression %(expression)r: %(reason)s", expression=expression, reason=reason)
        )
        self.expression = expression
        self.field = field
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by fields, since the constructor takes no positional argument."""
        return partial(type(self), expression=self.expression, reason=self.reason, field=self.field), ()


class ItemParameterError(ConfigurationError):
    """Raised when the parameters of sharding items are refused."""


class SettingsError(ConfigurationError):
    """Raised when an option, an environment variable or a URL is refused."""


class JobFileError(ConfigurationError):
    """Raised when a whole file of jobs cannot be read; one bad entry of it is told and left out instead.

    Attributes:
        reason: What is wrong and what to do.
        line: The line at fault, counted from 1; None when it is the whole file.
    """

    def __init__(self, reason: str, *, line: int | None = None) -> None:
        super().__init__(
            Sentence("the job file cannot be read: %(reason)s", reason=reason)
            if line is None
            else Sentence("the job file cannot be read, line %(line)s: %(reason)s", line=line, reason=reason)
        )
        self.reason = reason
        self.line = line


class HandlerImportError(ConfigurationError):
    """Raised when a module with handlers cannot be imported.

    Attributes:
        module: The module's name as given.
        traceback: The traceback of the import, as text.
    """

    def __init__(self, *, module: str, reason: str, traceback: str = "") -> None:
        super().__init__(f"module {module!r} cannot be imported: {reason}")
        self.module = module
        self.traceback = traceback
