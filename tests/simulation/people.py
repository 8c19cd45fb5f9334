"""What people do to a simulated fleet: they edit, pause, trigger, stop, drain, delete, and break things by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shardsched.admin.command import JobCommands
from shardsched.admin.executor import Executors
from shardsched.admin.job import Jobs
from shardsched.errors import ConfigurationError, ConflictError, NotFoundError
from shardsched.registry.base import Delete

if TYPE_CHECKING:
    from tests.simulation.world import World

CRONS = ("*/2 * * * * ?", "*/5 * * * * ?", "1/7 * * * * ?", "0/30 * * * * ?", "0 * * * * ?", "* * * * * ?")
EDITED = ("cron", "items", "items", "misfire", "misfire_grace", "failover", "retries", "pause", "disabled_items")
PAUSE = "12:01-12:02"
"""A window in which a simulated minute lies."""
NEVER = ""
"""For jobs that fire after others only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """A trigger that was taken."""

    job: str
    uid: str
    number: int
    items: tuple[int, ...]


class HastyCommands(JobCommands):
    """Commands by people who do not wait: in a simulation nobody may, since time passes only between steps."""

    def _await_layout(self, name: str) -> None:
        """Take it as it is."""


class People:
    """The people of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._rng = world.rng
        self.jobs = Jobs(world.people, world.paths, world.clock)
        self._commands = HastyCommands(world.people, world.paths, world.clock)
        self._executors = Executors(world.people, world.paths, world.clock)
        self.presses: list[Press] = []
        self.names = ("a", "b", "c", "d") if world.has_chains else ("a", "b", "c")[: self._rng.randint(1, 3)]
        self.is_failover_off: set[str] = set()
        """Uids of jobs for which a run may end as lost."""
        self._names_flipped = ""
        self._moves = (
            (self._edit, 6),
            (self._flip_items, 3),
            (self._pause, 2),
            (self._resume, 3),
            (self._trigger, 5),
            (self._stop, 2),
            (self._drain, 2),
            (self._undrain, 3),
            (self._delete, 1),
            (self._create, 3),
            (self._delete_leader, 0.4),
            (self._delete_fence, 1.0),
            *([(self._edit_after, 1.5)] if world.has_chains else ()),
        )

    def act(self) -> None:
        """Do something, or find that it cannot be done."""
        moves, weights = zip(*self._moves, strict=True)
        move = self._rng.choices(moves, weights)[0]
        try:
            move()
        except (ConfigurationError, ConflictError, NotFoundError) as error:
            self._world.tell(f"people: {error}")

    def settings(self) -> dict[str, Any]:
        """Return settings of a new job."""
        return {
            "handler": self._rng.choice(["h1", "h1", "h2"]),
            "cron": self._rng.choice(CRONS) if self._rng.random() < 0.95 else "",
            "pause": [PAUSE] if self._rng.random() < 0.15 else [],
            "items": self._rng.randint(1, 5),
            "misfire": self._rng.choice(["once", "once", "skip", "all"]),
            "misfire_grace": self._rng.choice([0.0, 2.0, 60.0]),
            "failover": self._rng.random() < 0.8,
            "priority": self._rng.randint(0, 2),
            "stop_grace": 2.0,
            "retries": self._rng.choice([0, 0, 1, 3]),
            "retry_delay": self._rng.choice([0.2, 1.0, 4.0]),
            "retry_backoff": self._rng.choice([1.0, 2.0]),
            "retry_max_delay": 6.0,
            "disabled_items": [item for item in range(3) if self._rng.random() < 0.3]
            if self._rng.random() < 0.2
            else [],
        }

    def _after(self, name: str, *, is_careful: bool) -> dict[str, Any]:
        """Return for which jobs one waits; what people do not take care of may be a circle, and be refused."""
        chosen = [one for one in self.names if one < name or (one != name and not is_careful)]
        return {
            "after": tuple(one for one in chosen if self._rng.random() < 0.6),
            "after_mode": self._rng.choice(["all", "any"]),
            "after_on": self._rng.choice(["success", "failure", "always"]),
        }

    def _edit_after(self) -> None:
        name = self._rng.choice(self.names)
        settings = self._after(name, is_careful=self._rng.random() < 0.7)
        self._world.tell(f"people: have {name} fire {settings}")
        self.jobs.update(name, settings)

    def create_jobs(self) -> None:
        """Make the first jobs."""
        for name in self.names:
            self._register(name)

    def _register(self, name: str) -> None:
        settings = self.settings()
        if self._world.has_chains:
            settings |= self._after(name, is_careful=True)
            if settings["after"]:
                settings["cron"] = self._rng.choice([NEVER, NEVER, settings["cron"]])
        self.jobs.register(name, settings)
        self._note(name)

    def _note(self, name: str) -> None:
        config = self.jobs.entry(name).config
        if config is not None and (not config.failover or config.paused or config.deleting or config.disabled_items):
            self.is_failover_off.add(config.uid)

    def _create(self) -> None:
        name = self._rng.choice(self.names)
        if name not in self.jobs.names():
            self._world.tell(f"people: create {name}")
            self._register(name)

    def _edit(self) -> None:
        name = self._rng.choice(self.names)
        everything = self.settings()
        setting = self._rng.choice(EDITED)
        self._world.tell(f"people: set {setting} of {name} to {everything[setting]}")
        self.jobs.update(name, {setting: everything[setting]})
        self._note(name)

    def _flip_items(self) -> None:
        """Change a count to and fro, faster than the leader may see it."""
        name = self._names_flipped or self._rng.choice(self.names)
        self._names_flipped = name if self._rng.random() < 0.8 else ""
        count = self._rng.choice([1, 3])
        self._world.tell(f"people: set items of {name} to {count}")
        self.jobs.update(name, {"items": count})

    def _pause(self) -> None:
        name = self._rng.choice(self.names)
        self._world.tell(f"people: pause {name}")
        self.jobs.pause(name)
        self._note(name)

    def _resume(self) -> None:
        name = self._rng.choice(self.names)
        self._world.tell(f"people: resume {name}")
        self.jobs.resume(name)

    def _trigger(self) -> None:
        name = self._rng.choice(self.names)
        config = self.jobs.entry(name).config
        assert config is not None
        items = tuple(range(config.items))
        only = None
        if self._rng.random() < 0.4:
            only = items = tuple(item for item in items if self._rng.random() < 0.5) or (0,)
        receipt = self._commands.trigger(name, only=only, param="p")
        self._world.tell(f"people: trigger {receipt.number} of {name}, items {items}")
        self.presses.append(Press(job=name, uid=config.uid, number=receipt.number, items=items))

    def _stop(self) -> None:
        name = self._rng.choice(self.names)
        self._world.tell(f"people: stop {name}")
        self._commands.stop(name)
        config = self.jobs.entry(name).config
        if config is not None:
            # What is given back after a stop is not run again.
            self.is_failover_off.add(config.uid)

    def _drain(self) -> None:
        members = self._world.living()
        if len(members) > 1:
            name = self._rng.choice(members).name
            is_now = self._rng.random() < 0.5
            self._world.tell(f"people: drain {name}{' now' if is_now else ''}")
            self._executors.drain(name, now=is_now)

    def _undrain(self) -> None:
        marks = self._world.people.children(self._world.paths.under("drained"))
        if marks:
            name = self._rng.choice(marks)
            self._world.tell(f"people: undrain {name}")
            self._executors.undrain(name)

    def undrain_all(self) -> None:
        """Give every executor items again."""
        for name in self._world.people.children(self._world.paths.under("drained")):
            self._executors.undrain(name)

    def _delete(self) -> None:
        name = self._rng.choice(self.names)
        self._world.tell(f"people: delete {name}")
        config = self.jobs.entry(name).config
        if config is not None:
            self.is_failover_off.add(config.uid)
        self.jobs.delete(name, wait_s=0.0)

    def _delete_leader(self) -> None:
        self._world.tell("people: delete the leader's node by hand")
        self._world.people.transact([Delete(self._world.paths.leader)])

    def _delete_fence(self) -> None:
        fences = self._world.people.children(self._world.paths.under("sessions"))
        if fences:
            self._world.tell("people: delete a session's fence by hand")
            members = {member.lease.incarnation: member for member in self._world.living()}
            chosen = [name for name in sorted(members) if name in fences]
            if chosen:
                # By the member's order, since fences have random names.
                chosen.sort(key=lambda one: members[one].name)
                self._world.people.transact([Delete(self._world.paths.session(self._rng.choice(chosen)))])
