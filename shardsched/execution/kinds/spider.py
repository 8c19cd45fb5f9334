"""A run that is a Scrapy spider, in the item's own process with a reactor of its own.

Scrapy is imported here only when it runs. Asked to stop, the spider is closed as Scrapy closes it at Ctrl-C: requests
under way are finished, pipelines and exporters are closed.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from shardsched.core.task import GIVEN_ARGUMENTS
from shardsched.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Spider
    from scrapy.crawler import CrawlerProcess
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    from shardsched.execution.context import ShardingContext
    from shardsched.execution.stop_flag import StopFlag

_DEFAULTS = {"TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False}
"""Settings that differ from Scrapy's own: a run opens no ports that nobody asked for."""
_FINISHED = "finished"


def run_spider(ctx: ShardingContext, task: Mapping[str, Any], stop_flag: StopFlag) -> None:
    """Run the spider of a checked task until it is closed, and count what Scrapy counted.

    Raises:
        RunFailedError: It could not be begun, or was closed for another reason than that it has finished.
    """
    from scrapy import signals  # noqa: PLC0415 - half a second that other runs need not pay
    from scrapy.crawler import CrawlerProcess  # noqa: PLC0415
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415

    settings = _settings(get_project_settings(), task)
    _set_log_level(settings)
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(_spider(task["spider"]))
    reasons: list[str] = []
    failures: list[Failure] = []

    def on_closed(reason: str) -> None:
        reasons.append(reason)

    def on_opened() -> None:
        if stop_flag.watch():
            process.stop()

    crawler.signals.connect(on_closed, signals.spider_closed)
    crawler.signals.connect(on_opened, signals.spider_opened)
    arguments = {name: getattr(ctx, name) for name in GIVEN_ARGUMENTS} | {"fire_time": ctx.fire_time.isoformat()}
    process.crawl(crawler, **arguments, **task.get("args", {})).addErrback(failures.append)
    _reactor_loop(process, stop_flag)
    if failures:
        raise RunFailedError(f"the spider could not run: {failures[0].getErrorMessage()}") from failures[0].value
    ctx.stats |= crawler.stats.get_stats()
    if reasons != [_FINISHED]:
        raise RunFailedError(f"the spider was closed with the reason {(reasons or ['none'])[0]!r}; the log says why")


def _settings(settings: Settings, task: Mapping[str, Any]) -> Settings:
    settings.setdict(_DEFAULTS, priority="addon")
    settings.setdict(task.get("settings", {}), priority="cmdline")
    settings.set("LOG_INSTALL_ROOT_HANDLER", False, priority="cmdline")
    return settings


def _set_log_level(settings: Settings) -> None:
    """Log from INFO on unless told, where Scrapy would from DEBUG on."""
    level = settings["LOG_LEVEL"] if settings.getpriority("LOG_LEVEL") else logging.INFO
    root = logging.getLogger()
    root.setLevel(level)
    for handler in root.handlers:
        # Scrapy opens its own loggers wide, so what is not wanted is held up here.
        handler.setLevel(level)


def _spider(name: str) -> type[Spider] | str:
    """Return the spider class of ``module:Class``; another name is one of the Scrapy project's."""
    module, colon, attribute = name.partition(":")
    if not colon:
        return name
    try:
        spider: type[Spider] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise RunFailedError(f"the spider {name!r} cannot be imported: {error}") from error
    return spider


def _reactor_loop(process: CrawlerProcess, stop_flag: StopFlag) -> None:
    """Run the reactor until the spider is closed; the item's own signal handler asks it to stop."""
    from twisted.internet import reactor  # noqa: PLC0415 - importing it chooses the reactor, which the settings name

    stop_flag.watch()
    stop_flag.call_on_request(lambda: reactor.callFromThread(process.stop))
    process.start(install_signal_handlers=False)
