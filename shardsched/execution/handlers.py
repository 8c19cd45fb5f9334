"""The handlers of this process: code that jobs run, found by name."""

from __future__ import annotations

import importlib
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shardsched.errors import ConfigurationError, HandlerImportError
from shardsched.execution.listener import hears_fires

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shardsched.execution.listener import JobListener


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """One function and what its decorator said."""

    name: str
    """How jobs name it."""
    function: Callable[..., Any]
    """The code, sync or async; called with the context."""
    module: str
    """Where it is defined."""
    qualname: str
    """Its name there."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the decorator said of the job, by keyword."""
    listeners: tuple[JobListener, ...] = ()
    """What is told of its items and fires."""

    @property
    def place(self) -> str:
        """Module and name, for people."""
        return f"{self.module}.{self.qualname}"


class HandlerTable:
    """Handlers by name."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}

    def add(self, handler: Handler) -> None:
        """Add a handler; the same function again (a reloaded module) replaces itself.

        Raises:
            ConfigurationError: Another function has that name; nothing was changed.
        """
        known = self._handlers.get(handler.name)
        if known is not None and known.place != handler.place:
            message = f"two handlers are named {handler.name!r}: {known.place} and {handler.place}; rename one of them"
            raise ConfigurationError(message)
        self._handlers[handler.name] = handler

    def get(self, name: str) -> Handler | None:
        """Return the handler of a name, or None."""
        return self._handlers.get(name)

    def places(self) -> dict[str, str]:
        """Return the ``module:function`` behind each name."""
        return {name: f"{handler.module}:{handler.qualname}" for name, handler in sorted(self._handlers.items())}

    def listeners(self, name: str) -> tuple[JobListener, ...]:
        """Return the listeners of a handler, none if it is not known."""
        handler = self._handlers.get(name)
        return () if handler is None else handler.listeners

    def listening(self) -> frozenset[str]:
        """Return the handlers whose listeners are told of whole fires."""
        return frozenset(name for name, handler in self._handlers.items() if hears_fires(handler.listeners))

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted."""
        return tuple(sorted(self._handlers))


TABLE = HandlerTable()
"""The handlers of the modules imported so far; the decorator fills it."""


def load_modules(modules: Sequence[str]) -> None:
    """Import modules, so that their handlers are in `TABLE`.

    Raises:
        HandlerImportError: A module cannot be imported; those before it are.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        # A module is user code: it may raise anything, and even sys.exit() in one must not end the process.
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
            raise HandlerImportError(module=module, reason=reason, traceback=traceback.format_exc()) from error
