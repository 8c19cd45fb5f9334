"""The settings of a job as options of ``job create`` and ``job update``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from shardsched.cli.label import parse_labels
from shardsched.core.item import parse_item_params, parse_items
from shardsched.core.job import AfterMode, AfterOn, Isolation, Misfire, Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Command = Callable[..., Any]

_CLEARED = "none"
_LISTS = {"pause", "after"}


class _Seconds(click.ParamType[float | str]):
    """Seconds, or ``none`` for no limit."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Return a number, or the word that clears."""
        if value == _CLEARED or isinstance(value, float):
            return value  # type: ignore[no-any-return]  # one of the two
        try:
            return float(value)
        except ValueError:
            return self.fail(f"{value!r} is neither seconds nor 'none'", param, ctx)


_OPTIONS: tuple[Command, ...] = (
    click.option("--items", type=int, help="Number of sharding items."),
    click.option("--item-param", "item_params", metavar="0=a,1=b", help="A parameter for each item; '' for none."),
    click.option("--param", help="A parameter for the whole job."),
    click.option("--timezone", "--tz", "timezone", help="Zone in which the cron expression is read."),
    click.option(
        "--pause", multiple=True, metavar="WINDOW", help="No fire in it: 22:00-06:00, 12/24-01/02, sat,sun. Repeatable."
    ),
    click.option("--after", multiple=True, metavar="JOB", help="Fire when that job's fire is completed. Repeatable."),
    click.option("--after-mode", type=click.Choice(list(map(str, AfterMode))), help="Wait for all of them, or any."),
    click.option("--after-on", type=click.Choice(list(map(str, AfterOn))), help="Which of their fires count."),
    click.option("--retries", type=int, help="How often a failed run is tried again."),
    click.option("--retry-delay", type=float, metavar="S", help="Seconds before the first retry."),
    click.option("--retry-backoff", type=float, metavar="X", help="By what each further delay is multiplied."),
    click.option("--retry-max-delay", type=float, metavar="S", help="Longest delay of a retry, in seconds."),
    click.option("--on-failure", metavar="HOW", help="After the last attempt: log, ignore, raise, module:function."),
    click.option("--failover/--no-failover", default=None, help="Whether others run again what a dead one left."),
    click.option("--misfire", type=click.Choice(list(map(str, Misfire))), help="What happens to missed fires."),
    click.option("--misfire-grace", type=float, metavar="S", help="Seconds that a fire may be late."),
    click.option("--timeout", type=_Seconds(), metavar="S", help="Kill a run after so many seconds; 'none' for never."),
    click.option(
        "--warn-after", type=_Seconds(), metavar="S", help="Report a run after so many seconds; 'none' for never."
    ),
    click.option("--stop-grace", type=float, metavar="S", help="Seconds from asking a run to stop to killing it."),
    click.option("--isolation", type=click.Choice(list(map(str, Isolation))), help="Where its items run."),
    click.option("--strategy", type=click.Choice(list(map(str, Strategy))), help="How its items are spread."),
    click.option(
        "--label", "labels", multiple=True, metavar="K=V", help="Only executors with this label. May be repeated."
    ),
    click.option("--no-labels", is_flag=True, help="Any executor."),
    click.option("--priority", type=int, help="Higher starts first when slots are short."),
    click.option("--description", help="For people."),
    click.option("--disabled-items", metavar="0-3,7", help="Items that start nothing; '' for none."),
    click.option("--paused/--no-paused", default=None, help="Whether it starts no scheduled fire."),
)


def job_options(command: Command) -> Command:
    """Give a command an option for each setting of a job but handler and cron."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were given, by the names that people use.

    Raises:
        ConfigurationError: Labels or item parameters are not written as they must be.
    """
    # click gives an empty tuple where an option that may be repeated is not there; '' clears the list.
    settings = {name: value for name, value in options.items() if value not in (None, ())}
    labels, is_cleared = settings.pop("labels", ()), settings.pop("no_labels", False)
    if labels and is_cleared:
        message = "--label and --no-labels contradict each other; give one of them"
        raise click.UsageError(message)
    if labels or is_cleared:
        settings["labels"] = parse_labels(labels)
    if "item_params" in settings:
        settings["item_params"] = parse_item_params(settings["item_params"])
    if "disabled_items" in settings:
        settings["disabled_items"] = parse_items(settings["disabled_items"])
    settings |= {name: tuple(filter(None, settings[name])) for name in _LISTS & set(settings)}
    for name in ("timeout", "warn_after"):
        if settings.get(name) == _CLEARED:
            settings[name] = None
    return settings
