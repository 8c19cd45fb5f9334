"""The command group. Subcommands are imported when they are called: a quick one does not wait for the others."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

import shardsched
from shardsched.cli.error import exit_code, one_line
from shardsched.errors import HandlerImportError, ShardschedError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "run": "shardsched.cli.run:run",
    "job": "shardsched.cli.job:job",
    "executor": "shardsched.cli.executor:executor",
    "status": "shardsched.cli.report:status",
    "history": "shardsched.cli.history:history",
    "doctor": "shardsched.cli.report:doctor",
    "cron": "shardsched.cli.cron:cron",
    "console": "shardsched.cli.console:console",
    "demo": "shardsched.demo:demo",
}
"""By name, where the command is found. The first sentence of its docstring is its help."""

_SUMMARIES = {
    "run": "Run an executor that hosts the handlers of some modules.",
    "job": "See, create, change, trigger, stop, delete, export and import jobs.",
    "executor": "See and drain executors.",
    "status": "Show who lives, what runs, what fires next, and why something does not.",
    "history": "Show the last runs, the newest first; or one run whole, or events.",
    "doctor": "Find what is wrong in the registry, and mend it.",
    "cron": "Show when a cron expression fires.",
    "console": "Serve the web console, and manage its users.",
    "demo": "Watch three executors crawl a site while one of them is killed.",
}
"""Short help, known without an import."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, and whose errors are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
        place = _COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, attribute = place.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            message = f"{place} is not a command"
            raise TypeError(message)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _SUMMARIES[name]) for name in _COMMANDS])

    def main(  # type: ignore[override]  # it always exits, as click's does in its standalone mode
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a command and exit with its code; an error is one line on standard error."""
        extra.pop("standalone_mode", None)
        try:
            code = super().main(args=args, prog_name=prog_name or "shardsched", standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            code = 0
        except click.UsageError as error:
            help_of = f"; see '{error.ctx.command_path} --help'" if error.ctx else ""
            fail(f"{one_line(error.format_message()).rstrip('.')}{help_of}")
            code = 2
        except (click.Abort, KeyboardInterrupt):
            fail("interrupted")
            code = 130
        except click.ClickException as error:
            fail(one_line(error.format_message()))
            code = error.exit_code
        except HandlerImportError as error:
            click.echo(error.traceback.rstrip(), err=True)
            fail(one_line(str(error)))
            code = exit_code(error)
        except (ShardschedError, OSError) as error:
            fail(one_line(str(error)))
            code = exit_code(error)
        sys.exit(code if isinstance(code, int) else 0)


def fail(message: str) -> None:
    """Say in one line what went wrong."""
    click.echo(f"shardsched: {message}", err=True)


@click.group(
    "shardsched", cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(shardsched.__version__, prog_name="shardsched")
def main() -> None:
    """Schedule sharded cron jobs over a fleet of executors.

    Every command takes --registry (or SHARDSCHED_REGISTRY) and --namespace (or SHARDSCHED_NAMESPACE). Exit codes:
    0 done, 1 failed, 2 wrong usage, 3 registry unreachable, 4 not found, 5 conflict.
    """
