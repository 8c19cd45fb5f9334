"""The documents say what is so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from shardsched.core.assignment import Assignment
from shardsched.core.checkpoint import Checkpoint
from shardsched.core.command import Commands, Trigger, UpstreamFire
from shardsched.core.executor import DrainMark, ExecutorRecord, LeaderRecord, LoadReport
from shardsched.core.fire import Cursor, Marker
from shardsched.core.job import JobConfig
from shardsched.core.paths import CONTROL_PLANE, PERSISTENT_ROOTS
from shardsched.core.tally import ClosedFire, OpenFire, PendingCall, Tally
from tests.packaging.source import ROOT, project_files

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = project_files(".md")
MAX_PICTURE_BYTES = 150_000
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)


def name(path: Path) -> str:
    """A document's name in test reports."""
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    """The anchors that a forge makes of a document's headings."""
    text = _CODE.sub("", path.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in _HEADING.findall(text)}


def test_readme_example_is_the_quickstart() -> None:
    """The code shown in the README is the file that is checked and run."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert blocks == [(ROOT / "examples" / "quickstart.py").read_text()]
    assert len(blocks[0].splitlines()) <= 20


def test_readme_is_a_screen_and_a_half() -> None:
    """A reader gets through it."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_document_links_resolve(document: Path) -> None:
    """Every link to a file of the project, and to a heading, leads somewhere."""
    text = _CODE.sub("", document.read_text())
    dead = []
    for link in _LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = unquote(link).partition("#")
        path = (document.parent / target).resolve() if target else document
        if not path.exists() or (anchor and anchor not in anchors(path)):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_document_pictures_are_there_and_small(document: Path) -> None:
    """Every picture is a file of the project, small enough for a clone, and says what is to be seen."""
    pictures = _PICTURE.findall(_CODE.sub("", document.read_text()))
    sizes = {target: (document.parent / target).stat().st_size for _, target in pictures}
    assert {target: size for target, size in sizes.items() if size > MAX_PICTURE_BYTES} == {}
    assert all(text for text, _ in pictures)


def test_documents_exist_that_the_readme_promises() -> None:
    """The set of documents is whole."""
    names = {name(path) for path in DOCUMENTS}
    wanted = {"architecture", "guarantees", "namespace", "glossary", "cron", "checkpoints", "dependencies"}
    assert {f"docs/{document}.md" for document in wanted} <= names


def test_namespace_document_has_every_field_of_every_record() -> None:
    """A field that is stored is described."""
    text = (ROOT / "docs" / "namespace.md").read_text()
    records = (ExecutorRecord, LoadReport, DrainMark, LeaderRecord, JobConfig, Assignment, Commands, Trigger)
    of_items = (Cursor, Marker, Checkpoint)
    of_fires = (Tally, OpenFire, ClosedFire, PendingCall, UpstreamFire)
    stored = {
        (record, field)
        for record in (*records, *of_items, *of_fires)
        for field in record.__dataclass_fields__
        if field != "key"  # it is stored as what it is made of
    }
    assert {(record, field) for record, field in stored if not re.search(rf'[`"]{field}[`"]', text)} == set()
    assert {kind for kind in (*CONTROL_PLANE, *PERSISTENT_ROOTS, "epoch") if f"`/{kind}" not in text} == set()
