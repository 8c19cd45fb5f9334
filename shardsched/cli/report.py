"""``shardsched status`` and ``shardsched doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from shardsched.cli.connection import open_admin, registry_options
from shardsched.cli.error import FAILED
from shardsched.cli.output import json_option, write_json, write_line
from shardsched.cli.screen import write_fleet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.admin.finding import Finding
    from shardsched.cli.connection import Place


@click.command()
@registry_options
@json_option
def status(place: Place, *, as_json: bool) -> None:
    """Show who lives, what runs, what fires next, and why something does not."""
    with open_admin(place) as admin:
        seen = admin.status()
    if as_json:
        write_json(seen.as_json())
    else:
        write_fleet(seen)


@click.command()
@click.option("--repair", is_flag=True, help="Mend what can be mended without loss.")
@registry_options
@json_option
def doctor(place: Place, *, repair: bool, as_json: bool) -> None:
    """Find what is wrong in the registry.

    Exits with 1 if something is wrong that was not mended.
    """
    with open_admin(place) as admin:
        findings = admin.doctor.repair() if repair else admin.doctor.examine()
    is_well = all(finding.is_mended for finding in findings)
    if as_json:
        write_json({"is_well": is_well, "findings": [finding.as_json() for finding in findings]})
    else:
        _write_findings(findings)
    if not is_well:
        raise SystemExit(FAILED)


def _write_findings(findings: Sequence[Finding]) -> None:
    if not findings:
        write_line("nothing is wrong")
    for finding in findings:
        where = f"job {finding.job}, {finding.path}" if finding.job else finding.path
        after = "mended" if finding.is_mended else finding.cure
        write_line(f"{finding.fault}: {where}: {finding.message}; {after}")
