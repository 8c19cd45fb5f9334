"""Hypothesis strategies for the values of `shardsched.core`, named in the plural."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from shardsched.core.assignment import MAX_LAYOUT_COUNT, Assignment, Layout
from shardsched.core.command import Commands, Trigger, UpstreamFire
from shardsched.core.executor import DrainMark, ExecutorRecord, LeaderRecord, LoadReport
from shardsched.core.fire import Cause, Cursor, ItemState, Marker
from shardsched.core.job import AfterMode, AfterOn, Isolation, JobConfig, Misfire, Strategy
from shardsched.core.sharding import Need
from shardsched.core.tally import ClosedFire, FireCall, FireKey, FireOutcome, ItemEnd, OpenFire, PendingCall, Tally
from shardsched.core.view import FleetView, JobEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For property tests: what they say does not depend on how busy the machine is."""
HANDLERS = ("crawl", "clean")
"""Handlers that generated executors host and generated jobs run."""
_ZONES = ("eu", "us")
_CRONS = ("* * * * *", "*/5 * * * *", "0 3 * * 1", "0 0 12 L * ?", "0/10 * * * * ?", "@daily")
_EXECUTOR_NAMES = ("e1", "e2", "e3", "e4", "e5", "e6")
_MAX_COUNT = 2**62
_EPOCH = datetime(2026, 1, 1, 12, tzinfo=UTC)


def names() -> st.SearchStrategy[str]:
    """Names that jobs and executors may have."""
    letters = st.text(alphabet="abzAZ09-_.éж漢", min_size=1, max_size=12)
    return letters.filter(lambda name: name not in {".", ".."})


def texts(max_size: int = 20) -> st.SearchStrategy[str]:
    """Texts that can be stored."""
    return st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=max_size)


def times() -> st.SearchStrategy[datetime]:
    """Aware times in UTC within the span that cron serves."""
    return st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - Hypothesis wants its bounds naive


def item_sets(item_count: int = 10_000) -> st.SearchStrategy[tuple[int, ...]]:
    """Items in rising order."""
    return st.sets(st.integers(0, item_count - 1), max_size=30).map(lambda items: tuple(sorted(items)))


def counts(low: int = 0) -> st.SearchStrategy[int]:
    """Counters as they are stored."""
    return st.integers(low, 1000) | st.integers(low, _MAX_COUNT)


def executors(name: str | None = None) -> st.SearchStrategy[ExecutorRecord]:
    """Executors' records; many host a handler of `HANDLERS`."""
    return st.builds(
        ExecutorRecord,
        name=names() if name is None else st.just(name),
        incarnation=texts(),
        host=texts(),
        ip=texts(),
        pid=counts(),
        process_start=texts(),
        started_at=times(),
        version=texts(),
        handlers=st.dictionaries(st.sampled_from(HANDLERS), st.just("shop:crawl")),
        listening=st.sets(st.sampled_from(HANDLERS)).map(lambda some: tuple(sorted(some))),
        labels=st.dictionaries(st.just("zone"), st.sampled_from(_ZONES)),
        slots=st.integers(1, 64),
        unfit=st.none() | st.none() | st.none() | st.just("its clock is 75 s ahead"),
    )


def load_reports() -> st.SearchStrategy[LoadReport]:
    """What executors report."""
    amounts = st.floats(0, 1e9)
    drifts = st.floats(-1e9, 1e9)
    return st.builds(
        LoadReport, at=times(), running=counts(), queued=counts(), cpu=amounts, memory_mb=amounts, drift_s=drifts
    )


def drain_marks() -> st.SearchStrategy[DrainMark]:
    """Marks of drained executors."""
    return st.builds(DrainMark, at=times(), by=texts(), reason=texts(), now=st.booleans())


def leader_records() -> st.SearchStrategy[LeaderRecord]:
    """Who leads."""
    return st.builds(LeaderRecord, name=names(), incarnation=texts(), epoch=counts())


