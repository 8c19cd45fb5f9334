"""A spectator of the whole fleet: one picture for all who look on, kept fresh at a cost that has a bound.

The control plane is watched. Markers and cursors are read where something happens, the others in turn
(`shardsched.core.attention`), so 100,000 items that do nothing cost about five hundred reads a second, and none when
nobody calls `look`. When the registry is away the last picture stays, and says since when and why.
"""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.admin.live_crew import Crew
from shardsched.admin.live_item import ItemReader, SeenJob, item_count
from shardsched.admin.live_picture import next_picture
from shardsched.admin.live_value import Picture, change_text
from shardsched.admin.reader import Reader
from shardsched.admin.status import FleetStatus
from shardsched.clock import SYSTEM_CLOCK
from shardsched.coordination.mirror import Mirror
from shardsched.core.attention import AFTER_FIRE_S, Attention, listings, next_reading, readings
from shardsched.errors import RegistryError, RegistryUnavailableError
from shardsched.sentence import Sentence, sentence_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.clock import Clock
    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Registry

MAX_LISTINGS = 1_000
"""Jobs listed at one look at most."""
MAX_READINGS = 4_000
"""Items whose cursors are read at one look at most; a first look over 100,000 of them takes 25."""
MAX_SWEPT = 500
"""Items whose cursors are read at one look without an occasion."""
FIRST_REPORT_S = 10.0
"""How long a first look waits for the control plane."""
_GIVEN_UP_S = 300.0
"""After this long a fire that not all items have handled is waited for no longer; the sweep finds out."""
_ASKED_S, _FIRED_S, _MOVED_S = 10.0, 5.0, 5.0
"""How long a job is looked at closely after people asked for something, it fired, or its items moved."""


def _ignore() -> None:
    """Do nothing."""


