"""The configuration of a job: what it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from shardsched.core.schedule import Schedule, make_schedule
from shardsched.core.task import is_builtin

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_S = 30 * 86_400.0
"""Longest span of seconds that a setting takes: thirty days."""
MAX_STOP_GRACE_S = 60.0
"""Longest time from asking a run to stop to killing it, in seconds."""
MAX_RETRIES = 100
"""Most retries of one fire."""
MAX_RETRY_BACKOFF = 10.0
"""Largest factor between one delay of a retry and the next."""


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


class AfterMode(StrEnum):
    """Which of several upstream jobs a dependent job waits for."""

    ALL = "all"
    """Every one has completed a fire since the dependent job last fired for them."""
    ANY = "any"
    """One has completed a fire."""


class AfterOn(StrEnum):
    """Which completed fires of an upstream job count."""

    SUCCESS = "success"
    """Those whose every item is done."""
    FAILURE = "failure"
    """Those with an item that is not done."""
    ALWAYS = "always"
    """All of them."""


class OnFailure(StrEnum):
    """What is done when a run has failed for good, where it is no function that is called."""

    LOG = "log"
    """It is logged as an error."""
    IGNORE = "ignore"
    """It is logged for debugging only."""
    RAISE = "raise"
    """It is logged by the root logger of the executor's process, as critical, with the traceback."""


def is_function_place(text: str) -> bool:
    """Whether a text names a function, as ``module:function``."""
    module, _, function = text.partition(":")
    return function.isidentifier() and all(part.isidentifier() for part in module.split("."))


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
    """When it fires; empty: only when it is triggered or a job before it is done."""
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
    pause: tuple[str, ...] = ()
    """Windows of time, in its zone, in which it does not fire: ``22:00-06:00``, ``12/24-01/02``, ``sat,sun``."""
    after: tuple[str, ...] = ()
    """Upstream jobs whose completed fires trigger it."""
    after_mode: AfterMode = AfterMode.ALL
    """Whether all upstream jobs must have completed, or any."""
    after_on: AfterOn = AfterOn.SUCCESS
    """Which completed fires of them count."""
    task: Mapping[str, Any] = field(default_factory=dict)
    """What a built-in handler does, as its kind defines it; empty for handlers of code."""
    retries: int = 0
    """How often a failed run is tried again for the same fire."""
    retry_delay_s: float = 10.0
    """Seconds before the first retry."""
    retry_backoff: float = 2.0
    """By what each further delay is multiplied."""
    retry_max_delay_s: float = 600.0
    """Longest delay of a retry, in seconds."""
    on_failure: str = "log"
    """What is done when a run has failed for good: ``log``, ``ignore``, ``raise``, or ``module:function``."""
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
    paused_at: datetime | None = None
    """When it was paused; None while it is not, and for one that was created so."""
    disabled_items: tuple[int, ...] = ()
    """Items that start nothing until they are enabled."""
    deleting: bool = False
    """Whether it is being deleted: nothing starts any more."""

    def schedule(self) -> Schedule:
        """Return when it fires by itself.

        Raises:
            CronExpressionError: The expression or the zone is not valid.
            JobConfigError: A pause window is not valid.
        """
        return make_schedule(self.cron, self.timezone, self.pause)

    def fails_over(self, item: int) -> bool:
        """Whether a run of an item that was left unfinished goes on elsewhere."""
        return self.failover and not self.paused and not self.deleting and item not in self.disabled_items

    @property
    def run_isolation(self) -> Isolation:
        """Where its items run whatever is stored: a program or a spider would take the place of the executor."""
        return Isolation.PROCESS if is_builtin(self.handler) else self.isolation

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
    "pause",
    "after",
    "after_mode",
    "after_on",
    "task",
    "retries",
    "retry_delay_s",
    "retry_backoff",
    "retry_max_delay_s",
    "on_failure",
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
    "disabled_items",
    "paused",
)
"""What people may set of a job."""
