"""Handlers are found by name, and modules that cannot be imported are told."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from shardsched.errors import ConfigurationError, HandlerImportError
from shardsched.execution.handlers import TABLE, Handler, HandlerTable, load_modules

if TYPE_CHECKING:
    from pathlib import Path


def handler(name: str, qualname: str = "crawl") -> Handler:
    """Return a handler of this module."""
    return Handler(name=name, function=lambda _: None, module="crawler.jobs", qualname=qualname)


def test_table_finds_what_was_added() -> None:
    """Names are sorted, and an unknown one is None."""
    table = HandlerTable()
    books, films = handler("books"), handler("films", "crawl_films")
    table.add(films)
    table.add(books)
    assert table.names() == ("books", "films")
    assert table.get("books") is books
    assert table.get("songs") is None


def test_table_refuses_two_functions_of_one_name() -> None:
    """The message names both, and the first stays."""
    table = HandlerTable()
    first = handler("books")
    table.add(first)
    with pytest.raises(ConfigurationError, match=r"crawler\.jobs\.crawl and crawler\.jobs\.other"):
        table.add(handler("books", "other"))
    assert table.get("books") is first


def test_table_takes_a_reloaded_function() -> None:
    """The same place again is the same handler, in its latest form."""
    table = HandlerTable()
    table.add(handler("books"))
    again = handler("books")
    table.add(again)
    assert table.get("books") is again


def test_load_modules_fills_the_table() -> None:
    """Importing a module registers its handlers."""
    load_modules(["tests.execution.item_jobs"])
    found = TABLE.get("quick")
    assert found is not None
    assert found.place == "tests.execution.item_jobs.quick"


@pytest.mark.parametrize("body", ["import no_such_module", "raise SystemExit(2)", "1 / 0", "def broken(:"])
def test_load_modules_tells_why_one_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """Whatever an import raises comes with the module's name and the traceback."""
    (tmp_path / "failing_jobs.py").write_text(f"{body}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(HandlerImportError, match="failing_jobs") as caught:
        load_modules(["failing_jobs"])
    assert caught.value.module == "failing_jobs"
    assert "failing_jobs.py" in caught.value.traceback
    assert "failing_jobs" not in sys.modules


def test_load_modules_tells_of_a_missing_module() -> None:
    """A name that leads nowhere is told like any other fault."""
    with pytest.raises(HandlerImportError, match=r"'no\.such\.module' cannot be imported"):
        load_modules(["no.such.module"])
