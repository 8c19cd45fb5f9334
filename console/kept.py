"""Pieces of rows that are kept as they were made: a list has several for each of fifty rows, and shows them again."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from flask import request

from console.text import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from markupsafe import Markup

Given = TypeVar("Given", bound="Hashable")


def kept(make: Callable[[Given], Markup]) -> Callable[[Given], Markup]:
    """Keep what a function makes, for readers of each language and at each place of the site.

    All else that it shows must come from what it is given.
    """

    @lru_cache(maxsize=4096)
    def made(given: Given, _catalogue: Any, _root: str) -> Markup:
        return make(given)

    @wraps(make)
    def find(given: Given) -> Markup:
        return made(given, catalogue(), request.script_root)

    return find
