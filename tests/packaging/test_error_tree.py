"""The drawing of the errors is the tree of their classes."""

from __future__ import annotations

import inspect
import re

from shardsched import errors


def drawn() -> dict[str, str]:
    """The parent of each class in the drawing."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.fullmatch(r" {4}((?:│ {3}| {4})*)(├── |└── )?(\w+Error)", line)
        if found:
            depth = len(found[1]) // 4 + bool(found[2])
            if depth:
                parents[found[3]] = above[depth - 1]
            above = [*above[:depth], found[3]]
    return parents


def defined() -> dict[str, str]:
    """The parent of each class in the module, the tree's root left out."""
    classes = [
        one for _, one in inspect.getmembers(errors, inspect.isclass) if one.__module__.startswith(errors.__name__)
    ]
    return {one.__name__: one.__bases__[0].__name__ for one in classes if one is not errors.ShardschedError}


def test_error_tree_drawing_is_the_classes() -> None:
    """No class is missing in the drawing, and none stands in another place."""
    assert drawn() == defined()
    assert len(drawn()) > 20


def test_error_classes_say_when_they_are_raised() -> None:
    """Whoever meets an error finds in its docstring when it is raised."""
    silent = [
        name
        for name, one in inspect.getmembers(errors, inspect.isclass)
        if one.__module__.startswith(errors.__name__)
        and one is not errors.ShardschedError
        and not (one.__doc__ or "").startswith("Raised ")
    ]
    assert silent == []
