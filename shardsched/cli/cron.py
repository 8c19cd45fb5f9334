"""``shardsched cron``: when an expression fires."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from shardsched.cli.connection import registry_options
from shardsched.cli.output import json_option, write_json, write_line
from shardsched.clock import SYSTEM_CLOCK
from shardsched.core.cron import parse_cron
from shardsched.core.schedule import check_schedule, make_schedule
from shardsched.core.zone import load_zone

if TYPE_CHECKING:
    from shardsched.cli.connection import Place

_MAX_COUNT = 10_000


@click.command()
@click.argument("expression")
@click.option("--tz", "--timezone", "timezone", default="UTC", show_default=True, help="Zone in which it is read.")
@click.option(
    "--from", "start", metavar="ISO", help="Fires after this time [default: now]; without offset: in the zone."
)
@click.option("-n", "--count", type=click.IntRange(1, _MAX_COUNT), default=5, show_default=True, help="How many fires.")
@click.option("--pause", multiple=True, metavar="WINDOW", help="No fire in it: 22:00-06:00, 12/24-01/02, sat,sun.")
@registry_options
@json_option
def cron(
    expression: str,
    timezone: str,
    start: str | None,
    count: int,
    pause: tuple[str, ...],
    *,
    place: Place,
    as_json: bool,
) -> None:
    """Show when a cron expression fires.

    Five fields are Unix cron, six or seven are Quartz (seconds first).
    """
    del place  # every command takes it; this one needs no registry
    parsed, schedule = parse_cron(expression, timezone), make_schedule(expression, timezone, pause)
    zone = load_zone(timezone)
    after = SYSTEM_CLOCK.now() if start is None else _time(start).astimezone(zone)
    if start is not None and _time(start).tzinfo is None:
        after = _time(start).replace(tzinfo=zone)
    check_schedule(schedule, after)
    fires = [fire.astimezone(zone) for fire in schedule.fires(after, count)]
    if as_json:
        times = [fire.isoformat() for fire in fires]
        shown = {"expr": expression, "timezone": timezone, "dialect": str(parsed.dialect), "pause": list(pause)}
        write_json(shown | {"fires": times})
        return
    for fire in fires:
        write_line(f"{fire:%a} {fire.isoformat(sep=' ')} {fire.tzname()}")


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        message = (
            f"--from {text!r} is not an ISO 8601 time; write it such as 2026-12-01T08:00 or 2026-12-01T08:00+01:00"
        )
        raise click.UsageError(message) from None
