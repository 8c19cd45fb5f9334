"""``shardsched job export`` and ``shardsched job import``."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shardsched.cli.connection import open_admin, registry_options
from shardsched.cli.error import CONFLICT, DONE, FAILED, one_line
from shardsched.cli.output import json_option, write_json, write_line
from shardsched.jobfile import (
    MAX_FILE_BYTES,
    WRITING,
    Action,
    Form,
    OnConflict,
    Wish,
    decode_file,
    job_document,
    parse_jobs,
    write_yaml,
)
from shardsched.jobfile import write_json as json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shardsched.cli.connection import Place
    from shardsched.jobfile import ImportPlan, Remark, Step

_SHOWN_LENGTH = 200
"""Characters of a value that are shown in a diff."""
_DONE_WORDS = {Action.CREATE: "created", Action.CHANGE: "changed", Action.SKIP: "skipped"}
_COUNTED = {
    Action.CREATE: "to create",
    Action.CHANGE: "to change",
    Action.UNCHANGED: "unchanged",
    Action.SKIP: "skipped",
    Action.CONFLICT: "in conflict",
    Action.REFUSED: "refused",
}


@click.command("export")
@click.argument("names", metavar="[JOB]...", nargs=-1)
@click.option("--format", "form", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write [default: standard output].")
@click.option("--secrets", is_flag=True, help="Write the secrets of tasks too, instead of ***.")
@registry_options
@json_option
def export_jobs(
    names: tuple[str, ...], form: str, output: str | None, place: Place, *, secrets: bool, as_json: bool
) -> None:
    """Write jobs with all of their settings, such that 'job import' makes them again.

    Without a name: all jobs. Exits with 1 if one had to be left out.
    """
    with open_admin(place) as admin:
        export = admin.exchange.export(names)
    document = job_document(export.configs, with_secrets=secrets)
    text = json_text(document) if as_json or form == "json" else write_yaml(document)
    if output is None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    else:
        _replace_file(Path(output), text)
    for name, reason in export.left_out.items():
        click.echo(one_line(f"shardsched: job {name!r} is left out: {reason}"), err=True)
    if export.left_out:
        raise SystemExit(FAILED)


def _replace_file(path: Path, text: str) -> None:
    """Write a file whole or not at all, for its owner alone: parameters may be nobody else's business."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--format", "form", type=click.Choice(list(map(str, Form))), default="auto", show_default=True)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and write nothing.")
@click.option(
    "--on-conflict",
    type=click.Choice(list(map(str, OnConflict))),
    default="fail",
    show_default=True,
    help="About jobs that exist and differ. 'fail': write nothing at all, also if one is refused.",
)
@click.option("--handler", help="Handler of the jobs that run code, in the place of the file's.")
@click.option("--timezone", "--tz", "timezone", help="Zone of the jobs for which the file names none.")
@click.option("--prefix", default="", help="Put before each job's name.")
@click.option("--system/--no-system", "is_system", default=None, help="Whether a crontab names a user in each line.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@registry_options
@json_option
def import_jobs(
    file: str, place: Place, *, dry_run: bool, on_conflict: str, yes: bool, as_json: bool, **wished: Any
) -> None:
    """Make the jobs that a file describes: ours in YAML or JSON, a crontab, ElasticJob's YAML, XXL-JOB's rows.

    Exits with 1 if an entry was refused, with 5 if a job exists and differs; by default nothing is written then.
    """
    wish = _wish(file, **wished)
    parsed = parse_jobs(decode_file(_read(file)), wish)
    with open_admin(place) as admin:
        plan = admin.exchange.plan(parsed, OnConflict(on_conflict))
        unhosted = admin.exchange.unhosted(plan)
        is_written = not (dry_run or plan.is_blocked)
        if not as_json:
            _write_plan(plan, unhosted)
            _write_counts(plan.steps, _ending(plan, dry_run=dry_run))
        if is_written and not yes and sys.stdin.isatty() and any(step.action in WRITING for step in plan.steps):
            click.confirm("Write that?", abort=True, err=True)
        steps = _carried_out(admin.exchange.carry_out(plan), as_json=as_json) if is_written else plan.steps
    if as_json:
        write_json(_document(plan, steps, unhosted, is_written=is_written))
    raise SystemExit(_exit_code(steps))


def _wish(file: str, *, form: str, is_system: bool | None, **wished: Any) -> Wish:
    if is_system is None and (file == "/etc/crontab" or file.startswith("/etc/cron.d/")):
        is_system = True
    return Wish(form=Form(form), is_system=is_system, **wished)


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    with Path(file).open("rb") as opened:
        return opened.read(MAX_FILE_BYTES + 1)


def _carried_out(steps: Iterable[Step], *, as_json: bool) -> list[Step]:
    done = []
    for step in steps:
        done.append(step)
        if not as_json and (step.action in WRITING or step.reason):
            write_line(f"{step.name or step.place}: {_DONE_WORDS.get(step.action, step.action)}{_because(step)}")
    return done


def _because(step: Step) -> str:
    return f": {step.reason}" if step.reason else ""


def _write_plan(plan: ImportPlan, unhosted: Sequence[str]) -> None:
    for step in plan.steps:
        where = f" ({step.place})" if step.place else ""
        write_line(f"{step.name or 'an entry'}{where}: {step.action}{_because(step)}")
        if step.action is not Action.REFUSED:
            for change in step.changes:
                write_line(f"  {change.setting}: {_shown(change.old)} -> {_shown(change.new)}")
    for remark in _gathered(plan.remarks):
        write_line(remark)
    for handler in unhosted:
        write_line(f"no living executor hosts handler {handler!r} yet; its jobs wait for one")


def _gathered(remarks: Sequence[Remark]) -> list[str]:
    """Return a line for each thing left behind, with all jobs that it concerns."""
    jobs: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        jobs.setdefault((remark.what, remark.reason), []).append(remark.name or remark.place)
    return [
        f"not taken: {what}: {reason}" + (f" ({', '.join(filter(None, names))})" if any(names) else "")
        for (what, reason), names in jobs.items()
    ]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}… ({len(text)} characters)"


def _ending(plan: ImportPlan, *, dry_run: bool) -> str:
    if dry_run:
        return "; nothing is written in a dry run"
    return "; nothing is written, since a job conflicts or is refused" if plan.is_blocked else ""


def _write_counts(steps: Sequence[Step], ending: str) -> None:
    counts = {word: sum(step.action is action for step in steps) for action, word in _COUNTED.items()}
    write_line((", ".join(f"{count} {word}" for word, count in counts.items() if count) or "no job") + ending)


def _exit_code(steps: Iterable[Step]) -> int:
    actions = {step.action for step in steps}
    if Action.CONFLICT in actions:
        return CONFLICT
    return FAILED if Action.REFUSED in actions else DONE


def _document(plan: ImportPlan, steps: Iterable[Step], unhosted: Sequence[str], *, is_written: bool) -> dict[str, Any]:
    return {
        "format": plan.form,
        "on_conflict": str(plan.on_conflict),
        "is_written": is_written,
        "jobs": [
            {
                "name": step.name,
                "place": step.place or None,
                "action": str(step.action),
                "reason": step.reason or None,
                "changes": [
                    {"setting": change.setting, "old": change.old, "new": change.new} for change in step.changes
                ],
            }
            for step in steps
        ],
        "remarks": [
            {"name": remark.name or None, "place": remark.place or None, "what": remark.what, "reason": remark.reason}
            for remark in plan.remarks
        ],
        "unhosted": list(unhosted),
    }
