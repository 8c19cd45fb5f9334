"""The pictures of ``docs/console.md``, of a real fleet: ``PYTHONPATH=. python -m tests.console.pictures [NAME...]``.

Pages that are not there are left out. The documents are written anew where they show the pictures.
"""

from __future__ import annotations

import base64
import re
import shutil
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.console.page import Window, chromium
from tests.console.picture_fleet import PASSWORD, PictureFleet
from tests.packaging.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from shardsched.people.user import User

FOLDER = ROOT / "docs" / "console"
DOCUMENT = ROOT / "docs" / "console.md"
MAX_BYTES = 150_000
BUSY_S = 75.0
"""How long the fleet works before it is pictured."""
_BLOCK = re.compile(r"(<!-- pictures -->\n).*?(<!-- /pictures -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Picture:
    """One page as it is shown."""

    name: str
    """Of its file."""
    path: str
    """Of its page; ``{run}`` is a run that failed."""
    text: str
    """What is to be seen."""
    theme: str = "light"
    """Light or dark."""
    language: str = "en"
    """Of the page."""


PICTURES = (
    Picture("overview", "/overview", "Overview: what the fleet does, and what needs somebody."),
    Picture("map", "/map", "Shard map: every item of every job, coloured by its owner."),
    Picture("jobs", "/jobs", "Jobs: state, schedule, last runs and next fire."),
    Picture("job", "/jobs/prices-otter-toys", "A job: its items, where they run and why."),
    Picture(
        "edit",
        "/jobs/news-hill-weekly/edit#preview",
        "The form of a job: its cron in words and its next fires while it is typed.",
    ),
    Picture("executors", "/executors", "Executors and their load.", theme="dark"),
    Picture("executions", "/executions", "Executions: every run and how it ended."),
    Picture("execution", "/executions/{run}", "A run that failed: its attempts, and what it said.", theme="dark"),
    Picture("log", "/executions/{run}?q=503#h-log", "The output of a run: searched, followed, linked by line."),
    Picture("statistics", "/statistics", "Statistics of the last hours.", theme="dark"),
    Picture("audit", "/audit", "Audit log: who did what, and what was refused."),
    Picture("map-zh", "/map", "The shard map in Chinese, by night.", theme="dark", language="zh_Hans"),
)


def take(fleet: PictureFleet, user: User, window: Window, wanted: list[str]) -> Iterator[str]:
    """Take the pictures, and yield what became of each."""
    run_id = fleet.failed_run().run_id
    for picture in PICTURES:
        if wanted and picture.name not in wanted:
            continue
        fleet.people.users.update(user.id, {"theme": picture.theme, "language": picture.language})
        answer = window.page.goto(picture.path.format(run=run_id))
        if answer is None or answer.status != 200:
            yield f"{picture.name}: no page {picture.path}"
            continue
        window.page.wait_for_load_state("load")
        window.page.wait_for_timeout(2500)  # parts that come by themselves
        content = screenshot(window.page)
        path = FOLDER / f"{picture.name}.webp"
        path.write_bytes(content)
        yield f"{path.relative_to(ROOT)}: {len(content) // 1000} kB"


def screenshot(page: Page) -> bytes:
    """Return what a window shows, as WebP, which Playwright itself cannot make; smaller if it would be too large."""
    session = page.context.new_cdp_session(page)
    content = b""
    for quality in (85, 70, 55, 40):
        answer = session.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        content = base64.b64decode(answer["data"])
        if len(content) < MAX_BYTES:
            break
    session.detach()
    return content


def describe() -> None:
    """Show the pictures that there are in the document."""
    shown = "".join(
        f"![{picture.text}](console/{picture.name}.webp)\n\n*{picture.text}*\n\n"
        for picture in PICTURES
        if (FOLDER / f"{picture.name}.webp").exists()
    )
    DOCUMENT.write_text(_BLOCK.sub(lambda found: f"{found[1]}\n{shown}{found[2]}", DOCUMENT.read_text()))


def main() -> None:
    """Start a fleet, let it work, take its pictures, and end it."""
    FOLDER.mkdir(exist_ok=True)
    browser_path = shutil.which("chromium") or "chromium"
    with tempfile.TemporaryDirectory() as name, PictureFleet(Path(name)) as fleet:
        fleet.start()
        user = fleet.make_user()
        threading.Event().wait(BUSY_S / 2)
        fleet.kill_one()
        threading.Event().wait(BUSY_S / 2)
        with (
            chromium(browser_path) as browser,
            Window.open(
                browser, fleet.address, viewport={"width": 1280, "height": 800}, device_scale_factor=1.5
            ) as window,
        ):
            window.sign_in(user.name, PASSWORD)
            for line in take(fleet, user, window, sys.argv[1:]):
                sys.stdout.write(f"{line}\n")
    describe()


if __name__ == "__main__":
    main()
