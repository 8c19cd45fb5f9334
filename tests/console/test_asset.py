"""Files and templates: what is vendored is what it says, and nothing in them needs a looser policy."""

from __future__ import annotations

import ast
import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from console.asset import STATIC, imports
from console.tools.vendor import TEST_VENDOR, VENDOR, integrity
from tests.console.store_away import fleet_of
from tests.packaging.source import ROOT

if TYPE_CHECKING:
    from tests.console.site import Site

TEMPLATES = sorted((ROOT / "console" / "templates").rglob("*.html"))
BASE = ROOT / "console" / "templates" / "base.html"
SCRIPTS = sorted(path for path in STATIC.glob("*.js"))
_INLINE = re.compile(
    r"\sstyle=|<style|\son[a-z]+=|hx-on|javascript:|<script(?![^>]*(?: src=|application/json))", re.IGNORECASE
)


@pytest.mark.parametrize("folder", [VENDOR, TEST_VENDOR], ids=["console", "tests"])
def test_vendored_files_are_those_of_the_manifest(folder: Path) -> None:
    """Nobody edits them by hand, and none comes without its origin and licence."""
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    files.pop("MANIFEST.json")
    assert {name: integrity(path) for name, path in files.items()} == {
        name: entry["integrity"] for name, entry in manifest.items()
    }
    packages = json.loads((ROOT / "console" / "package.json").read_text())["dependencies"]
    assert {entry["from"] for entry in manifest.values()} <= {f"{name}@{version}" for name, version in packages.items()}
    tops = {Path(name).parts[0] for name in manifest if len(Path(name).parts) > 1}
    assert all(f"{top}/LICENSE" in manifest for top in tops)


def test_vendored_styles_fetch_nothing() -> None:
    """No font and no picture of another place."""
    for path in VENDOR.rglob("*.css"):
        text = path.read_text()
        assert "@import" not in text, path
        assert [url for url in re.findall(r"url\(\s*[\"']?([^)\"']+)", text) if not url.startswith("data:")] == [], path


def test_templates_have_nothing_inline() -> None:
    """The policy would forbid it, and ``|safe`` would trust what others wrote."""
    found = [
        f"{path.name}:{number}: {line.strip()[:80]}"
        for path in TEMPLATES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if _INLINE.search(line) or re.search(r"\|\s*safe\b|autoescape false", line)
    ]
    assert found == []


def test_templates_send_the_forgery_token_with_every_form() -> None:
    """A form that changes something without it would fail for everybody."""
    forms = [
        (path.name, form)
        for path in TEMPLATES
        for form in re.findall(r"<form[^>]*method=\"post\".*?</form>", path.read_text(), re.DOTALL)
    ]
    assert [name for name, form in forms if "csrf()" not in form] == []
    assert len(forms) > 8


class _Untyped(ast.NodeTransformer):
    """Takes the types away of what functions take and return."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Of one function, and of those within."""
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Of one argument."""
        node.annotation = None
        return node


def test_code_trusts_no_text_of_others() -> None:
    """Markup is made of our own files, our own texts, and escaped parts only."""
    uses = []
    for path in sorted((ROOT / "console").rglob("*.py")):
        # Any use but as a type: calls, aliases, and what stands in a table of functions.
        tree = ast.unparse(_Untyped().visit(ast.parse(path.read_text())))
        uses += [path.name for node in ast.walk(ast.parse(tree)) if isinstance(node, ast.Name) and node.id == "Markup"]
    assert set(uses) <= {"asset.py", "piece.py", "sentence_text.py", "text.py", "view.py"}


def test_scripts_are_small_and_write_no_html() -> None:
    """Our own of a page stay within 15 KiB as they are sent, and set texts rather than HTML."""
    texts = {path.name: path.read_text() for path in SCRIPTS}
    sizes = {name: len(gzip.compress(text.encode())) for name, text in texts.items()}
    assert len(texts["console.js"].splitlines()) < 200
    everywhere = sum(sizes[name] for name in re.findall(r"asset\('([a-z]+\.js)'\)", BASE.read_text()))
    assert everywhere > sizes["console.js"]
    assert all(
        everywhere + size + sum(sizes[part] for part in imports(name)) < 15 * 1024 for name, size in sizes.items()
    )
    assert [
        name for name, text in texts.items() if re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(", text)
    ] == []


def test_ids_that_scripts_look_for_exist() -> None:
    """A part that was renamed in a template is missed here."""
    templates = "".join(path.read_text() for path in TEMPLATES)
    wanted = {name for path in SCRIPTS for name in re.findall(r'\$\("#([a-z-]+)', path.read_text())}
    assert {name for name in wanted if f'id="{name}"' not in templates} == set()
    assert len(wanted) > 5


def test_modules_are_imported_by_addresses_that_change_with_them(site: Site) -> None:
    """Browsers keep files for good, so a page must name each that it needs, and modules the same addresses."""
    fleet_of(site)
    browser = site.client("viewer")
    page = browser.get("/map").text
    preloaded = set(re.findall(r'rel="modulepreload" href="([^"]+)"', page))
    script = re.findall(r'src="(/static/map\.js[^"]+)"', page)[0]
    wanted: set[str] = set()
    for address in (script, *preloaded):
        answer = browser.get(address)
        assert "immutable" in answer.headers["Cache-Control"]
        wanted |= {f"/static/{name}" for name in re.findall(r' from "\./([^"]+)"', answer.text)}
    assert wanted == preloaded
    assert len(preloaded) == len(imports("map.js")) > 2
