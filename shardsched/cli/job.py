"""``shardsched job``: the jobs of a fleet."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from shardsched.cli.connection import open_admin, registry_options, who_asks
from shardsched.cli.error import FAILED
from shardsched.cli.job_file import export_jobs, import_jobs
from shardsched.cli.job_option import given_settings, job_options
from shardsched.cli.journal import DELETED, tell
from shardsched.cli.output import json_option, write_json, write_line
from shardsched.cli.screen import write_job, write_jobs
from shardsched.cli.task_option import merged_task, take_task, task_options, without_task
from shardsched.core.item import format_items, parse_items

if TYPE_CHECKING:
    from shardsched.admin import JobChange, Removal
    from shardsched.cli.connection import Place


@click.group()
def job() -> None:
    """See, create, change, trigger, stop, delete, export and import jobs."""


job.add_command(export_jobs)
job.add_command(import_jobs)


@job.command("list")
@registry_options
@json_option
def list_jobs(place: Place, *, as_json: bool) -> None:
    """List jobs, with what fires next and why something does not."""
    with open_admin(place) as admin:
        status = admin.status()
    if as_json:
        write_json({"jobs": [one.as_json() for one in status.jobs]})
    elif status.jobs:
        write_jobs(status)
    else:
        write_line("no job yet; code decorated with @sharded_job makes one, or 'shardsched job create'")


@job.command()
@click.argument("name", metavar="JOB")
@registry_options
@json_option
def show(name: str, place: Place, *, as_json: bool) -> None:
    """Show all of one job: its settings and what each item last handled."""
    with open_admin(place) as admin:
        status = admin.job_status(name)
    if as_json:
        write_json(status.details())
    else:
        write_job(status)


@job.command()
@click.argument("name", metavar="JOB")
@click.option("--handler", help="Name of a handler that an executor hosts, or its module:function.")
@click.option("--cron", help="When it fires: 5 fields are Unix cron, 6 or 7 Quartz; without, only when triggered.")
@task_options
@job_options
@registry_options
def create(name: str, place: Place, **options: Any) -> None:
    """Create a job: for a handler that an executor hosts, or by --shell, --shell-string, --url or --spider."""
    handler, task = take_task(options)
    settings = given_settings(options)
    if handler is not None:
        settings |= {"handler": handler, "task": task}
    if "handler" not in settings:
        message = "what does it run? give --handler, --shell, --shell-string, --url or --spider"
        raise click.UsageError(message)
    with open_admin(place) as admin:
        admin.jobs.create(name, settings)
    write_line(f"{name}: created")
    tell(place, "command_create", job=name, settings=sorted(settings))


@job.command()
@click.argument("name", metavar="JOB")
@click.option("--handler", help="Name of a handler that an executor hosts, or its module:function.")
@click.option("--cron", help="When it fires; '' for only when triggered.")
@click.option("--version", "version", type=int, help="Change only this version, and nothing newer.")
@task_options
@job_options
@registry_options
def update(name: str, version: int | None, place: Place, **options: Any) -> None:
    """Change settings of a job; what is not given stays."""
    handler, task = take_task(options)
    settings = given_settings(options) | without_task(options.get("handler"))
    if not settings and handler is None:
        message = "nothing to change; give a setting, such as --cron or --items"
        raise click.UsageError(message)
    with open_admin(place) as admin:
        if handler is not None:
            entry = admin.jobs.entry(name)
            # What is kept of the task was read: somebody else's change must not be undone by it.
            version = entry.version if version is None else version
            stored = entry.config.task if entry.config and entry.config.handler == handler else {}
            settings |= {"handler": handler, "task": merged_task(stored, task)}
        change = admin.jobs.update(name, settings, expected_version=version)
    _write_change(change, "is so already")
    if change.changed:
        tell(place, "command_update", job=name, settings=list(change.changed), version=change.version)


@job.command()
@click.argument("name", metavar="JOB")
@registry_options
def pause(name: str, place: Place) -> None:
    """Start no scheduled fire of a job; what runs goes on."""
    with open_admin(place) as admin:
        change = admin.jobs.pause(name)
    write_line(f"{name}: paused" if change.changed else f"{name}: was paused already")
    if change.changed:
        tell(place, "command_pause", job=name)


@job.command()
@click.argument("name", metavar="JOB")
@registry_options
def resume(name: str, place: Place) -> None:
    """Have a paused job fire again, from its next fire on."""
    with open_admin(place) as admin:
        change = admin.jobs.resume(name)
    write_line(f"{name}: resumed" if change.changed else f"{name}: was not paused")
    if change.changed:
        tell(place, "command_resume", job=name)


@job.command()
@click.argument("name", metavar="JOB")
@click.option("--items", metavar="0-3,7", required=True, help="Which items.")
@registry_options
def disable(name: str, items: str, place: Place) -> None:
    """Have items of a job start nothing until they are enabled."""
    with open_admin(place) as admin:
        change = admin.jobs.disable(name, parse_items(items))
    _write_change(change, "disabled already")


@job.command()
@click.argument("name", metavar="JOB")
@click.option("--items", metavar="0-3,7", help="Only these items.")
@registry_options
def enable(name: str, items: str | None, place: Place) -> None:
    """Have disabled items of a job start again, from their next fire on."""
    with open_admin(place) as admin:
        change = admin.jobs.enable(name, None if items is None else parse_items(items))
    _write_change(change, "enabled already")


@job.command()
@click.argument("name", metavar="JOB")
@click.option("--param", help="Stands in for the job's parameter in this run.")
@click.option("--items", metavar="0-3,7", help="Only these items.")
@registry_options
def trigger(name: str, param: str | None, items: str | None, place: Place) -> None:
    """Run a job once now, also a paused one; its schedule stays as it is."""
    only = None if items is None else parse_items(items)
    with open_admin(place) as admin:
        receipt = admin.commands.trigger(name, param=param, only=only, by=who_asks())
    owners = ", ".join(f"{format_items(mine)} on {executor}" for executor, mine in receipt.owners.items())
    waiting = f"; items {format_items(receipt.waiting)} wait for an owner" if receipt.waiting else ""
    write_line(f"{name}: triggered (number {receipt.number}): items {owners}{waiting}")
    tell(place, "command_trigger", job=name, number=receipt.number, items=items or "all")


@job.command()
@click.argument("name", metavar="JOB")
@registry_options
def stop(name: str, place: Place) -> None:
    """Stop the running items of a job; its next fire starts as ever."""
    with open_admin(place) as admin:
        receipt = admin.commands.stop(name, by=who_asks())
    what = f"items {format_items(receipt.running)} are being stopped" if receipt.running else "nothing ran"
    write_line(f"{name}: {what}")
    tell(place, "command_stop", job=name, items=format_items(receipt.running))


@job.command()
@click.argument("name", metavar="JOB")
@click.option("--items", metavar="0-3,7", help="Only these items.")
@click.option("--running", "even_running", is_flag=True, help="Also of items that run; they may save again.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@registry_options
def reset(name: str, items: str | None, place: Place, *, even_running: bool, yes: bool) -> None:
    """Clear what the items of a job have saved: their next runs begin anew."""
    only = None if items is None else parse_items(items)
    with open_admin(place) as admin:
        admin.jobs.entry(name)
        if not yes and sys.stdin.isatty():
            click.confirm(f"Clear what items of job {name} have saved?", abort=True, err=True)
        receipt = admin.checkpoints.reset(name, only=only, even_running=even_running, by=who_asks())
    what = f"cleared the checkpoints of items {format_items(receipt.items)}" if receipt.items else "nothing was saved"
    write_line(f"{name}: {what}")


@job.command()
@click.argument("name", metavar="JOB")
@click.option("--wait", "wait_s", type=float, default=30.0, show_default=True, help="Seconds for its items to stop.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@registry_options
def delete(name: str, wait_s: float, place: Place, *, yes: bool) -> None:
    """Stop a job's items and remove it with all that is stored of it."""
    with open_admin(place) as admin:
        admin.jobs.entry(name)
        if not yes and sys.stdin.isatty():
            click.confirm(f"Delete job {name} and all that is stored of it?", abort=True, err=True)
        removal = admin.jobs.delete(name, wait_s=wait_s, by=who_asks())
    _write_removal(removal)
    tell(place, DELETED, job=name)
    if not removal.is_done:
        raise SystemExit(FAILED)


def _write_change(change: JobChange, otherwise: str) -> None:
    if change.changed:
        write_line(f"{change.job}: changed {', '.join(change.changed)}; version {change.version}")
    else:
        write_line(f"{change.job}: {otherwise}; version {change.version}")


def _write_removal(removal: Removal) -> None:
    if removal.is_done:
        write_line(f"{removal.job}: deleted")
    else:
        items = f"items {format_items(removal.running)}" if removal.running else "items of it"
        write_line(f"{removal.job}: {items} still run; the leader deletes it when they have ended")
    if removal.hosts:
        hosts = ", ".join(removal.hosts)
        write_line(f"{removal.job}: its code is on {hosts}, which creates it again at the next start")
