"""Taking a place in the fleet under a name, and giving it up.

One transaction creates the fence and the executor's record. A name that is held by a dead process of this machine, or
by an earlier session of this very process, is taken over at once; one held by anybody else is waited for as long as a
session may outlive its process, and then refused.
"""

from __future__ import annotations

import logging
import threading
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.coordination.process import is_gone
from shardsched.core.events import Event
from shardsched.core.executor import ExecutorRecord, decode_executor, encode_executor
from shardsched.errors import CorruptNodeError, NameTakenError, RegistryError
from shardsched.registry.base import Committed, Create, Delete, Put

if TYPE_CHECKING:
    from pathlib import Path

    from shardsched.clock import Clock
    from shardsched.coordination.session import Lease
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Node, Operation, Registry

logger = logging.getLogger(__name__)


class Membership:
    """One executor's place.

    Args:
        home: Folder in which the session's ticket is kept between starts, so that a restart under the same name ends
            its predecessor's session at once.
    """

    def __init__(
        self, registry: Registry, paths: Paths, clock: Clock, lease: Lease, record: ExecutorRecord, home: Path | None
    ) -> None:
        self._registry = registry
        self._paths = paths
        self._clock = clock
        self._lease = lease
        self._record = record
        self._home = home
        self._is_written = True

    @property
    def record(self) -> ExecutorRecord:
        """The record as it was last written."""
        return self._record

    def join(self, patience_s: float | None = None) -> None:
        """Take the place, waiting for a name that is held.

        Args:
            patience_s: Seconds to wait; None for as long as a dead process's session may last.

        Raises:
            NameTakenError: A living executor holds the name.
            RegistryUnavailableError: No answer; joining again is safe.
        """
        self._end_predecessor()
        timeout_s = self._registry.session_timeout_s
        patience_s = timeout_s + 2 * self._registry.tick_s if patience_s is None else patience_s
        deadline = self._clock.boot() + patience_s
        while True:
            holder = self._try_join()
            if holder is None:
                return
            left_s = deadline - self._clock.boot()
            if left_s <= 0:
                raise NameTakenError(executor=self._record.name, holder=_describe(self._paths, holder))
            self._wait_until_gone(left_s)

    def _try_join(self) -> Node | None:
        """Try once; return the holder's node if the name is held."""
        path = self._paths.executor(self._record.name)
        incarnation = uuid.uuid4().hex
        record = replace(self._record, incarnation=incarnation)
        sent_at, session_id = self._clock.boot(), self._registry.session_id
        place = [
            Create(self._paths.session(incarnation), ephemeral=True),
            Create(path, encode_executor(record), ephemeral=True),
        ]
        outcome = self._registry.transact(place)
        if isinstance(outcome, Committed):
            self._joined(record, sent_at, session_id)
            return None
        if outcome.index != 1:
            raise outcome.error()
        holder = self._registry.get(path, fresh=True)
        if holder is not None and self._is_dead(holder):
            cleared = self._registry.transact([Delete(path, holder.version), *place])
            if isinstance(cleared, Committed):
                logger.info(
                    "took the name over from a process that is gone",
                    extra={"event": Event.NAME_TAKEN_OVER, "executor": record.name},
                )
                self._joined(record, sent_at, session_id)
                return None
        return holder if holder is not None else self._try_join()

    def _joined(self, record: ExecutorRecord, sent_at: float, session_id: str) -> None:
        # Another thread may have changed the record meanwhile.
        self._record = replace(self._record, incarnation=record.incarnation)
        self._is_written = self._record == record
        self._lease.join(record.incarnation, sent_at, session_id)
        self._keep_ticket()
        logger.info(
            "joined the fleet",
            extra={"event": Event.EXECUTOR_JOINED, "executor": record.name, "incarnation": record.incarnation},
        )

    def _is_dead(self, holder: Node) -> bool:
        """Whether the holder is a process of this machine that is gone, or an earlier session of this one."""
        try:
            record = decode_executor(holder.path, self._record.name, holder.value)
        except CorruptNodeError:
            return False
        if record.host != self._record.host:
            return False
        if (record.pid, record.process_start) == (self._record.pid, self._record.process_start):
            return True
        return is_gone(record.pid, record.process_start)

    def _wait_until_gone(self, timeout_s: float) -> None:
        gone = threading.Event()
        path = self._paths.executor(self._record.name)
        watch = self._registry.watch(path, lambda report: gone.set() if report.nodes.get(path) is None else None)
        try:
            gone.wait(timeout_s)
        finally:
            watch.cancel()

    def update(self, *, unfit: str | None) -> None:
        """Say whether this executor may take items; does nothing if that is what the record says.

        Raises:
            RegistryUnavailableError: No answer; calling again is safe.
        """
        if unfit != self._record.unfit:
            self._record = replace(self._record, unfit=unfit)
            self._is_written = False
        self.refresh()

    def refresh(self) -> None:
        """Write the record if it is not known to stand as it is, as after an answer that was lost.

        Raises:
            RegistryUnavailableError: No answer; calling again is safe.
            SessionLostError: There is no session; the record is written when the next is joined.
        """
        if self._is_written:
            return
        record = self._record
        path = self._paths.executor(record.name)
        update: list[Operation] = [self._lease.fence(), Put(path, encode_executor(record))]
        outcome = self._registry.transact(update, timeout_s=3.0)
        if isinstance(outcome, Committed):
            self._is_written = record is self._record
        else:
            self._lease.fenced_off(outcome)

    def leave(self) -> None:
        """Give the place up; others see it at once. Needs no answer: the session's end does the same."""
        incarnation = self._lease.incarnation
        self._lease.leave()
        if self._home is not None:
            (self._home / "session").unlink(missing_ok=True)
        if not incarnation:
            return
        path = self._paths.executor(self._record.name)
        try:
            self._registry.transact([Delete(self._paths.session(incarnation)), Delete(path)], timeout_s=3.0)
        except RegistryError:
            # Without an answer the session's end does it; where the session has ended before, it is done.
            return
        logger.info("left the fleet", extra={"event": Event.EXECUTOR_LEFT, "executor": self._record.name})

    def _keep_ticket(self) -> None:
        if self._home is None:
            return
        ticket = self._home / "session"
        try:
            self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
            ticket.touch(mode=0o600)
            ticket.write_text(f"{self._record.pid} {self._record.process_start} {self._registry.session_ticket}")
        except OSError as error:
            # A full disk is no reason not to take part: a restart under this name will have to wait for T, no more.
            logger.warning("could not keep the session's ticket at %s: %s", ticket, error)

    def _end_predecessor(self) -> None:
        """End the session that a dead process of this name and machine left, with all its nodes."""
        ticket = None if self._home is None else self._home / "session"
        if ticket is None or not ticket.exists():
            return
        pid, _, rest = ticket.read_text().partition(" ")
        started, _, secret = rest.partition(" ")
        is_other = (pid, started) != (str(self._record.pid), self._record.process_start)
        if not pid.isdigit() or not secret or not is_other or not is_gone(int(pid), started):
            return
        self._registry.end_session(secret)
        ticket.unlink(missing_ok=True)
        logger.info(
            "ended the session that a process which is gone had left",
            extra={"event": Event.NAME_TAKEN_OVER, "executor": self._record.name},
        )


def _describe(paths: Paths, holder: Node) -> str:
    name = holder.path.rpartition("/")[2]
    try:
        record = decode_executor(paths.executor(name), name, holder.value)
    except CorruptNodeError:
        return "an executor whose record cannot be read"
    return f"host {record.host}, process {record.pid}, since {record.started_at.isoformat(timespec='seconds')}"
