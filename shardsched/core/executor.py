"""An executor's record: who it is, what it hosts, and whether it may take items."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.core.codec import Fields, encode, time_text
from shardsched.core.unfit import recalled_unfit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorRecord:
    """What one executor says of itself at ``/executors/{name}``."""

    name: str
    """Unique in the namespace."""
    incarnation: str
    """Its present session's fence; a new one for every session."""
    host: str
    """Name of its machine."""
    ip: str
    """An address of its machine, for people."""
    pid: int
    """Its process."""
    process_start: str
    """When that process began, as the kernel counts it, with the machine's boot: tells a reused pid apart."""
    started_at: datetime
    """When it began, by its own clock."""
    version: str
    """Release of shardsched."""
    handlers: Mapping[str, str] = field(default_factory=dict)
    """Handlers it hosts, by name: the ``module:function`` behind each."""
    listening: tuple[str, ...] = ()
    """Those of its handlers whose listeners are told of whole fires."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Its labels."""
    slots: int = 16
    """How many items it runs at once."""
    unfit: str | None = None
    """Why it may take no items at present (its clock is off), or None."""


def encode_executor(record: ExecutorRecord) -> bytes:
    """Return the stored form."""
    fields = {name: getattr(record, name) for name in record.__dataclass_fields__ if name != "name"}
    fields["started_at"] = time_text(record.started_at)
    fields["handlers"] = dict(record.handlers)
    fields["listening"] = list(record.listening) or None
    fields["labels"] = dict(record.labels)
    return encode(fields)


def decode_executor(path: str, name: str, value: bytes) -> ExecutorRecord:
    """Return the record stored at ``/executors/{name}``.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    return ExecutorRecord(
        name=name,
        incarnation=fields.text("incarnation"),
        host=fields.text("host", ""),
        ip=fields.text("ip", ""),
        pid=fields.integer("pid", 0),
        process_start=fields.text("process_start", ""),
        started_at=fields.time("started_at"),
        version=fields.text("version", ""),
        handlers=fields.texts("handlers"),
        listening=fields.text_list("listening"),
        labels=fields.texts("labels"),
        slots=fields.integer("slots", 1, low=1, high=100_000),
        unfit=recalled_unfit(fields.text("unfit")) if fields.has("unfit") else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """What one executor reports of itself every ten seconds at ``/load/{name}``."""

    at: datetime
    """When it was made, by the executor's clock."""
    running: int = 0
    """Items running."""
    queued: int = 0
    """Items due that wait for a free slot."""
    cpu: float = 0.0
    """Share of one core that the executor itself used lately."""
    memory_mb: float = 0.0
    """Resident memory of the executor itself."""
    drift_s: float = 0.0
    """How far its clock is ahead of the registry's, in seconds."""


def encode_load(report: LoadReport) -> bytes:
    """Return the stored form."""
    fields = {name: getattr(report, name) for name in report.__dataclass_fields__}
    fields["at"] = time_text(report.at)
    return encode(fields)


def decode_load(path: str, value: bytes) -> LoadReport:
    """Return the report stored at ``/load/{name}``.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    return LoadReport(
        at=fields.time("at"),
        running=fields.integer("running", 0),
        queued=fields.integer("queued", 0),
        cpu=fields.number("cpu", 0.0),
        memory_mb=fields.number("memory_mb", 0.0),
        drift_s=fields.number("drift_s", 0.0, low=-1e12),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainMark:
    """Who took an executor's items away at ``/drained/{name}``, and why."""

    at: datetime
    """When."""
    by: str = ""
    """Who."""
    reason: str = ""
    """Why."""
    now: bool = False
    """Whether running items are stopped too, to be failed over."""


def encode_drain(mark: DrainMark) -> bytes:
    """Return the stored form."""
    return encode({"at": time_text(mark.at), "by": mark.by, "reason": mark.reason, "now": mark.now})


def decode_drain(path: str, value: bytes) -> DrainMark:
    """Return the mark stored at ``/drained/{name}``.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    return DrainMark(
        at=fields.time("at"),
        by=fields.text("by", ""),
        reason=fields.text("reason", ""),
        now=fields.flag("now", default=False),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRecord:
    """Who leads, at ``/leader``."""

    name: str
    """The leading executor."""
    incarnation: str
    """Its session's fence."""
    epoch: int
    """Which stretch of leadership this is."""


def encode_leader(record: LeaderRecord) -> bytes:
    """Return the stored form."""
    return encode({"name": record.name, "incarnation": record.incarnation, "epoch": record.epoch})


def decode_leader(path: str, value: bytes) -> LeaderRecord:
    """Return the record stored at ``/leader``.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    return LeaderRecord(
        name=fields.text("name"), incarnation=fields.text("incarnation"), epoch=fields.integer("epoch", 0)
    )
