"""The nodes under which a namespace's records stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.core.paths import PERSISTENT_ROOTS
from shardsched.errors import RegistryError
from shardsched.registry.base import Committed, Create
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Registry

_FIRST_EPOCH = b"0"
_MAX_ROUNDS = 100
"""Times to look again after a refusal; each means that somebody else created a node meanwhile."""


def ensure_namespace(registry: Registry, paths: Paths) -> None:
    """Create what is missing of the namespace's persistent nodes; any number of processes may do so at once.

    **Atomicity:** what is missing is created all together. **Unknown:** calling again is safe.

    Raises:
        RegistryUnavailableError: No answer.
        RegistryAccessError: Not allowed.
        RegistryError: The nodes are created and deleted by others all the time.
    """
    for _ in range(_MAX_ROUNDS):
        creates = _creates(registry, paths)
        if not creates:
            return
        if isinstance(registry.transact(creates), Committed):
            return
    message = Sentence(
        "the nodes of namespace %(namespace)r vanish as they are created; stop whatever deletes them",
        namespace=paths.namespace,
    )
    raise RegistryError(message)


def _creates(registry: Registry, paths: Paths) -> list[Create]:
    """Return what creates the nodes that are not there, parents before children."""
    parts = paths.namespace.split("/")
    wanted = [Create("/" + "/".join(parts[: depth + 1])) for depth in range(len(parts))]
    wanted += [Create(paths.under(kind)) for kind in PERSISTENT_ROOTS]
    wanted.append(Create(paths.epoch, _FIRST_EPOCH))
    nodes = registry.read([create.path for create in wanted], fresh=True)
    return [create for create, node in zip(wanted, nodes, strict=True) if node is None]
