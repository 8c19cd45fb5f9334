"""The configuration of a job: what it is, how it is checked, and how it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from shardsched.core.codec import Fields, encode, time_text
from shardsched.core.cron import Cron, check_can_fire, parse_cron
from shardsched.core.item import MAX_ITEM_COUNT, check_item_params
from shardsched.core.name import check_job_name, check_text
from shardsched.errors import JobConfigError

if TYPE_CHECKING:
    from datetime import datetime

MAX_CONFIG_BYTES = 256 * 1024
"""Largest stored configuration; half of what a node may hold, so that a reader never meets the limit."""

_MAX_S = 30 * 86_400.0
_MAX_STOP_GRACE_S = 60.0


class Misfire(StrEnum):
    """What to do about fires whose moment passed while nobody could start them."""

    ONCE = "once"
    """Run the latest one."""
    SKIP = "skip"
    """Run none; wait for the next."""
    ALL = "all"
    """Run each in order, the latest hundred at most."""


class Isolation(StrEnum):
    """Where an item runs."""

    PROCESS = "process"
    """In a process of its own, which can really be stopped."""
    THREAD = "thread"
    """In a thread of the executor: cheap, but it stops only where it asks to."""


class Strategy(StrEnum):
    """How items are spread over executors."""

    STICKY = "sticky"
    """Even, with the fewest moves."""
    AVERAGE = "average"
    """ElasticJob's average allocation."""
    ODEVITY = "odevity"
    """ElasticJob's average allocation, in reverse order for jobs whose name has an even hash."""
    ROUND_ROBIN = "round-robin"
    """ElasticJob's rotation of the executors by the hash of the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobConfig:
    """What people or code say of a job. Checked by `check_job`; stored at ``/jobs/{job}``."""

    name: str
    """Unique in the namespace."""
    uid: str
    """Made when the job is created; a record with another uid belongs to a job that is gone."""
    handler: str
    """Name of the code it runs, as given to ``@sharded_job``."""
    cron: str
    """When it fires."""
    armed_at: datetime
    """When it was created, resumed or its cron last changed: no fire up to then is ever due."""
    timezone: str = "UTC"
    """Zone in which the cron expression is read."""
    items: int = 1
    """Number of sharding items."""
    item_params: Mapping[int, str] = field(default_factory=dict)
    """A parameter for each item, where one is given."""
    param: str = ""
    """A parameter for the whole job."""
    failover: bool = True
    """Whether another executor runs again what a dead one left unfinished."""
    misfire: Misfire = Misfire.ONCE
    """What happens to fires that nobody could start in time."""
    misfire_grace_s: float = 60.0
    """How late a fire may start and still be on time, in seconds."""
    timeout_s: float | None = None
    """A run is killed after this many seconds."""
    warn_after_s: float | None = None
    """A run that takes longer than this many seconds is reported."""
    stop_grace_s: float = 5.0
    """Seconds from asking a run to stop to killing it."""
    isolation: Isolation = Isolation.PROCESS
    """Where its items run."""
    strategy: Strategy = Strategy.STICKY
    """How its items are spread."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Only executors with all of these labels take its items."""
    priority: int = 0
    """Which job starts first when slots are short; higher goes first."""
    description: str = ""
    """For people."""
    paused: bool = False
    """Whether it starts no scheduled fire."""
    deleting: bool = False
    """Whether it is being deleted: nothing starts any more."""

    def parsed_cron(self) -> Cron:
        """Return the trigger.

        Raises:
            CronExpressionError: The expression or the zone is not valid.
        """
        return parse_cron(self.cron, self.timezone)

    def item_param(self, item: int) -> str:
        """Return the parameter of an item, empty where none is given."""
        return self.item_params.get(item, "")


SETTINGS = (
    "handler",
    "cron",
    "timezone",
    "items",
    "item_params",
    "param",
    "failover",
    "misfire",
    "misfire_grace_s",
    "timeout_s",
    "warn_after_s",
    "stop_grace_s",
    "isolation",
    "strategy",
    "labels",
    "priority",
    "description",
    "paused",
)
"""What people may set of a job."""


_CHOICES: Mapping[str, type[StrEnum]] = {"misfire": Misfire, "isolation": Isolation, "strategy": Strategy}


def check_job(config: JobConfig, now: datetime) -> JobConfig:
    """Return the configuration if it may be written.

    Raises:
        JobConfigError: A setting is refused; the message names it and the cure.
        CronExpressionError: The expression is not valid, or has no fire after now.
        ItemParameterError: Parameters for items that do not exist.
    """
    check_job_name(config.name)
    _check_kinds(config)
    _check_counts(config)
    check_item_params(config.item_params, config.items)
    _check_seconds(config)
    _check_texts(config)
    check_can_fire(config.parsed_cron(), now)
    size = len(encode_job(config))
    if size > MAX_CONFIG_BYTES:
        message = f"the configuration has {size} bytes, {MAX_CONFIG_BYTES} are allowed; shorten the parameters"
        raise JobConfigError(message, setting="item_params")
    return config


def _check_kinds(config: JobConfig) -> None:
    kinds: tuple[tuple[str, type, str], ...] = (
        ("failover", bool, "true or false"),
        ("paused", bool, "true or false"),
        ("cron", str, "a text"),
        ("timezone", str, "a text"),
    )
    for setting, kind, what in kinds:
        value = getattr(config, setting)
        if not isinstance(value, kind):
            raise JobConfigError(f"{setting} is {value!r}; give {what}", setting=setting)


