"""Keeps the catalogues of translations up to date.

``python -m console.tools.translate`` takes the texts from code and templates, and the sentences of the scheduler,
writes those that are new into ``translations/*/LC_MESSAGES/messages.po`` (empty, to be translated by a person), drops
those that are gone, and compiles the catalogues. A test fails while a text is missing or not translated.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

import shardsched

CONSOLE = Path(__file__).resolve().parents[1]
SCHEDULER = Path(shardsched.__file__).parent
TRANSLATIONS = CONSOLE / "translations"
_METHODS = [("templates/**.html", "jinja2"), ("**.py", "python")]
_SENTENCES = {"Sentence": None}
_KEYWORDS = DEFAULT_KEYWORDS | {"_l": None, "_n": (1, 2), "_nl": (1, 2), "lazy_gettext": None} | _SENTENCES
_NOISE = ('"Project-', '"Report-', '"POT-', '"PO-', '"Last-', '"Language-Team', '"Generated-')
"""Lines of the header that say nothing, or another thing at each run."""
_ANY_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_HEADER = "# The console's texts. Run python -m console.tools.translate after texts change."


def extracted() -> Catalog:
    """Return all texts of code and templates, and all sentences of the scheduler."""
    catalog = Catalog(charset="utf-8", header_comment=_HEADER)
    for folder, methods, keywords in ((SCHEDULER, _METHODS[1:], _SENTENCES), (CONSOLE, _METHODS, _KEYWORDS)):
        for name, _line, message, _comments, context in extract_from_dir(
            folder, method_map=methods, keywords=keywords, comment_tags=()
        ):
            place = Path(folder.name, name).as_posix() if folder is SCHEDULER else name.replace("\\", "/")
            if not name.startswith("tools"):
                catalog.add(message, None, [(place, 0)], context=context)
    return catalog


def catalogues() -> dict[str, Path]:
    """Return the files by the code of their language."""
    return {path.parents[1].name: path for path in sorted(TRANSLATIONS.glob("*/LC_MESSAGES/messages.po"))}


def read(language: str, path: Path) -> Catalog:
    """Return a catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=language)


def compiled(catalog: Catalog) -> bytes:
    """Return what programs read of a catalogue; the same for the same texts."""
    catalog.creation_date = catalog.revision_date = _ANY_DAY
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def update(catalog: Catalog, texts: Catalog) -> None:
    """Bring a catalogue to the texts that there are; nothing is guessed from texts that are alike."""
    catalog.update(texts, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    catalog.header_comment = _HEADER


def main() -> None:
    """Update and compile all catalogues, and say what is missing."""
    texts = extracted()
    for language, path in catalogues().items():
        catalog = read(language, path)
        update(catalog, texts)
        buffer = io.BytesIO()
        write_po(buffer, catalog, width=120, sort_output=True, include_lineno=False)
        lines = buffer.getvalue().decode().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.startswith(_NOISE)), "utf-8")
        path.with_suffix(".mo").write_bytes(compiled(catalog))


if __name__ == "__main__":
    main()
