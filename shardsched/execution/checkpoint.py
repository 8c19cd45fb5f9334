"""How a handler saves and loads its state, wherever it runs.

What is asked of the executor is one plain mapping, and so is its answer. They go over the channel of an item's process
(`line`), by a call where the item runs in a thread of the executor, or nowhere where a context was made by hand.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from shardsched.core.checkpoint import state_text
from shardsched.errors import CheckpointError, StaleTokenError

if TYPE_CHECKING:
    from collections.abc import Iterator

Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Sends a request and waits for its answer: ``state`` of a load, or ``error`` (the name of a class) and ``message``."""

_INTERRUPTING = "a checkpoint cannot be saved or loaded by a signal handler that interrupts another save or load"
_ERRORS = {error.__name__: error for error in (StaleTokenError, CheckpointError)}


class SavedState:
    """What one item has saved. **Thread:** any; calls wait for each other."""

    def __init__(self, job: str, item: int, ask: Ask | None) -> None:
        """Know nothing yet; the first load asks.

        Args:
            job: The job.
            item: The item.
            ask: Asks the executor; None to keep the state here.
        """
        self._job = job
        self._item = item
        self._ask = ask or (lambda _: {})
        self._number = 0
        self._text: str | None = None
        self._is_known = ask is None
        # Reentrant, so that a signal handler that interrupts a save and saves itself is told so, not locked out.
        self._lock = threading.RLock()
        self._is_busy = False

    def load(self, default: Any) -> Any:
        """Return the state saved last, or the default.

        Raises:
            CheckpointError: It cannot be read.
        """
        with self._turn():
            if not self._is_known:
                self._text = self._answer({"what": "load", "state": None})["state"]
                self._is_known = True
            text = self._text
        return default if text is None else json.loads(text)

    def save(self, state: Any) -> None:
        """Save a state; None clears.

        Raises:
            StaleTokenError: The claim is over.
            CheckpointError: It was not saved, or may not have been.
        """
        text = state_text(self._job, self._item, state)
        with self._turn():
            # After a save that failed, what is stored is to be asked for again.
            self._is_known = False
            self._answer({"what": "save", "state": text})
            self._text, self._is_known = text, True

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock:
            if self._is_busy:
                raise CheckpointError(_INTERRUPTING)
            self._is_busy = True
            try:
                yield
            finally:
                self._is_busy = False

    def _answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self._number += 1
        answer = self._ask({"number": self._number, **request})
        if "error" in answer:
            raise _ERRORS[answer["error"]](answer["message"])
        return answer
