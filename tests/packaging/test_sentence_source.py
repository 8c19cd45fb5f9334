"""What people read of the scheduler is made of sentences, so that it can be said in their language."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAYING = (
    *("shardsched/admin", "shardsched/core", "shardsched/errors", "shardsched/history", "shardsched/jobfile"),
    *("shardsched/people", "console"),
)
OWN_WORDS = {"BadRequest", "Conflict", "UnprocessableEntity", "FormFault"}
"""Errors of pages and programs, which are made in the reader's language."""
TOLD_NOBODY = {
    *("FileNotFoundError", "KeyError", "LookupError", "OSError", "RuntimeError", "TypeError", "ValueError"),
    *("SettingsError", "ValidationError"),
}
"""Errors that no page shows: what they say is for who starts it or reads the log, or is put into a sentence."""


def modules(*folders: str) -> list[Path]:
    """All modules below some folders."""
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def test_templates_of_sentences_are_written_out() -> None:
    """What is put together at run time cannot be found by whoever translates."""
    odd = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in modules("shardsched", "console")
        if path.name != "sentence.py" and "Sentence(" in path.read_text("utf-8")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and _name(call) == "Sentence"
        if not (call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str))
    ]
    assert odd == []


def test_errors_that_people_meet_are_raised_with_sentences() -> None:
    """A plain text would stand in English on everybody's page."""
    plain = [
        f"{path.relative_to(ROOT)}:{raised.lineno}"
        for path in modules(*SAYING)
        for raised in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(raised, ast.Raise) and isinstance(raised.exc, ast.Call)
        if _name(raised.exc).endswith("Error") and _name(raised.exc) not in OWN_WORDS | TOLD_NOBODY
        for given in (
            *raised.exc.args,
            *(word.value for word in raised.exc.keywords if word.arg in {"reason", "fault"}),
        )
        if isinstance(given, ast.JoinedStr) or (isinstance(given, ast.Constant) and " " in str(given.value))
    ]
    assert plain == []
