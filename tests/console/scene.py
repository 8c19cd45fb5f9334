"""Sites with a fleet in all states, with none, and with what is away: what tests of barriers look at."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from flask import abort, request

from console.role import role
from shardsched.core.executor import LoadReport
from shardsched.core.fire import ItemState
from shardsched.people.audit import AuditEntry, Result
from shardsched.people.role import Role
from tests.console.crew import Crew
from tests.console.run_stage import HOSTILE, LONG, RTL, Stage
from tests.console.troupe import HOSTILE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.console.site import Site

LONG_USER = "a.rather-long-name-of-somebody-who-has-a-long-name@example.org"
LONG_JOB = "a-name-that-somebody-let-a-script-make-from-an-address-shop.example.org." + "x" * 56
_OUTCOMES = ("ok", "failed", "timeout", "stopped", "missed", "lost")


def full(site: Site, state_dir: Path) -> None:
    """A fleet with everything that looks bad."""
    _people(site)
    _errors(site)
    crew = Crew(site)
    _fleet(crew)
    _past(Stage(site), state_dir)
    crew.show()


def empty(site: Site, _state_dir: Path) -> None:
    """Somebody who may see all, and nothing to see."""
    site.user("admin")
    site.parts.fleet.sight()


def new(_site: Site, _state_dir: Path) -> None:
    """Nobody at all."""


def unseen(site: Site, _state_dir: Path) -> None:
    """A registry that has not answered since the console began."""
    site.is_registry_away = True
    site.user("admin")
    site.parts.fleet.sight()


def away(site: Site, _state_dir: Path) -> None:
    """A registry that has answered, and does no more."""
    site.user("admin")
    crew = Crew(site)
    crew.join("crawler-a")
    crew.job("books", {"crawler-a": (0, 1)}, items=2)
    crew.show()
    link = site.parts.fleet._link
    assert link is not None
    link.close()
    crew.show()


def ill(site: Site, _state_dir: Path) -> None:
    """A history that cannot be read, while people can sign in."""
    site.user("admin")
    Crew(site).join("crawler-a")
    with site.history.database.writing() as connection:
        for table in ("runs", "hours", "events"):
            connection.exec_driver_sql(f"ALTER TABLE shardsched_{table} RENAME TO gone_{table}")


def broken(site: Site, _state_dir: Path) -> None:
    """A database that is none."""
    site.people.close()
    with Path(site.people.place.removeprefix("SQLite file ")).open("r+b") as file:
        file.write(b"no database at all" * 100)


def crowd(site: Site, _state_dir: Path) -> None:
    """More items than cells of a usual width have room for."""
    site.user("admin")
    crew = Crew(site)
    crew.join("crawler-a")
    for number in range(30):
        crew.job(f"job-{number:02}", {"crawler-a": tuple(range(40))}, items=40)
    crew.show()


SCENES: dict[str, Callable[[Site, Path], None]] = {
    scene.__name__: scene for scene in (full, empty, new, unseen, away, ill, broken, crowd)
}
"""What is played on a site, by name."""


def _people(site: Site) -> None:
    admin = site.user("admin")
    site.user("viewer", LONG_USER)
    site.people.tokens.create(admin, "deploys", Role.VIEWER, scope="news-*")
    before, after = {"role": "viewer"}, {"role": "admin"}
    site.people.audit.begin(
        AuditEntry(actor="robot", action="user.update", object="x" * 120, before=before, after=after)
    )
    site.people.audit.begin(
        AuditEntry(actor="", action="session.failed", kind="user", object="root", result=Result.REFUSED)
    )


def _errors(site: Site) -> None:
    """Have an address that refuses as one likes."""

    @role("viewer")
    def refuse() -> str:
        abort(int(request.args["status"]))

    site.app.view_functions["job.export"] = refuse


def _fleet(crew: Crew) -> None:
    for name in ("crawler-a", "crawler-b"):
        crew.join(name, labels={"region": "eu"}, slots=16)
    crew.lead("crawler-a")
    books = {0: "<b>fiction</b>"}
    crew.job("books", {"crawler-a": (0,), "crawler-b": (1,)}, items=2, item_params=books, description="All shelves")
    crew.job("news", {"crawler-a": (0, 2), "crawler-b": (1, 3)}, items=4, cron="*/10 * * * *", failover=False)
    crew.job("asleep", {"crawler-a": (0,)}, paused=True)
    crew.job("alone", {}, labels={"gpu": "yes"}, items=3)
    crew.job(LONG_JOB, {"crawler-b": (0,)}, handler="@http", task={"url": "https://shop.example/{item}"}, items=30)
    for name in HOSTILE_NAMES:
        crew.put(crew.paths.job(name), b"{")
    crew.write_cursor("books", 1, state=ItemState.FAILED, message="RuntimeError: 503", executor="crawler-b")
    crew.claim("news", 0, "crawler-a", attempt=2)
    crew.save("books", 0, "page 7")
    crew.admin.executors.drain("crawler-b", by="ann", reason="new disk")
    crew.admin.jobs.disable("news", [3])


def _past(stage: Stage, state_dir: Path) -> None:
    for name in ("crawler-a", "crawler-b"):
        stage.load(name)
    stage.executor(RTL)
    jobs = ("books", "news", HOSTILE, LONG)
    for number in range(12):
        at = stage.now - timedelta(seconds=60 * number + 90)
        stage.keep(stage.run(queued_at=at, outcome=_OUTCOMES[number % 6], job=jobs[number % 4], item=number % 2))
    fault = {"outcome": "failed", "message": "It failed", "traceback": "Traceback\n  line", "exit_code": 1}
    failed = stage.run(run_id="failed", attempt=2, cause="failover", job_param="depth=3", **fault)
    lines = b"".join(b"\x1b[31mline\x1b[0m %d of many\n" % number for number in range(1, 1_001))
    live = stage.running(run_id="live")
    stage.keep(stage.with_log(failed, state_dir, lines), stage.with_log(live, state_dir, b"begins\n"))
    for number in range(30):
        at = stage.now - timedelta(seconds=300 - 10 * number)
        report = LoadReport(at=at, running=number % 4, cpu=0.2, memory_mb=80.0)
        stage.site.parts.loads.add({"crawler-a": report})
    stage.event("executor_joined", executor="crawler-a", message="joined the fleet")
