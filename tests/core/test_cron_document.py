"""The document about cron expressions says what is so."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from shardsched.cli import main
from shardsched.core.cron import check_can_fire, parse_cron
from shardsched.core.cron_unix import MACROS
from shardsched.errors import CronExpressionError

DOCUMENT = (Path(__file__).parents[2] / "docs" / "cron.md").read_text(encoding="utf-8")
NOW = datetime(2026, 12, 1, tzinfo=UTC)
EXAMPLES = re.findall(r"`([^`\n]+)` \|$", DOCUMENT, re.MULTILINE)
"""The last column of the tables of what is taken."""
COMMANDS = re.findall(r"^\$ (.+)\n((?:(?!\$ |```).+\n)+)", DOCUMENT, re.MULTILINE)
MESSAGES = re.findall(
    r"^\| `([^`]+)` \| .+ \|$", DOCUMENT.partition("## Messages")[2].partition("\n## ")[0], re.MULTILINE
)
REFUSED = [
    ("0 0 * *", "UTC"),
    ("0 0 12 * * MON", "UTC"),
    ("0 0 12 1 * 2", "UTC"),
    ("0 0 ? * *", "UTC"),
    ("0 0 12 ? * 0", "UTC"),
    ("0 0 12 1 * \uff1f", "UTC"),
    ("0 0 12 ? * MONDAY", "UTC"),
    ("0 0 12 ? * MON-FRI/2", "UTC"),
    ("0 22-2 * * *", "UTC"),
    ("R R * * *", "UTC"),
    ("0 12 * * *", "CST"),
    ("0 0 30 2 *", "UTC"),
]
"""What draws each message of the table, in its order."""


def test_document_shows_as_many_parts_as_are_checked() -> None:
    """The patterns of this file find what they are for."""
    assert len(EXAMPLES) >= 20
    assert len(COMMANDS) == 5
    assert len(MESSAGES) == len(REFUSED)


@pytest.mark.parametrize("expression", EXAMPLES)
def test_document_example_is_taken_and_fires(expression: str) -> None:
    """What the tables show can be written."""
    check_can_fire(parse_cron(expression), NOW)


def test_document_lists_every_macro() -> None:
    """No macro is missing, or said to be another."""
    rows = re.findall(r"^\| (`@.+) \| `(.+)` \|$", DOCUMENT, re.MULTILINE)
    assert {macro: fields for names, fields in rows for macro in re.findall(r"@\w+", names)} == MACROS


@pytest.mark.parametrize(("command", "output"), COMMANDS)
def test_document_command_prints_what_is_shown(command: str, output: str) -> None:
    """A reader who types it sees the same."""
    program, *arguments = shlex.split(command)
    assert program == "shardsched"
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.output) == (0, output)


@pytest.mark.parametrize(
    ("refused", "message"), list(zip(REFUSED, MESSAGES, strict=True)), ids=[row[0] for row in REFUSED]
)
def test_document_message_is_what_is_raised(refused: tuple[str, str], message: str) -> None:
    """Each message is shown word for word."""
    with pytest.raises(CronExpressionError) as error:
        check_can_fire(parse_cron(*refused), NOW)
    where = f"{error.value.field}: " if error.value.field else ""
    assert where + error.value.reason == message
