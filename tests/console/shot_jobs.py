"""Pictures of the jobs' pages and of the map in all their states, to be looked at by a person.

``PYTHONPATH=. python -m tests.console.shot_jobs [NAME...]``: a name is that of a stage (``empty``, ``full``, ``acts``,
``crowd``) or of one picture; without names all are taken. They go into the folder ``SHOTS`` names, by default one for
temporary files; ``LOOK`` names the looks, such as ``light-en-1440``. What does not fit its place is printed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.stage.crowd import Crowd, Size
from shardsched.people import People
from shardsched.testing import MemoryRegistry
from tests.console.crew import Crew
from tests.console.page import Window, chromium, served
from tests.console.shot_fleet import play
from tests.console.shot_job_scenes import ACTS, CROWD, EMPTY, FULL, Scenes
from tests.console.site import PASSWORD, Site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

FOLDER = Path(os.environ.get("SHOTS", Path(tempfile.gettempdir()) / "console-shots"))
LOOKS = (
    ("light", "en", 1440),
    ("light", "en", 1280),
    ("dark", "zh_Hans", 1440),
    ("dark", "en", 1024),
    ("light", "zh_Hans", 390),
)
SETTLE_MS = 300
RUNNING = 2_000
_TOO_WIDE = """() => [...document.querySelectorAll("html, .table-box, .btn, .badge, .card-head")]
  .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.tagName}.${one.className} ${one.scrollWidth} > ${one.clientWidth}`)"""


def take(site: Site, crew: Crew, browser: Browser, scenes: Scenes) -> None:
    """Take the pictures of some scenes in all looks."""
    admin = site.user("admin", "li.wei")
    wanted = os.environ.get("LOOK", "")
    with served(site.app) as address, Window.open(browser, address) as window:
        window.sign_in(admin.name, PASSWORD)
        for theme, language, width in LOOKS:
            look = f"{theme}-{language}-{width}"
            if wanted and look not in wanted:
                continue
            site.people.users.update(admin.id, {"theme": theme, "language": language})
            window.page.set_viewport_size({"width": width, "height": 900})
            for name, act in scenes.items():
                act(window.page, crew)
                window.page.wait_for_timeout(SETTLE_MS)  # parts that come by themselves
                is_whole = not window.page.locator("dialog[open]").count()
                window.page.screenshot(path=FOLDER / f"{name}-{look}.png", full_page=is_whole)
                for line in window.page.evaluate(_TOO_WIDE):
                    sys.stdout.write(f"{name} {look}: {line}\n")


@contextmanager
def made_site() -> Iterator[Site]:
    """Make a console without a fleet, and end it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        people = People(f"sqlite:///{folder / 'empty.db'}", "fleet")
        people.check()
        people.close()
        site = Site(folder, folder / "empty.db", state_dir=folder / "state")
        yield site
        site.close()


def chosen(stage: str, scenes: Scenes) -> Scenes:
    """Return the scenes of a stage that are asked for."""
    wanted = sys.argv[1:]
    return scenes if not wanted or stage in wanted else {name: act for name, act in scenes.items() if name in wanted}


def main() -> None:
    """Make each fleet, and take its pictures."""
    FOLDER.mkdir(exist_ok=True, parents=True)
    empty, full, crowd = chosen("empty", EMPTY), chosen("full", FULL) | chosen("acts", ACTS), chosen("crowd", CROWD)
    with chromium(shutil.which("chromium") or "chromium") as browser:
        if empty:
            with made_site() as site:
                take(site, Crew(site), browser, empty)
        if full:
            with made_site() as site:
                take(site, play(site), browser, full)
        if crowd:
            with made_site() as site:
                registry = MemoryRegistry(site.store)
                registry.open()
                fleet = Crowd(registry, site.paths, Size())
                fleet.build()
                fleet.begin(RUNNING)
                take(site, Crew(site), browser, crowd)
                registry.close()
    sys.stdout.write(f"{FOLDER}\n")


if __name__ == "__main__":
    main()
