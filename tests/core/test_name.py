"""Names of jobs, executors and namespaces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.name import (
    MAX_NAME_LENGTH,
    check_executor_name,
    check_job_name,
    check_namespace,
    check_text,
    name_fault,
)
from shardsched.errors import JobConfigError, SettingsError
from shardsched.registry.tree import path_fault
from tests.strategies import ANY_SPEED

BAD_NAMES: tuple[Any, ...] = (
    "",
    ".",
    "..",
    "a/b",
    "/",
    "a b",
    " a",
    "a\n",
    "a\0",
    "\x1b[31m",
    "a\x7f",
    "\x85",
    "\ud800",
    "a\udfff",
    "\u200b",
    "\u202ea",
    "\ufeff",
    "\ufffe",
    "\U0001f600",
    "\U0001d49c",
    "\U00020000",
    "a:b",
    "a%2F",
    "a\\b",
    "a" * (MAX_NAME_LENGTH + 1),
    None,
    3,
    b"a",
    ["a"],
)
GOOD_NAMES = (
    "a",
    "...",
    ".a",
    "-",
    "_",
    "books-2.daily_x",
    "\u6f22\u5b57",
    "\xe9",
    "\u0436",
    "9",
    "a" * MAX_NAME_LENGTH,
)


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_name_of_letters_digits_and_three_signs_is_taken(name: str) -> None:
    """Letters of any script, digits, hyphen, underscore and dot make a name of up to 128 characters."""
    assert name_fault(name) is None
    assert check_job_name(name) == name
    assert check_executor_name(name) == name


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_name_that_is_no_part_of_a_path_is_refused(name: Any) -> None:
    """What is not one safe part of a path is refused for jobs and executors, in a short printable sentence."""
    assert name_fault(name)
    with pytest.raises(JobConfigError) as job_error:
        check_job_name(name)
    with pytest.raises(SettingsError) as executor_error:
        check_executor_name(name)
    assert job_error.value.setting == "name"
    for error in (job_error, executor_error):
        assert "use 1 to 128 letters" in str(error.value)
        assert len(str(error.value)) < 250
        assert str(error.value).isascii()
        assert str(error.value).isprintable()


@ANY_SPEED
@given(st.text(max_size=5) | st.characters())
def test_name_any_that_is_taken_is_a_path_in_every_registry(name: str) -> None:
    """No name passes here that a registry would refuse later, in the middle of something."""
    assert name_fault(name) is not None or path_fault(f"/jobs/{name}") is None


@pytest.mark.parametrize(
    ("given_text", "namespace"), [("a", "a"), ("/a/b/", "a/b"), ("fleet-1/\u6f22", "fleet-1/\u6f22")]
)
def test_namespace_is_one_or_more_names(given_text: str, namespace: str) -> None:
    """Slashes at the ends are taken off, those between names stay."""
    assert check_namespace(given_text) == namespace


@pytest.mark.parametrize("namespace", ["", "/", "a//b", "a/../b", "a b", "\ud800", "zookeeper", "zookeeper/a", None, 3])
def test_namespace_with_a_bad_part_is_refused(namespace: Any) -> None:
    """An empty or unsafe part, or ZooKeeper's own node, is refused."""
    with pytest.raises(SettingsError):
        check_namespace(namespace)


@pytest.mark.parametrize(
    ("value", "fault"),
    [(3, "not a text"), (None, "not a text"), ("abcd", "4 characters"), ("\ud800", "half a"), ("\0", "NUL")],
)
def test_check_text_that_cannot_be_stored_is_refused_by_the_error_told(value: Any, fault: str) -> None:
    """The error is of the class asked for and names what was wrong."""
    with pytest.raises(SettingsError, match=fault):
        check_text(value, "the note", SettingsError, 3)


def test_check_text_up_to_its_length_is_taken() -> None:
    """A text of any script within the length passes, an empty one too."""
    check_text("\u6f22\n\U0001f600", "the note", SettingsError, 3)
    check_text("", "the note", SettingsError, 3)
