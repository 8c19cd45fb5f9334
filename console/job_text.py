"""What a job's settings mean, in words of whoever looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.cron_text import cron_words
from console.job_list import CODE, DISABLED, FAILING, HELD, MISSED, UNOWNED
from console.locale import locale, number_text
from console.text import gettext as _
from console.text import ngettext as _n
from shardsched.core.item import format_items
from shardsched.core.job import AfterMode, AfterOn, Misfire
from shardsched.core.secret import shown_task

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.core.job import JobConfig


def schedule_words(config: JobConfig | None) -> str:
    """Return when a job fires, in words as far as there are some that are surely right."""
    if config is None:
        return "\u2013"
    if not config.cron:
        if config.after:
            return _("After %(jobs)s", jobs=", ".join(config.after))
        return _("Only when triggered")
    return cron_words(config.cron, locale()) or config.cron


def kind_text(kind: str) -> str:
    """Return what a kind of jobs is called."""
    return {
        CODE: _("Code"),
        "@shell": _("Program"),
        "@http": _("HTTP request"),
        "@scrapy": _("Spider"),
    }.get(kind, kind or "\u2013")


def problem_text(code: str) -> str:
    """Return what a problem of jobs is called."""
    return {
        FAILING: _("Items failed"),
        MISSED: _("Items missed a fire"),
        UNOWNED: _("Items without an owner"),
        HELD: _("Held"),
        DISABLED: _("Items switched off"),
    }.get(code, code)


def bulk_texts() -> dict[str, str]:
    """Return the texts that the script of the list shows."""
    return {
        "none": _("No job is selected"),
        "some": _("{count} selected"),
        "all": _("All {count} that match are selected"),
        "take_all": _("Select all {count} that match"),
        "first": _("Select jobs first"),
    }


def seconds_text(seconds: float) -> str:
    """Return seconds as people write them."""
    return _("%(number)s s", number=number_text(seconds))


def numbers_text(items: Iterable[int]) -> str:
    """Return the numbers of items as short text."""
    return format_items(items)


def misfire_text(misfire: Misfire) -> str:
    """Return what is done about missed fires."""
    return {
        Misfire.ONCE: _("the latest is run"),
        Misfire.SKIP: _("none is run"),
        Misfire.ALL: _("each is run, in order"),
    }[misfire]


def after_text(config: JobConfig) -> str:
    """Return for what of its upstream jobs a job waits."""
    when = {
        AfterOn.SUCCESS: _("when they succeeded"),
        AfterOn.FAILURE: _("when they failed"),
        AfterOn.ALWAYS: _("however they ended"),
    }[config.after_on]
    if len(config.after) < 2:
        return when
    return " · ".join((_("all of them") if config.after_mode is AfterMode.ALL else _("any of them"), when))


def task_facts(config: JobConfig) -> list[tuple[str, str]]:
    """Return what a built-in handler does, line by line, without secrets."""
    names = {
        "argv": _("Command"),
        "shell": _("Shell line"),
        "url": _("Address"),
        "method": _("Method"),
        "spider": _("Spider"),
        "cwd": _("Folder"),
    }
    task = shown_task(config.task)
    return [(names[key], _shown(value)) for key, value in task.items() if key in names]


def task_line(config: JobConfig) -> str:
    """Return what a job runs, in one line: the command, address or spider, else its handler."""
    task = shown_task(config.task)
    found = next((task[key] for key in ("argv", "shell", "url", "spider") if key in task), None)
    return config.handler if found is None else _shown(found)


def _shown(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 300 else f"{text[:297]}…"


def guard_text(config: JobConfig) -> str:
    """Return what guards a job's runs, in one line."""
    parts = []
    if config.timeout_s is not None:
        parts.append(_("killed after %(span)s", span=seconds_text(config.timeout_s)))
    if config.warn_after_s is not None:
        parts.append(_("reported after %(span)s", span=seconds_text(config.warn_after_s)))
    if config.retries:
        parts.append(_n("up to %(num)s retry", "up to %(num)s retries", config.retries))
    parts.append(_("fails over") if config.failover else _("does not fail over"))
    return " · ".join(parts)
