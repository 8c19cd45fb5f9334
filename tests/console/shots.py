"""Pictures of every page, to be looked at by a person: ``python -m tests.console.shots [NAME...]``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.core.fire import ItemState
from shardsched.people import People
from shardsched.people.audit import AuditEntry, Result
from shardsched.people.role import Role
from tests.console.page import Window, chromium, served
from tests.console.site import PASSWORD, Site
from tests.console.troupe import Troupe

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(tempfile.gettempdir()) / "console-shots"
PAGES = {
    "overview": "/overview",
    "map": "/map",
    "map-owner": "/map?by=executor",
    "map-item": "/map/item?job=news&item=1",
    "profile": "/profile",
    "users": "/users",
    "user-new": "/users/new",
    "user": "/users/2",
    "tokens": "/tokens",
    "audit": "/audit",
    "audit-entry": "/audit/1",
    "search": "/search?q=u",
    "api": "/api/docs",
    "missing": "/nothing-here",
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


def take(site: Site, browser: Browser, wanted: list[str]) -> None:
    """Take the pictures."""
    admin = site.user("admin", "li.wei")
    with served(site.app) as address, Window.open(browser, address) as window:
        page = window.page
        page.goto("/login")
        page.screenshot(path=FOLDER / "login.png")
        window.sign_in(admin.name, PASSWORD)
        for theme, language, width in LOOKS:
            site.people.users.update(admin.id, {"theme": theme, "language": language})
            page.set_viewport_size({"width": width, "height": 900})
            for name, path in PAGES.items():
                if not wanted or name in wanted:
                    page.goto(path, wait_until="networkidle")
                    page.screenshot(path=FOLDER / f"{name}-{theme}-{language}-{width}.png", full_page=name != "api")


def main() -> None:
    """Make a site, fill it, and take its pictures."""
    FOLDER.mkdir(exist_ok=True)
    path = shutil.which("chromium") or "chromium"
    with tempfile.TemporaryDirectory() as name, chromium(path) as browser:
        folder = Path(name)
        people = People(f"sqlite:///{folder / 'empty.db'}", "fleet")
        people.check()
        people.close()
        site = Site(folder, folder / "empty.db")
        fill(site)
        take(site, browser, sys.argv[1:])
        site.close()
    sys.stdout.write(f"{FOLDER}\n")


if __name__ == "__main__":
    main()
