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

from shardsched.errors.base import (
    ShardschedError,
)
from shardsched.errors.configuration import (
    ConfigurationError,
    CronExpressionError,
    HandlerImportError,
    ItemParameterError,
    JobConfigError,
    JobFileError,
    SettingsError,
)
from shardsched.errors.conflict import (
    ConflictError,
    ExecutorNotFoundError,
    JobExistsError,
    JobNotFoundError,
    NameTakenError,
    NotFoundError,
    StaleVersionError,
)
from shardsched.errors.execution import (
    CheckpointError,
    ExecutionError,
    RunFailedError,
    RunTimeoutError,
    ShutdownError,
    StaleTokenError,
)
from shardsched.errors.history import (
    HistoryError,
    HistorySchemaError,
    HistoryUnavailableError,
)
from shardsched.errors.registry import (
    CorruptNodeError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    RegistryAccessError,
    RegistryError,
    RegistryUnavailableError,
    SessionLostError,
    ValueTooLargeError,
    VersionConflictError,
)

__all__ = [
    "CheckpointError",
    "ConfigurationError",
    "ConflictError",
    "CorruptNodeError",
    "CronExpressionError",
    "ExecutionError",
    "ExecutorNotFoundError",
    "HandlerImportError",
    "HistoryError",
    "HistorySchemaError",
    "HistoryUnavailableError",
    "ItemParameterError",
    "JobConfigError",
    "JobExistsError",
    "JobFileError",
    "JobNotFoundError",
    "NameTakenError",
    "NoNodeError",
    "NodeExistsError",
    "NotEmptyError",
    "NotFoundError",
    "RegistryAccessError",
    "RegistryError",
    "RegistryUnavailableError",
    "RunFailedError",
    "RunTimeoutError",
    "SessionLostError",
    "SettingsError",
    "ShardschedError",
    "ShutdownError",
    "StaleTokenError",
    "StaleVersionError",
    "ValueTooLargeError",
    "VersionConflictError",
]
