"""Pictures of every page, to be looked at by a person: ``python -m tests.console.shots [NAME...]``.

They go into the folder ``SHOTS`` names, by default one for temporary files. What does not fit its place is printed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.core.executor import LoadReport
from shardsched.core.fire import ItemState
from shardsched.people import People
from shardsched.people.audit import AuditEntry, Result
from shardsched.people.role import Role
from tests.console.page import Window, chromium, served
from tests.console.run_stage import HOSTILE, LONG, RTL, Stage
from tests.console.shot_scenes import FAULTS, PAPER, SCENES, add_faults
from tests.console.site import PASSWORD, Site
from tests.console.troupe import Troupe

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(os.environ.get("SHOTS", Path(tempfile.gettempdir()) / "console-shots"))
PAGES = {
    "overview": "/overview",
    "map": "/map",
    "map-owner": "/map?by=executor",
    "map-item": "/map/item?job=news&item=1",
    "profile": "/profile",
    "jobs": "/jobs",
    "job-new": "/jobs:new",
    "job-files": "/jobs:files",
    "users": "/users",
    "user-new": "/users/new",
    "user": "/users/2",
    "tokens": "/tokens",
    "audit": "/audit",
    "audit-entry": "/audit/1",
    "search": "/search?q=u",
    "api": "/api/docs",
    "missing": "/nothing-here",
    "executions": "/executions",
    "executions-none": "/executions?job=nobody",
    "execution": "/executions/shown-failed",
    "execution-live": "/executions/shown-live",
    "executors": "/executors",
    "executor": "/executors/crawler-a",
    "statistics": "/statistics?range=1h",
    "statistics-day": "/statistics?range=24h&of=executors",
    "statistics-week": "/statistics?range=7d",
    "statistics-month": "/statistics?range=30d",
    "statistics-none": "/statistics?range=1h&job=nobody",
    "audit-none": "/audit?actor=nobody",
    "executors-none": "/executors?q=nobody",
    "executions-failed": "/executions?outcome=bad&cause=manual",
    **{f"fault-{status}": f"/fault/{status}" for status in FAULTS},
}
LOOKS = (
    ("light", "en", 1440),
    ("dark", "zh_Hans", 1440),
    ("dark", "en", 1024),
    ("light", "zh_Hans", 390),
    ("dark", "en", 390),
)


def fill(site: Site) -> None:
    """Put somebody and something into the site."""
    admin = site.user("admin", "li.wei")
    for role, name in (("operator", "anna.schmidt"), ("viewer", "bob"), ("operator", "\u738b\u5c0f\u660e")):
        site.user(role, name)
        site.people.audit.begin(
            AuditEntry(
                actor="li.wei", action="user.create", kind="user", object=name, after={"role": role}, result=Result.DONE
            )
        )
        site.clock.advance(400)
    site.people.audit.begin(
        AuditEntry(actor="", action="session.failed", kind="user", object="root", result=Result.REFUSED)
    )
    _play(Troupe(site))
    site.people.tokens.create(admin, "deploy pipeline", Role.OPERATOR, scope="news-*")
    site.people.tokens.create(site.user("viewer", "bob"), "grafana", Role.VIEWER)


def _play(troupe: Troupe) -> None:
    """Have a small fleet do this and that."""
    names = ("crawler-a", "crawler-b", "crawler-c")
    for name in names:
        troupe.join(name, slots=16)
    troupe.lead(names[0])
    for number, job in enumerate(("news", "shop-prices", "weibo-hot", "\u6293\u53d6-\u65b0\u95fb", "a" * 100, "stock")):
        count = 4 + 2 * number
        owners = {name: tuple(range(place, count, 3)) for place, name in enumerate(names)}
        troupe.job(job, owners, items=count, cron=f"*/{5 + number} * * * *", item_params={1: "region=north"})
        for item in range(count):
            state = ItemState.FAILED if (item + number) % 9 == 8 else ItemState.DONE
            troupe.write_cursor(job, item, state=state, executor=names[item % 3], message="HTTP 503 from the site")
    for item in (0, 1, 3):
        troupe.claim("news", item, names[item % 3], attempt=1)
    troupe.admin.jobs.pause("stock")
    troupe.job("gpu-render", {}, labels={"gpu": "yes"}, items=3)
    troupe.admin.executors.drain(names[2], by="li.wei", reason="new disk")


def fill_runs(site: Site, state_dir: Path) -> Stage:
    """Put a fleet and its past into the site."""
    stage = Stage(site)
    for name in ("crawler-a", "crawler-b", "crawler-c", RTL, LONG[:128]):
        stage.executor(name, is_leader=name == "crawler-b", labels={"region": "eu", "net": "fast"})
    site.parts.fleet.sight(fresh=True)
    admin = site.parts.fleet.admin()
    admin.executors.drain("crawler-c", reason="kernel update", by="anna.schmidt")
    outcomes = ("ok", "ok", "ok", "failed", "ok", "ok", "timeout", "ok", "stopped", "ok", "missed", "lost", "ok")
    jobs = ("news", "prices", HOSTILE, LONG[:300], "shop-\u5546\u54c1", "weather")
    for number in range(160):
        outcome = outcomes[number % len(outcomes)]
        message = {"failed": "ConnectionError: https://news.example answered 503", "timeout": "took longer than 30 s"}
        stage.keep(
            stage.run(
                queued_at=stage.now - timedelta(seconds=21 * number + 60),
                outcome=outcome,
                job=jobs[number % len(jobs)],
                item=number % 10,
                executor=f"crawler-{'abc'[number % 3]}",
                duration_s=2.0 + number * 7 % 31,
                message=message.get(outcome, ""),
                cause="manual" if number % 9 == 4 else "schedule",
                by="anna.schmidt" if number % 9 == 4 else "",
            )
        )
    text = "".join(
        f"2026-12-01 09:{n // 60 % 60:02}:{n % 60:02} \x1b[32mINFO\x1b[0m page {n} of 1800: https://news.example/{n}\n"
        for n in range(1800)
    )
    first = stage.run(
        run_id="shown-first", executor="crawler-b", outcome="lost", queued_at=stage.now - timedelta(seconds=95)
    )
    failed = stage.run(
        run_id="shown-failed",
        attempt=2,
        cause="failover",
        fire=first.fire,
        outcome="failed",
        exit_code=1,
        message="ConnectionError: https://news.example answered 503 for page 1799",
        traceback='Traceback (most recent call last):\n  File "news.py", line 41, in crawl\n    page = get(url)\n'
        "ConnectionError: https://news.example answered 503 for page 1799\n",
        queued_at=stage.now - timedelta(seconds=60),
        job_param="depth=3",
    )
    live = stage.running(run_id="shown-live", item=4, queued_at=stage.now - timedelta(seconds=20))
    stage.keep(
        first,
        stage.with_log(failed, state_dir, text.encode()),
        stage.with_log(live, state_dir, text[:20_000].encode()),
    )
    for number in range(240):
        at = stage.now - timedelta(seconds=15 * (240 - number))
        load = LoadReport(
            at=at, running=3 + number % 5, queued=number // 60, cpu=0.2 + number % 17 / 40, memory_mb=80 + number / 9
        )
        site.parts.loads.add({"crawler-a": load})
    stage.event("executor_joined", executor="crawler-a", message="joined the fleet", at=stage.now - timedelta(hours=5))
    stage.event("leader_elected", executor="crawler-a", message="leads now", at=stage.now - timedelta(hours=4))
    stage.event(
        "command_drain",
        executor="crawler-a",
        by="anna.schmidt",
        message="kernel update",
        at=stage.now - timedelta(hours=3),
    )
    stage.event(
        "failover_taken",
        executor="crawler-a",
        job="news",
        item=2,
        message="runs again what crawler-b left",
        at=stage.now,
    )
    return stage


def take(site: Site, browser: Browser, wanted: list[str]) -> None:
    """Take the pictures."""
    admin = site.user("admin", "li.wei")
    with served(site.app) as address, Window.open(browser, address) as window:
        page = window.page

        def shoot(name: str, *, is_whole: bool = True) -> None:
            page.screenshot(path=FOLDER / f"{name}.png", full_page=is_whole)
            for line in window.too_wide():
                sys.stdout.write(f"{name}: {line}\n")

        page.goto("/login")
        shoot("login")
        page.fill("[name=name]", "root")
        page.fill("[name=password]", "wrong")
        page.click("button.btn-primary")
        shoot("login-refused")
        window.sign_in(admin.name, PASSWORD)
        for theme, language, width in LOOKS:
            site.people.users.update(admin.id, {"theme": theme, "language": language})
            page.set_viewport_size({"width": width, "height": 900})
            for name, path in PAGES.items():
                if not wanted or name in wanted:
                    page.goto(path, wait_until="networkidle")
                    shoot(f"{name}-{theme}-{language}-{width}", is_whole=name != "api")
            for name, act in SCENES.items():
                if not wanted or name in wanted:
                    act(page)
                    shoot(f"{name}-{theme}-{language}-{width}", is_whole=False)
        for name in PAPER:
            if not wanted or f"paper-{name}" in wanted:
                page.set_viewport_size({"width": 1024, "height": 900})
                page.goto(PAGES[name], wait_until="networkidle")
                page.emulate_media(media="print")
                shoot(f"paper-{name}")
                page.emulate_media(media="screen", forced_colors="active")
                shoot(f"forced-{name}")
                page.emulate_media(media="screen", forced_colors="none")


def main() -> None:
    """Make a site, fill it, and take its pictures."""
    FOLDER.mkdir(exist_ok=True)
    path = shutil.which("chromium") or "chromium"
    with tempfile.TemporaryDirectory() as name, chromium(path) as browser:
        folder = Path(name)
        people = People(f"sqlite:///{folder / 'empty.db'}", "fleet")
        people.check()
        people.close()
        site = Site(folder, folder / "empty.db", state_dir=folder / "state")
        add_faults(site.app)
        with served(site.app) as address, Window.open(browser, address) as window:
            window.page.goto("/setup")
            window.page.screenshot(path=FOLDER / "setup.png")
            window.page.fill("[name=code]", "WRONG")
            window.page.fill("[name=name]", "li.wei")
            window.page.fill("[name=password]", "short but twelve")
            window.page.click("button.btn-primary")
            window.page.screenshot(path=FOLDER / "setup-refused.png")
        fill(site)
        stage = fill_runs(site, folder / "state")
        take(site, browser, sys.argv[1:])
        stage.close()
        site.close()
    sys.stdout.write(f"{FOLDER}\n")


if __name__ == "__main__":
    main()
