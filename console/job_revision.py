"""What jobs looked like after each change: by whom it was made here, and that it was made elsewhere."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from console.context import context
from shardsched.core.secret import shown_task
from shardsched.core.setting import PUBLIC_NAMES, public_settings
from shardsched.errors import HistoryError, JobConfigError
from shardsched.jobfile.hidden import hidden_name, restored_task
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.core.job import JobConfig
    from shardsched.core.view import JobEntry
    from shardsched.people.revision import Revision, Revisions

logger = logging.getLogger(__name__)

KIND = "job"


def shown_settings(config: JobConfig) -> dict[str, Any]:
    """Return a job's settings by the names that people use, as JSON, without secrets."""
    return public_settings(config) | {"task": shown_task(config.task)}


def tag_of(entry: JobEntry) -> str:
    """Return what tells this version of a job from all others, also from those of an earlier job of the name."""
    return f"{entry.created_id}-{entry.version}"


def keep(entry: JobEntry, by: str) -> None:
    """Keep the version that somebody made."""
    if entry.config is not None:
        value = shown_settings(entry.config)
        _try(lambda revisions: revisions.add(KIND, entry.name, value, actor=by, tag=tag_of(entry)))


def note_found(entry: JobEntry) -> None:
    """Keep a version that was made elsewhere: by the command line, by code, by hand."""
    if entry.config is not None and not entry.config.deleting:
        value = shown_settings(entry.config)
        _try(lambda revisions: revisions.note(KIND, entry.name, value, tag=tag_of(entry)))


def keep_deletion(name: str, by: str) -> None:
    """Keep that a job was deleted."""
    _try(lambda revisions: revisions.add(KIND, name, None, actor=by))


def _try(write: Callable[[Revisions], object]) -> None:
    """Write a revision; that it could not be kept undoes nothing and hides no job."""
    try:
        write(context().people.revisions)
    except HistoryError:
        logger.exception("a revision could not be kept", extra={"event": "console_revision_lost"})


def restorable(entry: JobEntry, revision: Revision) -> dict[str, Any]:
    """Return the settings that make a job what it was in a revision, with the secrets that it has now.

    Whether it is paused stays as it is now.

    Raises:
        JobConfigError: The revision is a deletion, or had a secret that is not known any more.
    """
    if not isinstance(revision.value, dict):
        raise JobConfigError(Sentence("this revision says that the job was deleted"))
    known = set(PUBLIC_NAMES.values()) - {"paused"}
    settings = {name: value for name, value in revision.value.items() if name in known}
    settings["task"] = restored_task(settings.get("task") or {}, entry.config.task if entry.config else {})
    hidden = hidden_name(settings["task"])
    if hidden is not None:
        message = Sentence(
            "the value of the task's %(hidden)r was a secret and is not kept in revisions; edit it instead",
            hidden=hidden[:80],
        )
        raise JobConfigError(message, setting="task")
    params = settings.get("item_params") or {}
    settings["item_params"] = {int(item): text for item, text in params.items()}
    return settings
