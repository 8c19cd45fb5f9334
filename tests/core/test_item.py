"""Items and their parameters as text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.item import (
    MAX_ITEM_COUNT,
    check_item_params,
    check_known_items,
    format_item_params,
    format_items,
    make_item_params,
    parse_item_params,
    parse_items,
)
from shardsched.errors import ItemParameterError
from tests.strategies import ANY_SPEED, item_sets, texts


@pytest.mark.parametrize(
    ("items", "text"),
    [((), ""), ((0,), "0"), ((0, 1, 2, 3, 7), "0-3,7"), ((5, 6), "5-6"), ((1, 3, 5), "1,3,5"), ((9999,), "9999")],
)
def test_items_known_texts_go_both_ways(items: tuple[int, ...], text: str) -> None:
    """Runs of items are written as ranges."""
    assert format_items(items) == text
    assert parse_items(text) == items


@ANY_SPEED
@given(item_sets())
def test_items_any_come_back_in_rising_order(items: tuple[int, ...]) -> None:
    """What is written is read again, whatever order it was given in."""
    assert parse_items(format_items(reversed(items))) == items


def test_parse_items_all_of_the_largest_job_are_read() -> None:
    """The largest job's items fit one text."""
    assert parse_items("0-9999") == tuple(range(MAX_ITEM_COUNT))
    assert parse_items("3,1-2,2") == (1, 2, 3)


@pytest.mark.parametrize(
    "text",
    [
        " ", ",", "1,", "1,,2", "-1", "1-", "1--2", "3-1", "a", "1.5", "+1", "0x1", "1 ", "1_0", "\u0663", "\xb2",
        "10000", "0-10000", "99999999999", "1-2-3", "0-9999,0", "\ud800", "x" * 500_000,
    ],
    ids=lambda text: ascii(text[:12]),
)  # fmt: skip
def test_parse_items_bad_text_is_refused_in_a_short_sentence(text: str) -> None:
    """A text that names no items, items that cannot exist, or the same ones over and over, is refused."""
    with pytest.raises(ItemParameterError) as caught:
        parse_items(text)
    assert len(str(caught.value)) < 300


def test_parse_items_hostile_repetition_stops_at_once() -> None:
    """A stored text of half a megabyte that names all items again and again is refused by its first excess."""
    with pytest.raises(ItemParameterError, match="more than 10000"):
        parse_items("0-9999," * 70_000 + "x")


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("", {}),
        ("0=a", {0: "a"}),
        (" 0 = a , 1 = b ", {0: "a", 1: "b"}),
        ('0="a,b=c",1=""', {0: "a,b=c", 1: ""}),
        ('0="say ""hi"""', {0: 'say "hi"'}),
        ("0=", {0: ""}),
        ("3=\u6f22", {3: "\u6f22"}),
        ("0=a=b", {0: "a=b"}),
    ],
)
def test_parse_item_params_good_text_is_read(text: str, params: dict[int, str]) -> None:
    """Blanks around are dropped, quotes hold what would else end a value."""
    assert parse_item_params(text) == params


@pytest.mark.parametrize(
    "text", ["a", "=a", "x=a", "-1=a", "0=a,", ",", "0=a,0=b", "0=a,00=b", '0="a', "\xb2=a", "123456=a"]
)
def test_parse_item_params_bad_text_is_refused(text: str) -> None:
    """A part that is not ITEM=VALUE, an item given twice, or an open quote is refused."""
    with pytest.raises(ItemParameterError, match="item parameters"):
        parse_item_params(text)


@ANY_SPEED
@given(st.dictionaries(st.integers(0, 9999), texts() | st.text('a," =', max_size=6), max_size=5))
def test_item_params_any_come_back(params: dict[int, str]) -> None:
    """What is written is read again, quotes, commas and blanks included."""
    assert parse_item_params(format_item_params(params)) == params


@pytest.mark.parametrize("item", [-1, 3, 10_000, "0", 1.0, True, None])
def test_check_item_params_item_that_does_not_exist_is_refused(item: Any) -> None:
    """Only the numbers of the job's items may have a parameter; the message tells the range."""
    with pytest.raises(ItemParameterError, match="0 to 2"):
        check_item_params({item: "x"}, 3)


@pytest.mark.parametrize("value", [None, 3, b"x", ["x"]])
def test_check_item_params_value_that_is_no_text_is_refused(value: Any) -> None:
    """A parameter is a text."""
    with pytest.raises(ItemParameterError, match="not a text"):
        check_item_params({0: value}, 3)


@pytest.mark.parametrize("params", ["0=a", None, [], 3])
def test_check_item_params_of_another_kind_are_refused(params: Any) -> None:
    """Parameters that were not made into a mapping are refused, not tripped over."""
    with pytest.raises(ItemParameterError, match="not a mapping"):
        check_item_params(params, 3)


def test_make_item_params_takes_mappings_texts_and_nothing() -> None:
    """People give parameters as text, code as a mapping."""
    assert make_item_params(None) == {}
    assert make_item_params("0=a") == {0: "a"}
    assert make_item_params({1: "b"}) == {1: "b"}
    with pytest.raises(ItemParameterError):
        make_item_params(["a"])


@pytest.mark.parametrize(("items", "unknown"), [((), None), ((0, 2), None), ((2, 3, 9), 3), ((-1,), -1)])
def test_check_known_items_names_the_first_that_is_not_there(items: tuple[int, ...], unknown: int | None) -> None:
    """Items beyond the count are refused with the range."""
    if unknown is None:
        check_known_items("books", items, 3)
        return
    with pytest.raises(ItemParameterError, match=f"'books' has no item {unknown}; its items are 0 to 2"):
        check_known_items("books", items, 3)
