"""Strategies of operations on a small tree, in which they meet each other often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from shardsched.registry.base import ANY_VERSION, Check, Create, Delete, Put

if TYPE_CHECKING:
    from shardsched.registry.base import Operation

PATHS = ("/a", "/b", "/a/a", "/a/b", "/b/a", "/a/a/a")


def operations() -> st.SearchStrategy[Operation]:
    """Single operations; most of them can be done."""
    paths = st.sampled_from(PATHS)
    values = st.binary(max_size=4)
    versions = st.sampled_from((ANY_VERSION, ANY_VERSION, 0, 1, 2))
    return st.one_of(
        st.builds(Create, paths, values, st.sampled_from((False, False, True))),
        st.builds(Create, paths, values),
        st.builds(Put, paths, values, versions),
        st.builds(Delete, paths, versions),
        st.builds(Check, paths, versions),
    )


def transactions() -> st.SearchStrategy[list[list[Operation]]]:
    """Sequences of short transactions."""
    return st.lists(st.lists(operations(), min_size=1, max_size=5), min_size=1, max_size=12)
