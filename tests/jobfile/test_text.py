"""Files that were made to harm, or broke on their way."""

from __future__ import annotations

import time
from contextlib import nullcontext, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.errors import JobFileError
from shardsched.jobfile import MAX_FILE_BYTES, Form, Wish, decode_file, parse_jobs
from tests.strategies import ANY_SPEED

BOMB = "format: 1\njobs:\n" + "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
MANY = ("* * * * * a", "[{", "jobDesc,jobCron", "format: 1\njobs:\n  a0")
DEEP = "[" * 100_000


def file(line: str) -> str:
    """A job file with one line among the settings of a job."""
    return f"format: 1\njobs:\n  books:\n    handler: crawl\n    {line}\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"x" * (MAX_FILE_BYTES + 1), "4 MiB"),
        ("a\nbücher".encode("latin-1"), "line 2: it is not UTF-8"),
        (b"a\n\nb\0", "line 3: it holds a NUL"),
        ("format: 1".encode("utf-16"), "UTF-8"),
    ],
)
def test_decode_file_not_a_text_is_refused(data: bytes, words: str) -> None:
    """A file that is too large or no text is refused before anything reads it."""
    with pytest.raises(JobFileError, match=words):
        decode_file(data)


def test_decode_file_takes_what_editors_write() -> None:
    """A byte order mark and the line ends of Windows are no part of the text."""
    assert decode_file(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n") == "a: 1\nb: 2\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "alias"),
        (file("param: &a [*a]"), "line 5: alias"),
        (file("<<: *other"), "alias"),
        (file("param: !!python/object/apply:os.system [id]"), "line 5: tag"),
        (file("param: !!binary aGk="), "tag"),
        (file("param: !mine x"), "tag"),
        (file("handler: crawl"), "line 5: key 'handler' is given twice"),
        (file("[a]: 1"), "key is not a text"),
        (file("param: [1"), "not YAML"),
        (file('param: "\\ud800"'), "line 5|surrogate"),
        (file("param: \x07"), "not YAML"),
        (file(f"items: {'9' * 5000}"), "digits"),
        (file(f"items: {'9' * 400}.0"), "too large"),
        (file(f"param: {DEEP}"), "nested|not YAML"),
        (file("a: " + "{a: " * 40 + "}" * 40), "nested"),
        ("\ta: 1", "not YAML"),
        ("%YAML 9.9\n---\na", "not YAML"),
    ],
)
def test_yaml_hostile_is_refused_in_one_sentence(text: str, words: str) -> None:
    """Aliases, tags, keys given twice, depth and broken syntax are refused with their line."""
    with pytest.raises(JobFileError, match=words) as caught:
        parse_jobs(text, Wish(form=Form.YAML))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"format": 1,}', "line 1: it is not JSON"),
        ('{"format": 1, "jobs": {"a": {}, "a": {}}}', "'a' is given twice"),
        ('{"format": 1, "jobs": {"a": {"items": NaN}}}', "NaN"),
        ('{"format": 1, "jobs": {"a": {"items": 1e999}}}', "too large"),
        ('{"format": 1, "jobs": {"a": {"items": ' + "9" * 5000 + "}}}", "digits"),
        ('{"format": 1, "jobs": {"a": {"param": "\\ud800"}}}', "surrogate"),
        ('{"format": 1, "jobs": {"\\ud800": {}}}', "surrogate"),
        (DEEP, "nested|not JSON"),
        ("[" * 50 + "]" * 50, "nested"),
    ],
)
def test_json_hostile_is_refused_in_one_sentence(text: str, words: str) -> None:
    """The same holds for JSON."""
    with pytest.raises(JobFileError, match=words) as caught:
        parse_jobs(text, Wish(form=Form.JSON))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["yes", "12:30", "2026-01-01", "0x10", "007", "1_000", "1e5", ".inf", "<<", "=", "o"])
def test_yaml_reads_words_as_texts_that_others_guess_at(text: str) -> None:
    """No time of day becomes a number of minutes, no date an object, and no 'yes' a truth value."""
    (entry,) = parse_jobs(file(f"param: {text}"), Wish()).entries
    assert entry.settings["param"] == text


@pytest.mark.parametrize(
    "text",
    [
        file(f"param: {'x' * 4_000_000}"),
        "format: 1\njobs:\n" + "".join(f"  a{n}: {{}}\n" for n in range(60_000)),
        "* * * * * a\n" * 100_000,
        "[" + ",".join(['{"jobCron": "* * * * * ?"}'] * 40_000) + "]",
        "jobDesc,jobCron\n" + "a,b\n" * 100_000,
    ],
    ids=["text", "yaml", "crontab", "json", "csv"],
)
def test_large_file_ends_soon(text: str) -> None:
    """A file of the largest size is read or refused while a person waits."""
    began = time.monotonic()
    with pytest.raises(JobFileError, match="10000 jobs") if text.startswith(MANY) else nullcontext():
        parse_jobs(text, Wish())
    assert time.monotonic() - began < 60


@given(text=st.text(max_size=200) | st.text(alphabet="*/0159-, \t\n@=#%[]{}:\"'&!|>abuser\\", max_size=60))
@pytest.mark.parametrize("form", list(Form))
@ANY_SPEED
def test_any_text_is_read_or_refused(form: Form, text: str) -> None:
    """No text brings anything but jobs, or one error."""
    with suppress(JobFileError):
        parse_jobs(text, Wish(form=form))
