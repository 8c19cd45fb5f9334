"""Things of the console that have no page of their own: menus, dialogs, messages, faults, paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import abort

from console.role import role
from shardsched.errors import RegistryUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask
    from flask.typing import ResponseReturnValue
    from playwright.sync_api import Page

FAULTS = (400, 403, 409, 412, 413, 422, 428, 429, 500, 503)


def add_faults(app: Flask) -> None:
    """Give an app pages that fail, each with its status."""

    @role("viewer")
    def fail(status: int) -> ResponseReturnValue:
        if status == 500:
            raise RuntimeError("for the picture")
        if status == 503:
            raise RegistryUnavailableError("no answer from zookeeper-1:2181 within 10 s")
        abort(status)

    app.add_url_rule("/fault/<int:status>", "fault", fail)


def _menu(page: Page) -> None:
    page.goto("/overview")
    if page.locator(".nav-button").is_visible():
        page.click(".nav-button")


def _account(page: Page) -> None:
    page.goto("/overview")
    page.click("[popovertarget=me]")


def _languages(page: Page) -> None:
    page.goto("/overview")
    page.click("[popovertarget=languages]")


def _keys(page: Page) -> None:
    page.goto("/overview")
    page.keyboard.press("?")


def _search(page: Page) -> None:
    page.goto("/overview")
    page.click("#search")
    page.keyboard.type("s")
    page.wait_for_selector("#search-hits a")


def _actions(page: Page) -> None:
    page.goto("/executors")
    page.click("[popovertarget=a1]")


def _confirm(page: Page) -> None:
    page.goto("/executors/crawler-a")
    page.click(".btn:has-text('Drain'), .btn:has-text('排空')")


def _name(page: Page) -> None:
    page.goto("/users/2")
    page.click("form[data-confirm-name] .btn")


def _again(page: Page) -> None:
    page.goto("/executions/shown-failed")
    page.click("[data-open=rerun]")


def _hits(page: Page) -> None:
    page.goto("/executions/shown-failed?q=page+17&line=1750#L1750")


def _messages(page: Page) -> None:
    page.goto("/overview")
    for kind, text in (("done", "Paused."), ("warning", "It is drained already."), ("failed", "x" * 90)):
        page.evaluate(
            "(message) => window.shell.toast(message)", {"text": text, "kind": kind, "undo": "/undo", "label": "Undo"}
        )


def _token(page: Page) -> None:
    page.goto("/profile")
    page.fill("[name=name][required]", "nightly export")
    page.click("form[action$='tokens'] .btn, form.filters .btn")
    page.wait_for_selector("#secret")


def _paused(page: Page) -> None:
    page.goto("/overview")
    page.click("#live")


def _unpause(page: Page) -> None:
    page.click("#live")


def _table(page: Page) -> None:
    page.goto("/overview")
    page.click("#chart-switch")


SCENES: dict[str, Callable[[Page], None]] = {
    "menu": _menu,
    "account": _account,
    "languages": _languages,
    "keys": _keys,
    "hits": _search,
    "actions": _actions,
    "confirm": _confirm,
    "confirm-name": _name,
    "again": _again,
    "log-hits": _hits,
    "messages": _messages,
    "token": _token,
    "chart-table": _table,
    "paused": _paused,
    "unpaused": _unpause,
}
PAPER = ("overview", "map", "jobs", "executors", "executor", "executions", "execution", "statistics", "audit")
"""Pages that are also pictured as printed, and in forced colours."""
