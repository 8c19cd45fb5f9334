"""The errors that shardsched raises, as one tree.

The drawing below is compared with the classes by a test::

    ShardschedError
    ├── ConfigurationError
    │   ├── JobConfigError
    │   ├── CronExpressionError
    │   ├── ItemParameterError
    │   ├── SettingsError
    │   ├── JobFileError
    │   └── HandlerImportError
    ├── NotFoundError
    │   ├── JobNotFoundError
    │   └── ExecutorNotFoundError
    ├── ConflictError
    │   ├── JobExistsError
    │   ├── StaleVersionError
    │   └── NameTakenError
    ├── RegistryError
    │   ├── NodeExistsError
    │   ├── NoNodeError
    │   ├── VersionConflictError
    │   ├── NotEmptyError
    │   ├── ValueTooLargeError
    │   ├── RegistryUnavailableError
    │   ├── SessionLostError
    │   ├── RegistryAccessError
    │   └── CorruptNodeError
    ├── ExecutionError
    │   ├── RunFailedError
    │   ├── RunTimeoutError
    │   ├── ShutdownError
    │   └── CheckpointError
    │       └── StaleTokenError
    └── HistoryError
        ├── HistoryUnavailableError
        └── HistorySchemaError

Losing a race is a value, never an exception; an exception is what the caller cannot go on from.
"""

from __future__ import annotations

from typing import ClassVar


class ShardschedError(Exception):
    """Base of all errors of shardsched; catch it to catch them all."""


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
        where = f", {field}" if field else ""
        super().__init__(f"cron expression {expression!r}{where}: {reason}")
        self.expression = expression
        self.field = field
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by fields, since the constructor takes no positional argument."""
        return (_cron_expression_error, (self.expression, self.reason, self.field))


def _cron_expression_error(expression: str, reason: str, field: str | None) -> CronExpressionError:
    return CronExpressionError(expression=expression, reason=reason, field=field)


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
        where = "" if line is None else f", line {line}"
        super().__init__(f"the job file cannot be read{where}: {reason}")
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


class NotFoundError(ShardschedError, LookupError):
    """Raised when what the caller names does not exist."""


class JobNotFoundError(NotFoundError):
    """Raised when there is no job of that name.

    Attributes:
        job: The name as given.
    """

    def __init__(self, *, job: str) -> None:
        super().__init__(f"there is no job {job!r}; 'shardsched job list' shows the jobs")
        self.job = job


class ExecutorNotFoundError(NotFoundError):
    """Raised when no executor of that name is known.

    Attributes:
        executor: The name as given.
    """

    def __init__(self, *, executor: str) -> None:
        super().__init__(f"there is no executor {executor!r}; 'shardsched executor list' shows the executors")
        self.executor = executor


class ConflictError(ShardschedError):
    """Raised when someone else was first; read again and decide."""


class JobExistsError(ConflictError):
    """Raised when a job of that name exists already.

    Attributes:
        job: The name as given.
    """

    def __init__(self, *, job: str) -> None:
        super().__init__(f"job {job!r} exists already; change it with 'shardsched job update'")
        self.job = job


class StaleVersionError(ConflictError):
    """Raised when a record changed since it was read.

    Attributes:
        path: The record's path.
        expected_version: The version that the caller had read; None if it had named none.
    """

    def __init__(self, *, path: str, expected_version: int | None = None) -> None:
        since = "was changed by others all the time"
        if expected_version is not None:
            since = f"changed since version {expected_version} was read"
        super().__init__(f"{path} {since}; read it again and repeat the change")
        self.path = path
        self.expected_version = expected_version


class NameTakenError(ConflictError):
    """Raised when a living executor holds the wanted name.

    Attributes:
        executor: The name.
        holder: Where its holder runs, such as ``host1 pid 4711``.
    """

    def __init__(self, *, executor: str, holder: str) -> None:
        super().__init__(f"the executor name {executor!r} is held by {holder}; stop that one or give another --name")
        self.executor = executor
        self.holder = holder


class RegistryError(ShardschedError):
    """Raised when the registry cannot do what was asked.

    Attributes:
        retryable: Whether the same call may succeed later without anybody's doing.
    """

    retryable: ClassVar[bool] = False


class NodeExistsError(RegistryError):
    """Raised when a node is to be created that exists; nothing happened."""


class NoNodeError(RegistryError):
    """Raised when a node that must exist does not; nothing happened."""


class VersionConflictError(RegistryError):
    """Raised when a node has another version than expected; nothing happened."""


class NotEmptyError(RegistryError):
    """Raised when a node with children is to be deleted; nothing happened."""


class ValueTooLargeError(RegistryError):
    """Raised before anything is sent when a value or transaction is over the size limit."""


class RegistryUnavailableError(RegistryError):
    """Raised when the registry gave no answer: what was asked may have happened or not.

    Read before acting.
    """

    retryable: ClassVar[bool] = True


class SessionLostError(RegistryError):
    """Raised when our session with the registry is over; every ephemeral claim of it is void."""


class RegistryAccessError(RegistryError):
    """Raised when the registry refuses our credentials; repeating does not help."""


class CorruptNodeError(RegistryError):
    """Raised when the bytes at a path are not a record of ours.

    Attributes:
        path: The node's path.
        reason: What is wrong with its value.
    """

    def __init__(self, *, path: str, reason: str) -> None:
        super().__init__(f"the record at {path} cannot be used: {reason}; 'shardsched doctor' says what to do")
        self.path = path
        self.reason = reason


class ExecutionError(ShardschedError):
    """Raised when a run cannot be started or has failed."""


class RunFailedError(ExecutionError):
    """Raised by a handler to have its run fail with one sentence, without a traceback."""


class RunTimeoutError(ExecutionError):
    """Raised when a run went on for longer than its time-out."""


class ShutdownError(ExecutionError):
    """Raised when a run is asked of an executor that is stopping."""


class CheckpointError(ExecutionError):
    """Raised when an item's checkpoint cannot be saved or loaded; it says what became of it."""


class StaleTokenError(CheckpointError):
    """Raised when a run saves its checkpoint whose claim of the item is over; nothing was saved."""


class HistoryError(ShardschedError):
    """Raised when the history database cannot do what was asked."""


class HistoryUnavailableError(HistoryError):
    """Raised when the history database gave no answer or turned us away: what was asked may have happened or not."""


class HistorySchemaError(HistoryError):
    """Raised when the tables of the history database are not those that this release knows."""
