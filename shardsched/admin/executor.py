"""Taking an executor's items away, and giving it items again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.admin.race import until_won
from shardsched.admin.reader import Reader
from shardsched.core.executor import DrainMark, decode_drain, encode_drain
from shardsched.core.name import check_text, name_fault
from shardsched.errors import ConflictError, CorruptNodeError, ExecutorNotFoundError, SettingsError
from shardsched.registry.base import Committed, Create, Delete, Put
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.core.executor import LoadReport
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Node, Registry


class Executors:
    """The executors of one namespace. **Thread:** any; nothing is kept."""

    def __init__(self, registry: Registry, paths: Paths, clock: Clock) -> None:
        self._registry = registry
        self._paths = paths
        self._clock = clock
        self._reader = Reader(registry, paths)

    def drain(self, name: str, *, now: bool = False, reason: str = "", by: str = "") -> bool:
        """Take an executor's items away, until `undrain` and over restarts under the same name.

        Args:
            name: The executor; it must live, or be drained already.
            now: Whether its running items are stopped too, to be failed over, instead of finishing.
            reason: Why.
            by: Who asks.

        Returns:
            Whether anything changed: draining twice alike is draining once.

        **Atomicity:** one transaction. **Unknown:** asking again is safe.

        Raises:
            ExecutorNotFoundError: No such executor lives or is drained.
            SettingsError: The reason or who asks cannot be stored.
            StaleVersionError: Others drain and undrain it all the time.
            RegistryUnavailableError: No answer.
        """
        check_text(reason, "the reason", SettingsError, 500)
        check_text(by, "who asks", SettingsError, 200)
        name = self._known(name)
        return until_won(lambda: self._try_drain(name, now=now, reason=reason, by=by), self._paths.drained(name))

    def _try_drain(self, name: str, *, now: bool, reason: str, by: str) -> bool | None:
        stored = self._stored(name)
        before = _mark(stored)
        path = self._paths.drained(name)
        if before is not None and (before.now or not now) and (not reason or reason == before.reason):
            return False
        mark = DrainMark(at=self._clock.now(), by=by, reason=reason, now=now or (before is not None and before.now))
        value = encode_drain(mark)
        operation = Create(path, value) if stored is None else Put(path, value, stored.version)
        return True if isinstance(self._registry.transact([operation]), Committed) else None

    def undrain(self, name: str) -> bool:
        """Give a drained executor items again.

        Returns:
            Whether it was drained.

        **Atomicity:** one transaction. **Unknown:** asking again is safe.

        Raises:
            ExecutorNotFoundError: No such executor lives or is drained.
            StaleVersionError: Others drain and undrain it all the time.
            RegistryUnavailableError: No answer.
        """
        name = self._known(name)
        return until_won(lambda: self._try_undrain(name), self._paths.drained(name))

    def forget(self, name: str) -> None:
        """Remove what is left of an executor that is gone: the mark that it is drained.

        One of that name that joins later takes items again. A record that no session holds was made by hand; it goes
        too.

        **Atomicity:** one transaction; an executor that joins at that moment takes items. **Unknown:** asking again is
        safe.

        Raises:
            ExecutorNotFoundError: There is nothing of that name.
            ConflictError: It lives.
            StaleVersionError: Others change it all the time.
            RegistryUnavailableError: No answer.
        """
        name = self._known(name)
        until_won(lambda: self._try_forget(name), self._paths.executor(name))

    def _try_forget(self, name: str) -> bool | None:
        member, mark = self._nodes(name)
        if member is not None and member.owner is not None:
            message = Sentence(
                "executor %(name)r lives, so it cannot be forgotten; stop it first, or undrain it", name=name
            )
            raise ConflictError(message)
        left = [Delete(node.path, node.version) for node in (member, mark) if node is not None]
        return True if isinstance(self._registry.transact(left), Committed) else None

    def loads(self) -> dict[str, LoadReport]:
        """Return what the living executors last reported of themselves, as far as it can be read.

        Raises:
            RegistryUnavailableError: No answer.
        """
        return self._reader.loads(self._reader.names("load")[0])

    def _try_undrain(self, name: str) -> bool | None:
        stored = self._stored(name)
        if stored is None:
            return False
        operation = Delete(self._paths.drained(name), stored.version)
        return True if isinstance(self._registry.transact([operation]), Committed) else None

    def _stored(self, name: str) -> Node | None:
        """Return the drain mark's node, None if there is none.

        Raises:
            ExecutorNotFoundError: No such executor lives or is drained.
        """
        return self._nodes(name)[1]

    def _nodes(self, name: str) -> tuple[Node | None, Node | None]:
        """Return an executor's node and that of its drain mark.

        Raises:
            ExecutorNotFoundError: No such executor lives or is drained.
        """
        paths = (self._paths.executor(name), self._paths.drained(name))
        member, mark = self._registry.read(paths, fresh=True)
        if member is None and mark is None:
            raise ExecutorNotFoundError(executor=name)
        return member, mark

    def _known(self, name: str) -> str:
        """Return the name if a path may be built of it: it is valid, or a node of that name exists."""
        if name_fault(name) and not any(name in names for names in self._reader.names("executors", "drained")):
            raise ExecutorNotFoundError(executor=name)
        return name


def _mark(node: Node | None) -> DrainMark | None:
    try:
        return None if node is None else decode_drain(node.path, node.value)
    except CorruptNodeError:
        return None
