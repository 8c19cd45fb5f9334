"""Writing the audit: an entry stands before anything is done, and is closed with what became of it."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import g, request

from console.context import actor_or_none, context
from console.guard import SAFE_METHODS
from shardsched.errors import HistoryUnavailableError, RegistryUnavailableError, SessionLostError, ShardschedError
from shardsched.people.audit import AuditEntry, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from werkzeug.exceptions import HTTPException

    from console.actor import ForbiddenError

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Deed:
    """What is being done; the doer fills in what it became."""

    id: int
    """Of the audit's entry."""
    after: Any = None
    """What the object is now, as JSON."""


@contextmanager
def audited(action: str, kind: str, name: str, *, before: Any = None, reason: str = "") -> Iterator[Deed]:
    """Write down what is done in the block, also when it is refused.

    Args:
        action: Its code, such as ``job.pause``; `console.label` has its text.
        kind: What kind of object it concerns.
        name: Which one.
        before: What it was, as JSON without secrets.
        reason: Why, as people say.

    Raises:
        HistoryUnavailableError: It could not be written down, and was not done.
        RuntimeError: A request that must not change anything came here.
    """
    if request.method in SAFE_METHODS:
        raise RuntimeError(f"{request.method} {request.path} must not change anything")
    audit = context().people.audit
    deed = Deed(audit.begin(_entry(action, kind, name, before=before, reason=reason)))
    try:
        yield deed
    except (RegistryUnavailableError, SessionLostError, HistoryUnavailableError) as error:
        audit.close(deed.id, Result.UNKNOWN, message=str(error))
        raise
    except ShardschedError as error:
        audit.close(deed.id, Result.REFUSED, message=str(error))
        raise
    except BaseException as error:
        audit.close(deed.id, Result.UNKNOWN, message=type(error).__name__)
        raise
    try:
        audit.close(deed.id, Result.DONE, after=deed.after)
    except HistoryUnavailableError:
        # It is done, so nobody may be told that it failed; the entry stays pending, which says that much.
        logger.exception("an entry of the audit could not be closed", extra={"event": "console_audit_open"})


def note(action: str, kind: str = "", name: str = "", *, result: Result = Result.DONE, message: str = "") -> None:
    """Write down something that is over already, such as a failed sign-in."""
    context().people.audit.begin(_entry(action, kind, name, result=result, message=message))


def note_refusal(error: ForbiddenError | HTTPException) -> None:
    """Write down that somebody was refused something that would have changed something."""
    if request.method not in SAFE_METHODS:
        note("access.refused", "page", request.path, result=Result.REFUSED, message=str(error))


def _entry(action: str, kind: str, name: str, **fields: Any) -> AuditEntry:
    who = actor_or_none()
    return AuditEntry(
        actor=who.name if who else "",
        token=who.token.id if who and who.token else "",
        address=request.remote_addr or "",
        action=action,
        kind=kind,
        object=name,
        request_id=g.get("request_id", ""),
        **fields,
    )
