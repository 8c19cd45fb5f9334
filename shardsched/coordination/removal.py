"""Removing what is left of a deleted job, safely from several processes and after an interruption.

The job's own node goes last, in one transaction with the nodes above its cursors and markers: as long as it stands, the
deletion can be taken up again. Every transaction checks its version, so that a job made anew is never touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.core.job_record import decode_job
from shardsched.errors import CorruptNodeError
from shardsched.registry.base import Check, Committed, Delete, Refusal, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.core.paths import Paths
    from shardsched.registry.base import Node, Operation, Registry

DELETE_CHUNK = 200
"""Nodes deleted by one transaction, well within what ZooKeeper takes at once."""
_MAX_ROUNDS = 200
"""Times to look again after a refusal; each means that somebody else got on with the same removal."""


def remove_job_nodes(registry: Registry, paths: Paths, job: str) -> bool:
    """Remove all nodes of a job that is being deleted.

    **Atomicity:** cursors and checkpoints in chunks, the rest at once. **Unknown:** calling again is safe.

    Returns:
        True when nothing of the deleted job is left; False while items of it run, and their markers stand.

    Raises:
        NotEmptyError: Somebody made nodes below a cursor or checkpoint.
        RegistryUnavailableError: No answer.
        SessionLostError: The session ended; calling again is safe.
    """
    for _ in range(_MAX_ROUNDS):
        node = registry.get(paths.job(job), fresh=True)
        if node is None or not _is_being_deleted(node, job):
            return True
        if registry.children(paths.markers(job), fresh=True):
            return False
        if _remove(registry, paths, job, node):
            return True
    return False


def _is_being_deleted(node: Node, job: str) -> bool:
    try:
        return decode_job(node.path, job, node.value).deleting
    except CorruptNodeError:
        return False


def _remove(registry: Registry, paths: Paths, job: str, node: Node) -> bool:
    """Try once; return whether all was removed."""
    guard = Check(node.path, node.version)
    # Cursors first: without its cursor no item can save another checkpoint.
    for above in (paths.cursors(job), paths.checkpoints(job)):
        below = [f"{above}/{name}" for name in registry.children(above, fresh=True)]
        if not delete_nodes(registry, below, guard):
            return False
    parents = [
        paths.cursors(job),
        paths.checkpoints(job),
        paths.markers(job),
        paths.assignment(job),
        paths.commands(job),
        paths.fires(job),
    ]
    standing = [found.path for found in registry.read(parents, fresh=True) if found is not None]
    deletes = [Delete(path) for path in standing]
    return isinstance(registry.transact([*deletes, Delete(node.path, node.version)]), Committed)


def delete_nodes(registry: Registry, nodes: Sequence[str], guard: Check | None = None) -> bool:
    """Delete nodes in chunks, each with the guard's check; return whether all chunks were done.

    Raises:
        NotEmptyError: One has children.
    """
    for start in range(0, len(nodes), DELETE_CHUNK):
        operations: list[Operation] = [] if guard is None else [guard]
        operations += [Delete(path) for path in nodes[start : start + DELETE_CHUNK]]
        outcome = registry.transact(operations)
        if isinstance(outcome, Refused):
            if outcome.reason is Refusal.NOT_EMPTY:
                raise outcome.error()
            return False
    return True
