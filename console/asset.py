"""Files that browsers get: addresses that change with their content, and drawings of icons.

Files are read and compressed once and kept, since they are few and never change while the console runs.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import brotli
from flask import Response, request, url_for
from markupsafe import Markup
from werkzeug.exceptions import NotFound
from werkzeug.security import safe_join

from console.role import role

if TYPE_CHECKING:
    from flask import Flask

STATIC = Path(__file__).with_name("static")
_ICONS = STATIC / "vendor" / "icons"
_IMPORT = re.compile(rb'(?<= from "\./)[a-z_]+\.js(?=";)')
"""What a module imports, as all of ours write it."""
_CODERS = {"br": brotli.compress, "gzip": lambda data: gzip.compress(data, mtime=0), "identity": bytes}


def init_assets(app: Flask) -> None:
    """Serve the files, under the endpoint ``static``."""
    app.add_url_rule("/static/<path:filename>", "static", _send)


@role("public")
def _send(filename: str) -> Response:
    """Return a file, compressed as the browser can take it."""
    path = safe_join(str(STATIC), filename)
    if path is None or not Path(path).is_file():
        raise NotFound
    coding = request.accept_encodings.best_match(list(_CODERS), default="identity")
    kind = mimetypes.guess_type(filename)[0] or "application/octet-stream"
    name = Path(path).relative_to(STATIC).as_posix()  # one way of writing it, as what is read is kept
    response = Response(_coded(name, coding), mimetype=kind)
    if coding != "identity":
        response.headers["Content-Encoding"] = coding
    response.set_etag(f"{_version(name)}-{coding}")
    return response.make_conditional(request)  # type: ignore[return-value]  # the same object


@cache
def _coded(name: str, coding: str) -> bytes:
    data: bytes = _CODERS[coding](_content(name))
    return data


@cache
def _content(name: str) -> bytes:
    """Return a file; modules of ours import others by addresses that change with their content, too."""
    data = (STATIC / name).read_bytes()
    return _IMPORT.sub(lambda found: f"{found[0].decode()}?v={_version(found[0].decode())}".encode(), data)


@cache
def _version(name: str) -> str:
    return hashlib.sha256(_content(name)).hexdigest()[:12]


@cache
def imports(name: str) -> tuple[str, ...]:
    """Return the modules that one of ours imports, directly or not: what a page has the browser fetch at once."""
    found = {match.decode(): None for match in _IMPORT.findall((STATIC / name).read_bytes())}
    return tuple(found | {further: None for direct in found for further in imports(direct)})


def asset(name: str) -> str:
    """Return the address of a file below ``static``; browsers keep it for good, as it changes with the file."""
    return url_for("static", filename=name, v=_version(name))


@cache
def icon(name: str, size: int = 20) -> Markup:
    """Return the drawing of one of Tabler's icons, hidden from screen readers: a text stands beside it, or a label.

    Raises:
        FileNotFoundError: It is not among the vendored ones; add it to ``console/tools/vendor.py``.
    """
    drawing = (_ICONS / f"{name}.svg").read_text()
    paths = drawing[drawing.index(">", drawing.index("<svg")) + 1 : drawing.rindex("</svg>")]
    lines = "".join(line.strip() for line in paths.splitlines() if 'stroke="none"' not in line)
    return Markup(  # noqa: S704 - a file of ours
        f'<svg class="icon" width="{size}" height="{size}" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
        f'stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{lines}</svg>'
    )
