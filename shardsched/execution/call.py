"""Calls a handler, sync or async, and tells how it ended.

User code starts here: whatever it raises is caught here and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from shardsched.execution.context import ShardingContext
    from shardsched.execution.stop_flag import StopFlag

from shardsched.errors import RunFailedError
from shardsched.execution.stop_flag import StopRequested

MAX_MESSAGE_CHARS = 2_000
"""Longest message of an exception that is reported; the whole one is in the log of the run."""
MAX_TRACEBACK_CHARS = 32_000
"""Longest traceback that is reported; its end is kept, since that names the error."""

_CLEANUP_S = 2.0
"""How long tasks that an async handler left behind may take to end."""


class Ending(StrEnum):
    """How a call ended, as seen from inside."""

    OK = "ok"
    """It returned."""
    FAILED = "failed"
    """It raised, or exited with a code other than 0."""
    STOPPED = "stopped"
    """It gave way to a request to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnd:
    """The end of one call."""

    ending: Ending
    """How it ended."""
    message: str = ""
    """The exception in one line."""
    traceback: str = ""
    """The exception in full."""
    exit_code: int = 0
    """With which code a process should exit now."""
    error: BaseException | None = field(default=None, compare=False)
    """What was raised, for whoever asks in the same process."""


def call_handler(
    function: Callable[..., Any],
    context: ShardingContext,
    stop_flag: StopFlag,
    on_loop: Callable[[asyncio.AbstractEventLoop], None] | None = None,
) -> CallEnd:
    """Call a handler and return how it ended; raises nothing.

    A handler that returns a coroutine is run to its end on an event loop of its own, and its task is cancelled when
    the flag is set. So partial functions and decorated coroutines are known without being inspected.

    Args:
        function: The handler's code.
        context: Its only argument.
        stop_flag: Its request to stop.
        on_loop: Called with the event loop of an async handler before it runs.
    """
    try:
        value = function(context)
        if asyncio.iscoroutine(value):
            _run_coroutine(value, stop_flag, on_loop)
    except SystemExit as error:
        return _exited(error)
    except RunFailedError as error:
        return CallEnd(ending=Ending.FAILED, message=str(error)[:MAX_MESSAGE_CHARS], exit_code=1)
    except (StopRequested, asyncio.CancelledError) as error:
        if stop_flag.requested:
            return CallEnd(ending=Ending.STOPPED, error=error)
        return _failed(error)
    except BaseException as error:  # noqa: BLE001 - user code may raise anything, and its run must be told of
        return _failed(error)
    return CallEnd(ending=Ending.OK)


def _exited(error: SystemExit) -> CallEnd:
    if error.code is None or error.code == 0:
        return CallEnd(ending=Ending.OK)
    if isinstance(error.code, int):
        # Only eight bits reach the parent, and a failure must not look like success for want of the others.
        code = error.code & 0xFF or 1
        message = f"exited with code {int(error.code)}"
        return CallEnd(ending=Ending.FAILED, message=message, exit_code=code, error=error)
    return CallEnd(ending=Ending.FAILED, message=_one_line(error), exit_code=1, error=error)


def _failed(error: BaseException) -> CallEnd:
    # The frame of call_handler itself is no news to the reader of a traceback.
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    text = "".join(traceback.format_exception(type(error), error, frames))
    return CallEnd(
        ending=Ending.FAILED,
        message=_one_line(error),
        traceback=text[-MAX_TRACEBACK_CHARS:],
        exit_code=1,
        error=error,
    )


def _one_line(error: BaseException) -> str:
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return text[:MAX_MESSAGE_CHARS]


def _run_coroutine(
    coroutine: Coroutine[Any, Any, Any],
    stop_flag: StopFlag,
    on_loop: Callable[[asyncio.AbstractEventLoop], None] | None,
) -> None:
    """Run a coroutine without asyncio.run, which would wait for threads that the handler left behind."""
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        if on_loop is not None:
            on_loop(loop)
        task = loop.create_task(coroutine)
        is_cancelled = False

        def cancel() -> None:
            # Once: a second cancel would strike the clean-up that the first one began.
            nonlocal is_cancelled
            if not is_cancelled:
                is_cancelled = True
                task.cancel()

        stop_flag.watch()
        stop_flag.call_on_request(lambda: _call_soon(loop, cancel))
        loop.run_until_complete(task)
    finally:
        _clean_up(loop)


def _call_soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop was closed: the call has ended
        loop.call_soon_threadsafe(callback)


def _clean_up(loop: asyncio.AbstractEventLoop) -> None:
    leftover = asyncio.all_tasks(loop)
    for task in leftover:
        task.cancel()
    if leftover:
        loop.run_until_complete(asyncio.wait(leftover, timeout=_CLEANUP_S))
    loop.run_until_complete(loop.shutdown_asyncgens())
    asyncio.set_event_loop(None)
    loop.close()
