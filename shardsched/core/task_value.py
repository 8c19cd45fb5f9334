"""Values of a task: each function returns what is wrong with one and what to give, or None."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from shardsched.core.placeholder import fill, names_in
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_TEXT_CHARS = 64 * 1024
"""Longest text of a task."""
MAX_ENTRIES = 1_000
"""Most words of a command, headers, variables or arguments."""
MAX_TASK_S = 3_600.0
"""Longest wait for a server, in seconds."""
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_STATUSES = re.compile(r"([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?")


def string_fault(value: Any) -> str | None:
    """Return what is wrong with a text that may be empty."""
    if not isinstance(value, str):
        return Sentence("is not a text; give one")
    if len(value) > MAX_TEXT_CHARS:
        return Sentence("has %(count)s characters; %(most)s are allowed", count=len(value), most=MAX_TEXT_CHARS)
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return Sentence("holds a NUL or half a character; remove it")
    return None


def text_fault(value: Any) -> str | None:
    """Return what is wrong with a text that must say something."""
    return Sentence("is empty; leave it out or fill it") if value == "" else string_fault(value)


def argv_fault(value: Any) -> str | None:
    """Return what is wrong with a command and its arguments."""
    if not isinstance(value, list) or not value or len(value) > MAX_ENTRIES or not value[0]:
        return Sentence(
            "is not a list of 1 to %(most)s words that begins with a program; give one such as ['tar', 'cf']",
            most=MAX_ENTRIES,
        )
    return next(
        (Sentence("has a word that %(fault)s", fault=fault) for word in value if (fault := string_fault(word))), None
    )


def _texts_fault(value: Any, example: str) -> str | None:
    """Return what is wrong with texts by name."""
    if not isinstance(value, Mapping) or len(value) > MAX_ENTRIES:
        return Sentence(
            "is not a mapping of at most %(most)s texts; give some such as %(example)s",
            most=MAX_ENTRIES,
            example=example,
        )
    for name, text in value.items():
        fault = text_fault(name) or string_fault(text)
        if fault is not None:
            return Sentence("has %(name)a, which %(fault)s", name=str(name)[:64], fault=fault)
    return None


def environment_fault(value: Any, reserved: Collection[str]) -> str | None:
    """Return what is wrong with environment variables.

    Args:
        value: Variables by name.
        reserved: Names that the run itself gives.
    """
    fault = _texts_fault(value, "{'LANG': 'C'}")
    if fault is not None:
        return fault
    bad = next((name for name in value if "=" in name or name in reserved), None)
    return (
        None
        if bad is None
        else Sentence("sets %(bad)a, which the run sets itself or no program takes; rename it", bad=bad[:64])
    )


def codes_fault(value: Any) -> str | None:
    """Return what is wrong with exit codes."""
    is_list = isinstance(value, list) and 0 < len(value) <= 256
    if not is_list or any(
        isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= 255 for code in value
    ):
        return Sentence("is not a list of exit codes from 0 to 255; give one such as [0, 3]")
    return None


def url_fault(value: Any) -> str | None:
    """Return what is wrong with the address of a request.

    What a trigger may set, the job's parameter, must not choose whom to ask; an item's parameter, which belongs to the
    job, may.
    """
    fault = text_fault(value)
    if fault is not None:
        return fault
    if any(character <= " " or character == "\x7f" for character in value):
        return Sentence("holds a blank or a control character; write it as %%20 and the like")
    try:
        # A digit may stand in a name as well as in a port.
        parts = urlsplit(fill(value, {}, lambda _: "1"))
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not is_address:
        return Sentence("is not an address of http or https; give one such as https://shop.example/{item}")
    authority = value.partition("://")[2].partition("/")[0].partition("?")[0]
    if "@" in authority:
        return Sentence("holds a name or password before the host; give them as a header")
    if "job_param" in names_in(authority):
        return Sentence(
            "has {job_param} in its host, which a trigger could then choose; use {param} or write the host out"
        )
    return None


def method_fault(value: Any) -> str | None:
    """Return what is wrong with the method of a request."""
    is_method = isinstance(value, str) and _TOKEN.fullmatch(value) and value == value.upper()
    return None if is_method else Sentence("is not a method; give one such as GET or POST")


def headers_fault(value: Any) -> str | None:
    """Return what is wrong with the headers of a request."""
    fault = _texts_fault(value, "{'Accept': 'text/html'}")
    if fault is not None:
        return fault
    for name, text in value.items():
        if not _TOKEN.fullmatch(name):
            return Sentence(
                "has the name %(name)a, which no header may have; use letters, digits and '-'", name=name[:64]
            )
        if any(character in text for character in "\r\n") or not _is_latin(text):
            return Sentence(
                "has a value for %(name)r with a line break or letters beyond Latin-1; write them encoded", name=name
            )
    return None


def _is_latin(text: str) -> bool:
    return all(character <= "\xff" for character in text)


def statuses_fault(value: Any) -> str | None:
    """Return what is wrong with expected statuses."""
    parts = value.split(",") if isinstance(value, str) and len(value) <= 1_000 else [""]
    matches = [_STATUSES.fullmatch(part.strip()) for part in parts]
    if all(match and match[1] <= (match[2] or match[1]) for match in matches):
        return None
    return Sentence("is not a set of statuses from 100 to 599; write it such as 200-299,304")


def is_expected(status: int, expected: str) -> bool:
    """Return whether a status is in a set such as ``200-299,304``."""
    spans = [part.strip().partition("-") for part in expected.split(",")]
    return any(int(first) <= status <= int(last or first) for first, _, last in spans)


def seconds_fault(value: Any) -> str | None:
    """Return what is wrong with a time-out."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= MAX_TASK_S:
        return Sentence("is not a number of seconds from 0.1 to %(most)g", most=MAX_TASK_S)
    return None


def redirects_fault(value: Any) -> str | None:
    """Return what is wrong with the number of redirects that are followed."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 20
    return None if is_count else Sentence("is not a whole number from 0 to 20")


def settings_fault(value: Any) -> str | None:
    """Return what is wrong with settings of a framework: values may be any JSON."""
    if not isinstance(value, Mapping) or len(value) > MAX_ENTRIES or any(text_fault(name) for name in value):
        return Sentence(
            "is not a mapping of at most %(most)s settings; give some such as {'DOWNLOAD_DELAY': 1}",
            most=MAX_ENTRIES,
        )
    return None


def arguments_fault(value: Any, reserved: Collection[str]) -> str | None:
    """Return what is wrong with arguments of a spider.

    Args:
        value: Texts by name.
        reserved: Names that the run itself gives.
    """
    fault = _texts_fault(value, "{'shelf': 'fiction'}")
    if fault is not None:
        return fault
    bad = next((name for name in value if name in reserved or name in {"name", "self", "crawler"}), None)
    return (
        None
        if bad is None
        else Sentence("has %(bad)r, which every spider gets from its run or from Scrapy; rename it", bad=bad)
    )
