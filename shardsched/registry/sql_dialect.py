"""What differs between the databases, and what they all must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Engine


WRITES = "shardsched_writes"
"""The execution option of connections whose transactions write."""


class Trouble(StrEnum):
    """What an error of the database means for us."""

    BUSY = "busy"
    """Someone else was in the way and nothing happened: try again."""
    UNREACHABLE = "unreachable"
    """No answer: it may have happened."""
    DENIED = "denied"
    """We may not: trying again does not help."""
    BROKEN = "broken"
    """It is no database of ours, or a damaged one."""


class Bell(ABC):
    """Tells one watching connection that something may have changed."""

    @abstractmethod
    def wait(self, wake: socket.socket) -> bool:
        """Wait for a change, or for a byte on the socket, but not for long; say whether there may be a change."""


class Dialect(ABC):
    """One kind of database, at one place.

    Attributes:
        place: Where it is, without a password, for messages.
        era: The present run of the clock that sessions are measured with.
        single_options: The execution options with which each statement stands alone.
    """

    place: str
    era: str
    single_options: Mapping[str, Any]

    @abstractmethod
    def connect(self, **options: Any) -> Engine:
        """Return a pool of connections; none is made yet.

        Args:
            **options: Of the pool, where ours do not fit.

        Raises:
            SettingsError: The driver or the folder of the file is missing.
        """

    @abstractmethod
    def prepare(self, connection: Connection) -> None:
        """Make the database ready, holding off everyone else who does so; in a transaction that writes."""

    @abstractmethod
    def session_us(self) -> ColumnElement[int]:
        """Return an expression for the clock that sessions are measured with, in microseconds."""

    @abstractmethod
    def wall_us(self) -> ColumnElement[int]:
        """Return an expression for the wall clock, in microseconds since 1970."""

    @abstractmethod
    def announce(self, connection: Connection) -> None:
        """Ring the bells of all clients when the connection's transaction is committed."""

    @abstractmethod
    def bell(self, connection: Connection) -> Bell:
        """Return the bell of a connection that is used for nothing but watching."""

    @abstractmethod
    def server_time(self, connection: Connection) -> datetime:
        """Return the database's wall-clock time."""

    @abstractmethod
    def sever(self, driver: Any) -> None:
        """End what another thread does on a driver's connection; it gets an error. Never blocks."""

    @abstractmethod
    def trouble(self, error: Exception) -> Trouble:
        """Return what an error of the driver means."""