def _check_counts(config: JobConfig) -> None:
    bounds: tuple[tuple[str, Any, int, int], ...] = (
        ("items", config.items, 1, MAX_ITEM_COUNT),
        ("priority", config.priority, -1000, 1000),
    )
    for setting, value, low, high in bounds:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            message = f"{setting} is {value!r}; give a whole number from {low} to {high}"
            raise JobConfigError(message, setting=setting)


def _check_seconds(config: JobConfig) -> None:
    bounds: tuple[tuple[str, Any, float, float], ...] = (
        ("misfire_grace", config.misfire_grace_s, 0.0, _MAX_S),
        ("timeout", config.timeout_s, 0.1, _MAX_S),
        ("warn_after", config.warn_after_s, 0.1, _MAX_S),
        ("stop_grace", config.stop_grace_s, 0.0, _MAX_STOP_GRACE_S),
    )
    for setting, value, low, high in bounds:
        if value is None and setting in {"timeout", "warn_after"}:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            message = f"{setting} is {value!r}; give seconds from {low:g} to {high:g}"
            raise JobConfigError(message, setting=setting)


def _check_texts(config: JobConfig) -> None:
    for setting, kind in _CHOICES.items():
        value = getattr(config, setting)
        if not isinstance(value, str) or value not in set(kind):
            message = f"{setting} is {value!r}; give one of {', '.join(kind)}"
            raise JobConfigError(message, setting=setting)
    if not config.handler:
        raise JobConfigError("handler is empty; give the name of a handler that an executor hosts", setting="handler")
    check_text(config.handler, "handler", JobConfigError, 512)
    check_text(config.description, "description", JobConfigError, 2_000)
    check_text(config.param, "param", JobConfigError, 64 * 1024)
    for item, param in config.item_params.items():
        check_text(param, f"the parameter of item {item}", JobConfigError, 64 * 1024)
    labels: Any = config.labels
    if not isinstance(labels, Mapping):
        raise JobConfigError("labels are not a mapping of texts; write them such as zone=eu", setting="labels")
    for label, text in labels.items():
        check_text(label, "a label's name", JobConfigError, 128)
        check_text(text, f"the value of label {label!r}", JobConfigError, 256)


def change_job(config: JobConfig, changes: Mapping[str, Any], now: datetime) -> JobConfig:
    """Return the configuration with settings changed, armed anew where the change makes it so, and checked.

    Editing a paused job leaves it paused; only a change of ``paused`` resumes it.

    Raises:
        JobConfigError: A setting is unknown or refused.
        CronExpressionError: The expression is not valid, or has no fire after now.
        ItemParameterError: Parameters for items that do not exist.
    """
    unknown = sorted(set(changes) - set(SETTINGS))
    if unknown:
        raise JobConfigError(f"there is no setting {unknown[0]!r}; the settings are {', '.join(SETTINGS)}")
    changed = replace(config, **changes)
    is_resumed = config.paused and not changed.paused
    if is_resumed or (config.cron, config.timezone) != (changed.cron, changed.timezone):
        changed = replace(changed, armed_at=now)
    return check_job(changed, now)


def encode_job(config: JobConfig) -> bytes:
    """Return the stored form."""
    fields: dict[str, Any] = {name: getattr(config, name) for name in config.__dataclass_fields__}
    fields["armed_at"] = time_text(config.armed_at)
    fields["item_params"] = {str(item): value for item, value in sorted(config.item_params.items())}
    fields["labels"] = dict(config.labels)
    return encode(fields)


def decode_job(path: str, name: str, value: bytes) -> JobConfig:
    """Return the configuration stored at ``/jobs/{name}``.

    A cron expression that is not valid is no error here: the job must be shown, held, with its reason.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    try:
        item_params = {int(item): text for item, text in fields.texts("item_params").items()}
    except ValueError:
        raise fields.corrupt("'item_params' has a key that is not a number") from None
    return JobConfig(
        name=name,
        uid=fields.text("uid"),
        handler=fields.text("handler"),
        cron=fields.text("cron"),
        armed_at=fields.time("armed_at"),
        timezone=fields.text("timezone", "UTC"),
        items=fields.integer("items", 1, low=1, high=MAX_ITEM_COUNT),
        item_params=item_params,
        param=fields.text("param", ""),
        failover=fields.flag("failover", default=True),
        misfire=fields.choice("misfire", Misfire, "once"),
        misfire_grace_s=fields.number("misfire_grace_s", 60.0, high=_MAX_S),
        timeout_s=fields.number("timeout_s", high=_MAX_S) if fields.has("timeout_s") else None,
        warn_after_s=fields.number("warn_after_s", high=_MAX_S) if fields.has("warn_after_s") else None,
        stop_grace_s=fields.number("stop_grace_s", 5.0, high=_MAX_STOP_GRACE_S),
        isolation=fields.choice("isolation", Isolation, "process"),
        strategy=fields.choice("strategy", Strategy, "sticky"),
        labels=fields.texts("labels"),
        priority=fields.integer("priority", 0, low=-1000, high=1000),
        description=fields.text("description", ""),
        paused=fields.flag("paused", default=False),
        deleting=fields.flag("deleting", default=False),
    )
