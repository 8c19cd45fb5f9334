"""What is refused about the console's users and tokens; each error has its place in `shardsched.errors`."""

from __future__ import annotations

from typing import ClassVar

from shardsched.errors import ConfigurationError, ConflictError, NotFoundError
from shardsched.sentence import Sentence


class AccountError(ConfigurationError):
    """Raised when what is given for a user or a token is refused.

    Attributes:
        field: Which of the given fields, such as ``password``.
        code: What is wrong with it, in one word.
    """

    def __init__(self, message: str, *, field: str, code: str = "invalid") -> None:
        super().__init__(message)
        self.field = field
        self.code = code


class AccountNotFoundError(NotFoundError):
    """Raised when there is no such user or token.

    Attributes:
        kind: ``user`` or ``token``.
        name: As given.
    """

    def __init__(self, *, kind: str, name: str) -> None:
        super().__init__(
            Sentence("there is no token %(name)r; see the list of tokens", name=name)
            if kind == "token"
            else Sentence("there is no user %(name)r; see the list of users", name=name)
        )
        self.kind = kind
        self.name = name


class AccountConflictError(ConflictError):
    """Raised when a user cannot be made or changed as the users stand.

    Attributes:
        user: Their name.
        code: Why: ``exists``, ``not_first``, ``stale`` or ``last_admin``.
    """

    _WHY: ClassVar = {
        "exists": Sentence("exists already; give another name"),
        "not_first": Sentence("cannot be the first, since there are users already; sign in instead"),
        "stale": Sentence("was changed by others meanwhile; look again and repeat the change"),
        "last_admin": Sentence("is the only admin; make somebody else admin first"),
    }

    def __init__(self, *, user: str, code: str) -> None:
        super().__init__(Sentence("user %(name)r %(why)s", name=user, why=self._WHY[code]))
        self.user = user
        self.code = code
