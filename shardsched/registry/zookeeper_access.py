"""Makes the chroot, and finds out at once whether our credentials will do."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NodeExistsError
from kazoo.protocol.serialization import Create, Delete, Exists, GetACL, GetData, SetData

from shardsched.core.events import Event
from shardsched.errors import RegistryAccessError, RegistryUnavailableError
from shardsched.registry.zookeeper_error import BYSTANDERS, fail
from shardsched.registry.zookeeper_path import child
from shardsched.registry.zookeeper_read import Gathering
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from shardsched.registry.zookeeper_client import Client
    from shardsched.registry.zookeeper_path import Chroot

logger = logging.getLogger(__name__)

ANSWER_S = 10.0
"""How long the servers may take for a request."""
CLOCK_NAME = ".clock"
"""The node that `clock_write` makes and deletes; nobody ever sees it."""
HIDDEN_DIGEST = ":x"
"""What servers show instead of a digest to whoever has no admin permission."""
WRITE_PERMISSIONS = 2 | 4 | 8 | 16
"""Write, create, delete, admin."""


def prepare(client: Client, chroot: Chroot, *, needs_write: bool = True) -> None:
    """Make the chroot if it is missing, and try what we will do in it.

    Wrong credentials look like a good connection to kazoo until something is refused.

    Args:
        client: By which.
        chroot: What is opened.
        needs_write: Whether it is an error that we may only read.

    Raises:
        RegistryAccessError: We may not read or write there.
        RegistryUnavailableError: No answer.
    """
    root = chroot.root or "/"
    what = Sentence("the opening of %(root)s", root=root)
    (stat,) = Gathering(client, [Exists(root, None)]).results(ANSWER_S, what)
    if stat is None:
        for level in chroot.levels:
            _make(client, level)
    Gathering(client, [GetData(root, None)]).results(ANSWER_S, what)
    try:
        clock_write(client, chroot)
    except RegistryAccessError:
        if needs_write:
            raise
        logger.warning("we may only read below %s", root, extra={"event": Event.REGISTRY_EXPOSED})
        return
    if client.has_credentials and chroot.root:
        _share(client, chroot)


def _make(client: Client, path: str) -> None:
    (stat,) = Gathering(client, [Exists(path, None)]).results(ANSWER_S, Sentence("the look for %(path)s", path=path))
    if stat is not None:
        return
    (result,) = commit(client, [Create(path, b"", client.acl, 0)], Sentence("the creation of %(path)s", path=path))
    if isinstance(result, Exception) and not isinstance(result, NodeExistsError):
        fail(result, Sentence("the creation of %(path)s", path=path))


def clock_write(client: Client, chroot: Chroot) -> int:
    """Return the servers' wall clock in milliseconds, by a write that leaves nothing behind.

    A node is made, written and deleted in one transaction: nobody can see it, and it cannot be left over. Watchers of
    the names of the chroot's children are woken, and find nothing new.

    Raises:
        RegistryAccessError: We may not write there.
        RegistryUnavailableError: No answer.
    """
    path = child(chroot.root, CLOCK_NAME)
    what = Sentence("a write below %(root)s", root=chroot.root or "/")
    results = commit(client, [Create(path, b"", client.acl, 1), SetData(path, b"", -1), Delete(path, -1)], what)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, BYSTANDERS):
            fail(result, what)
    if len(results) != 3 or not hasattr(results[1], "mtime"):
        raise RegistryUnavailableError(Sentence("ZooKeeper's answer to a transaction is incomplete; try again"))
    return int(results[1].mtime)


def commit(client: Client, operations: list[Any], what: str) -> list[Any]:
    """Send a transaction and wait for kazoo's results.

    Raises:
        RegistryError: It has no results.
    """
    answered = threading.Event()
    answer: list[Any] = [None, None]

    def take(results: Any, error: Exception | None) -> None:
        answer[:] = results, error
        answered.set()

    client.commit(operations, client.session[0], take)
    if not answered.wait(ANSWER_S):
        raise RegistryUnavailableError(
            Sentence(
                "ZooKeeper did not answer %(what)s within %(seconds)g s; check the servers",
                what=what,
                seconds=ANSWER_S,
            )
        )
    results, error = answer
    if error is not None:
        fail(error, what)
    return list(results)


def _share(client: Client, chroot: Chroot) -> None:
    """Have what we make be for whom the chroot is: ZooKeeper hands no ACL down, and others of the fleet are to read it.

    A chroot that anyone may write was made before credentials were set, which is logged; what we make there is ours
    alone.
    """
    what = Sentence("the look at the ACL of %(root)s", root=chroot.root)
    (answer,) = Gathering(client, [GetACL(chroot.root)]).results(ANSWER_S, what)
    acl = answer[0] if answer else []
    if any(one.id.scheme == "world" and one.perms & WRITE_PERMISSIONS for one in acl):
        logger.warning(
            "anyone may write below %s: it was made before credentials were set; set its ACL, or take another chroot",
            chroot.root,
            extra={"event": Event.REGISTRY_EXPOSED},
        )
    elif any(one.id.scheme == "digest" and one.id.id.endswith(HIDDEN_DIGEST) for one in acl):
        logger.warning(
            "what we make below %s is for our user alone: give it the admin permission there, without which its ACL "
            "cannot be read",
            chroot.root,
            extra={"event": Event.REGISTRY_EXPOSED},
        )
    elif acl:
        client.acl = acl
