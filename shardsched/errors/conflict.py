"""Errors of a request that does not fit what is there."""

from __future__ import annotations

from shardsched.errors.base import ShardschedError
from shardsched.sentence import Sentence


class NotFoundError(ShardschedError, LookupError):
    """Raised when what the caller names does not exist."""


class JobNotFoundError(NotFoundError):
    """Raised when there is no job of that name.

    Attributes:
        job: The name as given.
    """

    def __init__(self, *, job: str) -> None:
        super().__init__(Sentence("there is no job %(job)r; 'shardsched job list' shows the jobs", job=job))
        self.job = job


class ExecutorNotFoundError(NotFoundError):
    """Raised when no executor of that name is known.

    Attributes:
        executor: The name as given.
    """

    def __init__(self, *, executor: str) -> None:
        super().__init__(
            Sentence("there is no executor %(name)r; 'shardsched executor list' shows the executors", name=executor)
        )
        self.executor = executor


class ConflictError(ShardschedError):
    """Raised when someone else was first; read again and decide."""


class JobExistsError(ConflictError):
    """Raised when a job of that name exists already.

    Attributes:
        job: The name as given.
    """

    def __init__(self, *, job: str) -> None:
        super().__init__(Sentence("job %(job)r exists already; change it with 'shardsched job update'", job=job))
        self.job = job


class StaleVersionError(ConflictError):
    """Raised when a record changed since it was read.

    Attributes:
        path: The record's path.
        expected_version: The version that the caller had read; None if it had named none.
    """

    def __init__(self, *, path: str, expected_version: int | None = None) -> None:
        super().__init__(
            Sentence("%(path)s was changed by others all the time; read it again and repeat the change", path=path)
            if expected_version is None
            else Sentence(
                "%(path)s changed since version %(version)s was read; read it again and repeat the change",
                path=path,
                version=expected_version,
            )
        )
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
