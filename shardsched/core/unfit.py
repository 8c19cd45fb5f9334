"""Why an executor takes no items: what it says of itself, and what those that read it make of it."""

from __future__ import annotations

from shardsched.sentence import Sentence, recalled


def stopping() -> Sentence:
    """Return that an executor is stopping."""
    return Sentence("it is stopping")


def adrift(drift_s: float, limit_s: float) -> Sentence:
    """Return that an executor's clock is too far off.

    Args:
        drift_s: How far it is ahead of the registry's, in seconds.
        limit_s: How far it may be off, in seconds.
    """
    drift, limit = f"{drift_s:+.0f}", f"{limit_s:.0f}"
    return Sentence("its clock is %(drift)s s off the registry's, more than %(limit)s s", drift=drift, limit=limit)


def recalled_unfit(text: str) -> str:
    """Return what an executor said of itself, as it is stored, as the sentence that it is if it is one of these."""
    return recalled(text, stopping(), adrift(0.0, 0.0))