class LiveFleet:
    """The picture of one namespace.

    `look` is called by one thread, about once a second while somebody looks on; everything else by any.

    Args:
        registry: An open registry, which others may use too.
        paths: The namespace.
        clock: The machine's clocks.

    Attributes:
        on_change: Called when the control plane changed, so that a look pays; on the registry's callback thread.
        report_count: How often that was told; grows after a change of ours, a moment later.
    """

    def __init__(self, registry: Registry, paths: Paths, clock: Clock = SYSTEM_CLOCK) -> None:
        self.on_change: Callable[[], None] = _ignore
        self.report_count = 0
        self._registry = registry
        self._paths = paths
        self._clock = clock
        self._arrived = threading.Event()
        self._mirror = Mirror(registry, paths, self._note_report)
        self._reader = Reader(registry, paths)
        self._items = ItemReader(self._reader)
        self._crew = Crew(self._reader, self._mirror)
        self._jobs: dict[str, SeenJob] = {}
        self._attended: dict[str, float] = {}
        self._picture = Picture(boot=uuid.uuid4().hex[:8], number=0)

    def start(self) -> None:
        """Begin to watch the control plane."""
        self._mirror.start()

    def stop(self) -> None:
        """Stop watching; the last picture stays."""
        self._mirror.stop()

    @property
    def request_count(self) -> int:
        """How many nodes and lists have been asked for."""
        return self._items.request_count + self._crew.request_count

    def picture(self) -> Picture:
        """Return the last picture."""
        return self._picture

    def change_text(self, version: str | None = None) -> str | None:
        """Return as JSON what changed since a picture, None if nothing did; all where that is not known."""
        picture = self._picture
        return None if version == picture.version else change_text(picture, version)

    def status(self) -> FleetStatus | None:
        """Return the fleet as the last picture has it, None before the first."""
        picture = self._picture
        if picture.at is None:
            return None
        present = (one.status for one in picture.executors if one.left_at is None)
        return FleetStatus(
            at=picture.at,
            leader=picture.leader,
            executors=tuple(sorted(present, key=lambda one: one.name)),
            jobs=tuple(job.status for job in picture.jobs.values()),
        )

    def attend(self, job: str) -> None:
        """Look closely at a job for the next ten seconds, as somebody has opened it."""
        self._attended[job] = self._clock.boot() + _ASKED_S

    def look(self) -> Picture:
        """Bring the picture up to date, and return it.

        **Thread:** one at a time.

        Raises:
            RegistryError: The registry gave no answer, or refuses us; the picture keeps what it had, and says why.
        """
        try:
            return self._look()
        except RegistryError as error:
            self._tell(sentence_of(error))
            raise

    def _look(self) -> Picture:
        if not self._mirror.is_complete and not self._arrived.wait(FIRST_REPORT_S):
            raise RegistryUnavailableError(
                Sentence("the registry has not told the control plane yet; check its servers")
            )
        boot, now = self._clock.boot(), self._clock.now()
        is_crew_changed = self._crew.read(boot, now)
        touched = self._take_changes(boot)
        self._attend(boot)
        touched |= self._take_fires(boot, now)
        changed = self._list(boot)
        touched |= {name for name, _ in changed}
        self._items.read_markers(self._jobs, [place for place, is_there in changed.items() if is_there])
        touched |= self._read_cursors(boot, now, [place for place, is_there in changed.items() if not is_there])
        if is_crew_changed:
            touched = set(self._jobs)
        picture = next_picture(self._picture, self._jobs, touched, self._crew, now)
        for name in touched & picture.jobs.keys():
            self._jobs[name].next_fire = picture.jobs[name].status.next_fire
        is_filled = all(job.attention.read_at is not None for job in self._jobs.values())
        if is_filled != picture.is_filled:
            picture = replace(picture, is_filled=is_filled, number=self._picture.number + 1)
        self._picture = picture
        return picture

    def _note_report(self) -> None:
        self.report_count += 1
        if self._mirror.is_complete:
            self._arrived.set()
            self.on_change()

    def _take_changes(self, boot: float) -> set[str]:
        """Take note of jobs that came, went or changed; return them."""
        changed, _ = self._mirror.take_changes()
        for name in changed:
            entry = self._mirror.entry(name)
            if entry is None:
                self._jobs.pop(name, None)
            else:
                self._note_entry(name, entry, boot)
        return set(changed)

    def _note_entry(self, name: str, entry: JobEntry, boot: float) -> None:
        seen = self._jobs.get(name)
        if seen is None or seen.entry.created_id != entry.created_id:
            self._jobs[name] = SeenJob(entry=entry, attention=Attention(items=item_count(entry)))
            return
        is_asked = (seen.entry.version, seen.entry.commands_version) != (entry.version, entry.commands_version)
        seen.attention.expect(boot, _ASKED_S if is_asked else _MOVED_S)
        if is_asked or seen.attention.items != item_count(entry):
            seen.attention.due_at = boot + AFTER_FIRE_S
        seen.attention.items = item_count(entry)
        seen.entry = entry

    def _attend(self, boot: float) -> None:
        for name, until in list(self._attended.items()):
            if until <= boot:
                self._attended.pop(name, None)
            elif name in self._jobs:
                self._jobs[name].attention.expect(boot, until - boot)

    def _take_fires(self, boot: float, now: datetime) -> set[str]:
        """Return the jobs whose next fire has come; their runs may begin at any moment."""
        fired = {name for name, job in self._jobs.items() if job.next_fire is not None and job.next_fire <= now}
        for name in fired:
            job = self._jobs[name]
            job.last_fire, job.next_fire = job.next_fire, None
            job.attention.expect(boot, _FIRED_S)
            job.attention.due_at = boot + AFTER_FIRE_S
        return fired

    def _list(self, boot: float) -> dict[tuple[str, int], bool]:
        names = listings({name: job.attention for name, job in self._jobs.items()}, boot, MAX_LISTINGS)
        changed = self._items.list_running(self._jobs, names)
        for name in names:
            attention = self._jobs[name].attention
            attention.listed_at, attention.is_running = boot, bool(self._jobs[name].running)
        return changed

    def _read_cursors(self, boot: float, now: datetime, ended: list[tuple[str, int]]) -> set[str]:
        """Read the cursors of runs that ended, and of the jobs whose turn it is; return those jobs."""
        attention = {name: job.attention for name, job in self._jobs.items()}
        names = readings(attention, boot, max(MAX_READINGS - len(ended), 1), MAX_SWEPT)
        whole = set(names)
        places = [place for place in ended if place[0] not in whole] + self._items.all_places(self._jobs, names)
        self._items.read_cursors(self._jobs, places)
        for name in names:
            attention[name].read_at = boot
            attention[name].due_at = _next_reading(self._jobs[name], boot, now)
        return whole | {name for name, _ in ended}

    def _tell(self, fault: str) -> None:
        picture = self._picture
        if picture.fault != fault:
            self._picture = replace(picture, fault=fault, number=picture.number + 1)


def _next_reading(job: SeenJob, boot: float, now: datetime) -> float | None:
    """Return when to read all cursors of a job again, None if all have handled what was due."""
    fire, config = job.last_fire, job.entry.config
    if fire is None or config is None or config.paused:
        return None
    since_s = (now - fire).total_seconds()
    idle = set(range(job.attention.items)) - job.running - set(config.disabled_items)
    cursors = (job.views[item].cursor if item in job.views else None for item in idle)
    is_late = any(cursor is None or cursor.fire is None or cursor.fire < fire for cursor in cursors)
    return next_reading(boot, since_s) if is_late and since_s < _GIVEN_UP_S else None
