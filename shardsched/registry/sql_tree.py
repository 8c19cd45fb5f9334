"""The statements that read and write nodes; each function works within its caller's transaction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from shardsched.registry.base import Create, Delete, Node
from shardsched.registry.sql_table import CHANGES, NODES
from shardsched.registry.tree import Draft, Stub, parent_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Row

    from shardsched.registry.base import Operation

CHUNK = 500
"""Values in one ``IN``: databases limit the parameters of a statement."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_PUT = (
    update(NODES)
    .where(NODES.c.path == bindparam("at"))
    .values(value=bindparam("new_value"), version=bindparam("new_version"))
)


def chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut values into as many as one statement takes."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def nodes_at(connection: Connection, paths: Iterable[str]) -> dict[str, Node]:
    """Return the nodes that exist of these paths."""
    return {
        row.path: _node(row)
        for some in chunks(sorted(set(paths)))
        for row in connection.execute(select(NODES).where(NODES.c.path.in_(some)))
    }


def nodes_around(connection: Connection, prefix: str) -> dict[str, Node]:
    """Return a node and its children."""
    statement = select(NODES).where(or_(NODES.c.path == prefix, NODES.c.parent == prefix))
    return {row.path: _node(row) for row in connection.execute(statement)}


def names_below(connection: Connection, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the sorted names of the children of those paths that exist."""
    names: dict[str, list[str]] = {}
    for some in chunks(sorted(set(paths))):
        wanted = set(some)
        statement = select(NODES.c.path, NODES.c.parent).where(or_(NODES.c.path.in_(some), NODES.c.parent.in_(some)))
        for path, parent in connection.execute(statement):
            if path in wanted:
                names.setdefault(path, [])
            if parent in wanted:
                names.setdefault(parent, []).append(path.rpartition("/")[2])
    return {path: tuple(sorted(each)) for path, each in names.items()}


def draft(connection: Connection, operations: Sequence[Operation]) -> Draft:
    """Return a draft that knows the nodes which the operations can touch."""
    paths = {operation.path for operation in operations}
    paths |= {parent_path(operation.path) for operation in operations if isinstance(operation, Create)}
    counts: dict[str, int] = {}
    for some in chunks(sorted({operation.path for operation in operations if isinstance(operation, Delete)})):
        statement = select(NODES.c.parent, func.count()).where(NODES.c.parent.in_(some)).group_by(NODES.c.parent)
        counts.update((parent, count) for parent, count in connection.execute(statement))
    return Draft(stubs(connection, paths).get, lambda path: counts.get(path, 0))


def stubs(connection: Connection, paths: Iterable[str]) -> dict[str, Stub]:
    """Return what a draft has to know of the nodes that exist of these paths."""
    return {
        path: Stub(version, owner is not None)
        for some in chunks(sorted(paths))
        for path, version, owner in connection.execute(
            select(NODES.c.path, NODES.c.version, NODES.c.owner).where(NODES.c.path.in_(some))
        )
    }


def write_draft(connection: Connection, tried: Draft, session_id: str, sequence: int, wall_us: int) -> None:
    """Write down what a draft did, under its sequence."""
    for some in chunks(sorted(tried.removed)):
        connection.execute(delete(NODES).where(NODES.c.path.in_(some)))
    new = [
        {
            "path": path,
            "parent": parent_path(path),
            "value": stub.value or b"",
            "version": stub.version,
            "created_id": sequence,
            "created_us": wall_us,
            "owner": session_id if stub.is_ephemeral else None,
        }
        for path, stub in tried.touched.items()
        if stub is not None and stub.is_new
    ]
    if new:
        connection.execute(insert(NODES), new)
    put = [
        {"at": path, "new_value": stub.value, "new_version": stub.version}
        for path, stub in tried.touched.items()
        if stub is not None and not stub.is_new
    ]
    if put:
        connection.execute(_PUT, put)
    write_changes(connection, tried.touched, sequence)


def write_changes(connection: Connection, paths: Iterable[str], sequence: int) -> None:
    """Note for all watchers what was touched."""
    connection.execute(insert(CHANGES), [{"sequence": sequence, "path": path} for path in paths])


def _node(row: Row[Any]) -> Node:
    created_at = _EPOCH + timedelta(microseconds=row.created_us)
    return Node(row.path, row.value, row.version, row.created_id, row.owner, created_at)
