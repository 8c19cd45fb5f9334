"""YAML without its dangers: no tags, no aliases, no key twice, no dates and no numbers of base 60.

Values are built here from the parser's events, since PyYAML's loaders take all of these. Only the plain words that
YAML 1.2 calls null, truth values and numbers are read as such; what is written is understood by readers of 1.1 too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from shardsched.errors import JobFileError
from shardsched.jobfile.text import MAX_DEPTH, Block, check_value
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

# The libraries' C parts are ten times as fast, and not there on every machine.
_READER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WRITER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_NULL = re.compile(r"(?:~|null|Null|NULL)?")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]*(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_CORE = "tag:yaml.org,2002:"


def load_yaml(text: str) -> list[Any]:
    """Return what the documents of a YAML text stand for.

    Raises:
        JobFileError: It is not YAML, or uses what is not taken; with the line.
    """
    try:
        events = iter(yaml.parse(text, Loader=_READER))
        values = [_value(events, event, 0) for event in events if not isinstance(event, _FRAMES)]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise JobFileError(
            Sentence("it is not YAML: %(error)s", error=Foreign(error.problem or error.context)), line=line
        ) from None
    except yaml.YAMLError as error:
        raise JobFileError(
            Sentence("it is not YAML: %(error)s", error=Foreign(" ".join(str(error).split())[:200]))
        ) from None
    check_value(values)
    return values


_FRAMES = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent)


def _value(events: Iterator[Any], event: Any, depth: int) -> Any:
    line = event.start_mark.line + 1
    if isinstance(event, yaml.AliasEvent):
        raise JobFileError(
            Sentence("alias *%(anchor)s is not taken; write out what it stands for", anchor=str(event.anchor)[:64]),
            line=line,
        )
    tag = event.tag
    if tag not in {None, "!", f"{_CORE}str", f"{_CORE}map", f"{_CORE}seq"}:
        raise JobFileError(Sentence("tag %(tag)r is not taken; remove it", tag=tag[:80]), line=line)
    if depth > MAX_DEPTH:
        raise JobFileError(Sentence("it is nested deeper than %(most)s levels", most=MAX_DEPTH), line=line)
    if isinstance(event, yaml.ScalarEvent):
        is_plain = event.implicit[0] and event.style in {None, ""}
        return _scalar(event.value, line) if is_plain and tag is None else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        return _sequence(events, depth)
    return _mapping(events, depth)


def _sequence(events: Iterator[Any], depth: int) -> list[Any]:
    values = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        values.append(_value(events, event, depth + 1))
    return values


def _mapping(events: Iterator[Any], depth: int) -> Block:
    block = Block()
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        line = event.start_mark.line + 1
        if not isinstance(event, yaml.ScalarEvent):
            raise JobFileError(Sentence("a key is not a text; write a text"), line=line)
        key = event.value
        if key in block:
            raise JobFileError(
                Sentence("key %(key)r is given twice in one mapping; give it once", key=key[:64]), line=line
            )
        block[key] = _value(events, next(events), depth + 1)
        block.lines[key] = line
    return block


def _scalar(text: str, line: int) -> Any:
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return text.lower() == "true"
    try:
        if _INTEGER.fullmatch(text):
            return int(text)
    except ValueError:
        raise JobFileError(Sentence("it holds a number with thousands of digits"), line=line) from None
    return float(text) if _FLOAT.fullmatch(text) else text


class _Writer(_WRITER):  # type: ignore[misc]  # which of the two it is, is known only when it is imported
    """Writes texts of several lines as blocks, which people can read and edit."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal values out each time; aliases are not read."""
        return True


def _write_text(writer: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    return writer.represent_scalar(f"{_CORE}str", str(text), style=style)


_Writer.add_representer(str, _write_text)
_Writer.add_multi_representer(str, _write_text)


def dump_yaml(document: Any) -> str:
    """Return a document as YAML that `load_yaml` reads back unchanged."""
    text: str = yaml.dump(
        document, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=120, default_flow_style=False
    )
    return text
