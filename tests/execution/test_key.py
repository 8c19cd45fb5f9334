"""Keys belong to the same item everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import namedtuple
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.execution.context import ShardingContext
from shardsched.execution.key import Key, item_of
from tests.execution.pool_harness import ROOT

plain_keys = st.one_of(
    st.text(), st.binary(), st.integers(), st.booleans(), st.floats(allow_nan=False), st.characters(categories=["Cs"])
)
keys = st.recursive(plain_keys, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)

KNOWN: dict[Key, int] = {
    "https://example.org/": 97,
    b"https://example.org/": 51,
    1: 66,
    ("a", 1): 82,
    "": 74,
    2.5: 76,
}
"""Items of 100; whoever changes one of these moves every key of every user."""


class Colour(StrEnum):
    """Texts with names."""

    RED = "red"


class Number(IntEnum):
    """Numbers with names."""

    SEVEN = 7


@given(st.lists(keys), st.integers(1, 50))
def test_items_split_any_keys_without_gap_or_overlap(elements: list[Any], item_count: int) -> None:
    """Every element is taken by exactly one item, in the order given."""
    contexts = [ShardingContext(job="j", item=item, items=item_count) for item in range(item_count)]
    numbered = list(enumerate(elements))
    taken = [list(ctx.mine(numbered, key=lambda pair: pair[1])) for ctx in contexts]
    assert sorted((pair for part in taken for pair in part), key=lambda pair: pair[0]) == numbered
    assert all([pair[0] for pair in part] == sorted(pair[0] for pair in part) for part in taken)


@given(keys, keys, st.integers(1, 1000))
def test_equal_keys_belong_to_one_item(first: Any, second: Any, item_count: int) -> None:
    """What Python calls equal is one key."""
    if first == second:
        assert item_of(first, item_count) == item_of(second, item_count)


@given(st.integers(-(10**20), 10**20))
def test_number_belongs_to_one_item_in_every_type(number: int) -> None:
    """A number is the same key as a float and as a bool where these are equal."""
    assert number != float(number) or item_of(number, 97) == item_of(float(number), 97)
    assert item_of(bool(number & 1), 97) == item_of(number & 1, 97)


def test_names_for_values_are_the_values() -> None:
    """Enum members and named tuples are equal to plain values, and are the same keys."""
    Point = namedtuple("Point", "x y")
    assert item_of(Colour.RED, 10**9) == item_of("red", 10**9)
    assert item_of(Number.SEVEN, 10**9) == item_of(7, 10**9)
    assert item_of(Point(1, "a"), 10**9) == item_of((1, "a"), 10**9)
    assert item_of(-0.0, 10**9) == item_of(0, 10**9)


@given(
    st.lists(st.text(alphabet="ab", max_size=3), max_size=4), st.lists(st.text(alphabet="ab", max_size=3), max_size=4)
)
def test_different_tuples_are_different_keys(first: list[str], second: list[str]) -> None:
    """The bounds between the parts of a tuple count."""
    if first != second:
        assert item_of(tuple(first), 2**60) != item_of(tuple(second), 2**60)


def test_items_of_known_keys_never_change() -> None:
    """The hash is part of what users rely on: a crawl must not be split anew by an upgrade."""
    assert {key: item_of(key, 100) for key in KNOWN} == KNOWN


def test_items_do_not_depend_on_the_process() -> None:
    """Another interpreter with another hash seed comes to the same items."""
    code = f"from shardsched.execution.key import Key, item_of\nprint([item_of(key, 100) for key in {list(KNOWN)!r}])"
    for seed in ("1", "2"):
        answer = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.strip() == str(list(KNOWN.values()))


def test_keys_are_spread_evenly() -> None:
    """Ten thousand addresses fall on eight items within a tenth of their share."""
    counts = [0] * 8
    for number in range(10_000):
        counts[item_of(f"https://example.org/{number}", 8)] += 1
    assert all(1125 <= count <= 1375 for count in counts)


def test_number_of_any_length_is_a_key() -> None:
    """Python's limit for writing out long numbers is no limit for keys."""
    assert 0 <= item_of(10**5000, 4) < 4


@pytest.mark.parametrize("key", [None, [1], {"a": 1}, Decimal(1), object(), ("a", None), bytearray(b"a")])
def test_key_of_another_type_is_refused(key: Any) -> None:
    """What has no plain value is refused with a word on what to give instead."""
    with pytest.raises(TypeError, match="give a str, bytes, int, float or a tuple"):
        item_of(key, 4)


@pytest.mark.parametrize("key", [float("nan"), ("a", float("nan"))])
def test_nan_is_no_key(key: Any) -> None:
    """What does not equal itself belongs nowhere."""
    with pytest.raises(TypeError, match="NaN is no key"):
        item_of(key, 4)