def tasks() -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Built-in handlers, each with a task that it takes."""
    words = texts()
    return st.one_of(
        st.tuples(
            st.just("@shell"), st.fixed_dictionaries({"argv": st.lists(words, max_size=3).map(lambda a: ["x", *a])})
        ),
        st.just(("@http", {"url": "https://shop.example/{item}", "expect": "200-299"})),
        st.just(("@scrapy", {"spider": "shop:Shelf", "settings": {"DOWNLOAD_DELAY": 1}})),
    )


@st.composite
def job_configs(draw: st.DrawFn, name: str | None = None, max_items: int = 10_000) -> JobConfig:
    """Configurations that `check_job` takes."""
    items = draw(st.integers(1, 12) | st.integers(1, max_items))
    seconds = st.floats(0.1, 1000)
    handler, task = draw(st.tuples(st.sampled_from(HANDLERS), st.just({})) | tasks())
    own_name = draw(names()) if name is None else name
    return JobConfig(
        name=own_name,
        uid=draw(texts()),
        handler=handler,
        cron=draw(st.sampled_from([*_CRONS, ""])),
        armed_at=draw(times()),
        timezone=draw(st.sampled_from(["UTC", "Europe/Paris", "GMT+8"])),
        items=items,
        item_params=draw(st.dictionaries(st.integers(0, items - 1), texts(), max_size=5)),
        param=draw(texts()),
        failover=draw(st.booleans()),
        misfire=draw(st.sampled_from(Misfire)),
        misfire_grace_s=draw(seconds),
        timeout_s=draw(st.none() | seconds),
        warn_after_s=draw(st.none() | seconds),
        stop_grace_s=draw(st.floats(0, 60)),
        isolation=Isolation.PROCESS if task else draw(st.sampled_from(Isolation)),
        strategy=draw(st.sampled_from(Strategy)),
        labels=draw(st.just({}) | st.dictionaries(st.just("zone"), st.sampled_from(_ZONES))),
        priority=draw(st.integers(-1000, 1000)),
        pause=tuple(
            draw(st.lists(st.sampled_from(["mon-fri 01:00-02:00", "12/24-01/02", "sat,sun"]), max_size=2, unique=True))
        ),
        after=tuple(draw(st.lists(names().filter(lambda one: one != own_name), max_size=2, unique=True))),
        after_mode=draw(st.sampled_from(AfterMode)),
        after_on=draw(st.sampled_from(AfterOn)),
        task=task,
        retries=draw(st.integers(0, 100)),
        retry_delay_s=draw(seconds),
        retry_backoff=draw(st.floats(1, 10)),
        retry_max_delay_s=draw(seconds),
        on_failure=draw(st.sampled_from(["log", "ignore", "raise", "shop:mourn"])),
        disabled_items=draw(item_sets(items)),
        description=draw(texts()),
        paused=draw(st.booleans()),
        paused_at=draw(st.none() | times()),
        deleting=draw(st.booleans()),
    )


def ownerships(executor_names: Sequence[str], item_count: int) -> st.SearchStrategy[dict[str, tuple[int, ...]]]:
    """Who owns what, as anybody may have left it: some items have no owner, and nothing need be even."""
    # One number for all items, each owner a digit of it: much cheaper to draw than an owner for each item.
    base = len(executor_names) + 1
    return st.integers(0, base**item_count - 1).map(lambda number: _ownership(executor_names, item_count, number))


def _ownership(executor_names: Sequence[str], item_count: int, number: int) -> dict[str, tuple[int, ...]]:
    owned: dict[str, tuple[int, ...]] = {}
    for item in range(item_count):
        number, digit = divmod(number, len(executor_names) + 1)
        if digit:
            name = executor_names[digit - 1]
            owned[name] = (*owned.get(name, ()), item)
    return owned


@st.composite
def assignments(draw: st.DrawFn, uid: str | None = None, max_items: int = 12) -> Assignment:
    """Assignments with one layout or several."""
    starts = sorted(draw(st.sets(times(), max_size=4)))
    first = [None] if draw(st.booleans()) or not starts else []
    layouts = tuple(
        Layout(items=draw(st.integers(1, max_items)), config=draw(counts()), from_fire=start)
        for start in [*first, *starts]
    )
    return Assignment(
        uid=draw(texts()) if uid is None else uid,
        layouts=layouts,
        owners=draw(ownerships(_EXECUTOR_NAMES, max(layout.items for layout in layouts))),
        token_floor=draw(counts()),
        trigger_floor=draw(counts()),
        epoch=draw(counts()),
    )


def _upstream_fires() -> st.SearchStrategy[tuple[UpstreamFire, ...]]:
    fires = st.builds(UpstreamFire, job=names(), at=times(), trigger=counts())
    return st.lists(fires, max_size=2).map(tuple)


def fire_keys() -> st.SearchStrategy[FireKey]:
    """Fires of a job, scheduled and triggered."""
    return st.builds(FireKey, at=times(), trigger=st.just(0) | counts(1))


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    """How far the fires of a job have come."""

    def ended(items: int) -> dict[int, ItemEnd]:
        return draw(st.dictionaries(st.integers(0, items - 1), st.sampled_from(ItemEnd), max_size=6))

    def open_fire() -> OpenFire:
        items = draw(st.integers(1, 12))
        return OpenFire(key=draw(fire_keys()), items=items, begun_by=draw(texts()), ended=ended(items))

    def pending_call() -> PendingCall:
        items = draw(st.integers(1, 12))
        return PendingCall(
            call=draw(st.sampled_from(FireCall)),
            key=draw(fire_keys()),
            items=items,
            ended=ended(items),
            outcome=draw(st.none() | st.sampled_from(FireOutcome)),
            by=draw(texts()),
        )

    closed = st.builds(ClosedFire, key=fire_keys(), outcome=st.sampled_from(FireOutcome))
    return Tally(
        uid=draw(texts()),
        open=tuple(open_fire() for _ in range(draw(st.integers(0, 2)))),
        closed=tuple(draw(st.lists(closed, max_size=3))),
        pending=tuple(pending_call() for _ in range(draw(st.integers(0, 2)))),
    )


@st.composite
def command_records(draw: st.DrawFn) -> Commands:
    """What was asked of a job."""
    triggers = tuple(
        Trigger(
            number=number,
            at=draw(times()),
            items=draw(st.integers(1, 10_000)),
            only=draw(st.none() | item_sets()),
            param=draw(st.none() | texts()),
            by=draw(texts()),
            cause=draw(st.sampled_from([Cause.MANUAL, Cause.DEPENDENCY])),
            upstream=draw(_upstream_fires()),
        )
        for number in sorted(draw(st.sets(counts(1), max_size=4)))
    )
    return Commands(
        uid=draw(texts()),
        triggers=triggers,
        upstream=draw(_upstream_fires()),
        stop=draw(counts()),
        stop_at=draw(st.none() | times()),
        stop_by=draw(texts()),
    )


def cursors() -> st.SearchStrategy[Cursor]:
    """Cursors in every state."""
    moments = st.none() | times()
    return st.builds(
        Cursor,
        uid=texts(),
        state=st.sampled_from(ItemState),
        fire=moments,
        trigger=counts(),
        token=counts(),
        run=texts(),
        run_fire=moments,
        cause=st.sampled_from(Cause),
        attempt=counts(),
        items=counts(1),
        stop=counts(),
        executor=texts(),
        started_at=moments,
        ended_at=moments,
        message=texts(),
        job_param=st.none() | texts(),
        param=st.none() | texts(),
        failures=counts(),
        retry_at=moments,
    )


def markers() -> st.SearchStrategy[Marker]:
    """Markers of running items."""
    return st.builds(
        Marker,
        uid=texts(),
        run=texts(),
        incarnation=texts(),
        executor=texts(),
        fire=times(),
        attempt=counts(),
        started_at=times(),
    )


def _some_executors() -> st.SearchStrategy[tuple[str, ...]]:
    chosen = st.integers(0, 2 ** len(_EXECUTOR_NAMES) - 1)
    return chosen.map(lambda bits: tuple(name for index, name in enumerate(_EXECUTOR_NAMES) if bits >> index & 1))


@st.composite
def needs(draw: st.DrawFn, job: str) -> Need:
    """One job in need of owners, whoever owns its items now (executors that are gone among them)."""
    item_count = draw(st.integers(1, 14))
    return Need(
        job=job,
        item_count=item_count,
        strategy=draw(st.sampled_from([Strategy.STICKY, Strategy.STICKY, *Strategy])),
        eligible=draw(_some_executors()),
        current=draw(ownerships([*_EXECUTOR_NAMES, "gone"], item_count + 2)),
    )


def need_lists() -> st.SearchStrategy[list[Need]]:
    """Several jobs in need of owners."""
    return (
        st.integers(0, 5)
        .flatmap(lambda count: st.tuples(*(needs(f"job{number}") for number in range(count))))
        .map(list)
    )


_LEAN_EXECUTORS = tuple(
    ExecutorRecord(
        name="",
        incarnation="i",
        host="h",
        ip="",
        pid=1,
        process_start="",
        started_at=_EPOCH,
        version="",
        handlers=dict.fromkeys(handlers, "shop:crawl"),
        labels=labels,
        unfit=unfit,
    )
    for handlers in (HANDLERS, HANDLERS[:1], HANDLERS[1:])
    for labels in ({}, {"zone": "eu"}, {"zone": "us"})
    for unfit in (None, None, None, "its clock is 75 s ahead")
)
"""What the leader tells apart in an executor; one draw among them is much cheaper than one for each field."""
_LEAN_JOBS = tuple(
    JobConfig(
        name="",
        uid="u",
        handler=handler,
        cron=cron,
        armed_at=_EPOCH,
        strategy=strategy,
        labels=labels,
        paused=cron == "@daily",
        deleting=cron == "0 3 * * 1" and labels == {},
    )
    for handler in HANDLERS
    for cron in ("* * * * *", "0 * * * *", "@daily", "0 3 * * 1")
    for strategy in (Strategy.STICKY, *Strategy)
    for labels in ({}, {}, {"zone": "eu"})
)
"""What the leader tells apart in a job, likewise."""
_LEAN_STARTS = (
    (None,),
    (None, _EPOCH),
    (_EPOCH,),
    (None, _EPOCH + timedelta(hours=3), _EPOCH + timedelta(days=30)),
    tuple(_EPOCH + timedelta(hours=3 * number) for number in range(MAX_LAYOUT_COUNT)),
)


@st.composite
def _lean_entries(draw: st.DrawFn, name: str) -> JobEntry:
    config = replace(draw(st.sampled_from(_LEAN_JOBS)), name=name, items=draw(st.integers(1, 8)))
    starts = draw(st.none() | st.sampled_from(_LEAN_STARTS))
    if starts is None:
        fault = draw(st.sampled_from([None, "it is not JSON"]))
        return JobEntry(
            name=name,
            version=3,
            created_id=7,
            config=config,
            assignment_version=None if fault is None else 5,
            assignment_fault=fault,
        )
    first_count = draw(st.integers(1, 8))
    layouts = tuple(
        Layout(items=1 + (first_count + 3 * index) % 8, config=index, from_fire=start)
        for index, start in enumerate(starts)
    )
    owners = draw(ownerships(_EXECUTOR_NAMES, max(layout.items for layout in layouts)))
    return JobEntry(
        name=name,
        version=3,
        created_id=7,
        config=config,
        held=draw(st.sampled_from([None, None, None, None, "invalid cron"])),
        assignment=Assignment(uid="u", layouts=layouts, owners=owners, token_floor=9, trigger_floor=2, epoch=1),
        assignment_version=5,
    )


@st.composite
def fleet_views(draw: st.DrawFn) -> FleetView:
    """Control planes of up to six executors and four jobs.

    Jobs are new, assigned anyhow, edited, held, paused, being deleted, or have an assignment that is of no use.
    """
    living = draw(_some_executors())
    return FleetView(
        executors={name: replace(draw(st.sampled_from(_LEAN_EXECUTORS)), name=name) for name in living},
        drained=draw(st.sampled_from([{}, {}, {"e1": DrainMark(at=_EPOCH)}])),
        jobs={name: draw(_lean_entries(name)) for name in ("job0", "job1", "job2", "job3")[: draw(st.integers(0, 4))]},
    )
