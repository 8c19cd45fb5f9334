"""Every error of kazoo has its place in our tree."""

from __future__ import annotations

import pytest
from kazoo import exceptions as kazoo
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import RetryFailedError

from shardsched.errors import (
    NodeExistsError,
    RegistryAccessError,
    RegistryError,
    RegistryUnavailableError,
    SessionLostError,
)
from shardsched.registry.zookeeper_error import PLACES, fail, translate


def every_kind() -> list[type[Exception]]:
    """Return all classes of kazoo's errors."""
    found: list[type[Exception]] = [KazooTimeoutError]
    heaps: list[type[Exception]] = [kazoo.KazooException]
    while heaps:
        kind = heaps.pop()
        found.append(kind)
        heaps.extend(kind.__subclasses__())
    return sorted(set(found), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.__name__)
def test_error_of_each_kazoo_class_has_a_place_of_its_own(kind: type[Exception]) -> None:
    """Each class stands in the table itself: an inherited place would be nobody's decision."""
    assert kind in {theirs for theirs, _ in PLACES}
    assert isinstance(translate(kind(), "a read"), dict(PLACES)[kind])


def test_error_table_walks_all_of_kazoo() -> None:
    """The walk finds the 42 classes of kazoo.exceptions and more, so the test above cannot pass on nothing."""
    named = [kind for kind in every_kind() if kind.__module__ == "kazoo.exceptions"]
    assert len(named) >= 42
    assert RetryFailedError in every_kind()


def test_error_table_has_the_specific_before_the_general() -> None:
    """No entry stands behind one of its bases, where it would never be reached."""
    for index, (kind, _) in enumerate(PLACES):
        assert not any(issubclass(kind, earlier) for earlier, _ in PLACES[:index])


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (kazoo.ConnectionLoss(), RegistryUnavailableError),
        (kazoo.ConnectionClosedError(), RegistryUnavailableError),
        (kazoo.SessionExpiredError(), SessionLostError),
        (kazoo.NoAuthError(), RegistryAccessError),
        (kazoo.NodeExistsError(), NodeExistsError),
        (KazooTimeoutError(), RegistryUnavailableError),
        (ValueError("no kazoo error at all"), RegistryUnavailableError),
    ],
)
def test_error_of_a_kind_becomes_ours_with_the_cause(theirs: Exception, ours: type[RegistryError]) -> None:
    """The message names what was being done, and the cause is kept."""
    with pytest.raises(ours, match="the read of /jobs") as caught:
        fail(theirs, "the read of /jobs")
    assert caught.value.__cause__ is theirs


def test_error_of_ours_passes_unchanged() -> None:
    """What is translated already stays as it is, and is not its own cause."""
    mine = RegistryUnavailableError("gone")
    with pytest.raises(RegistryUnavailableError) as caught:
        fail(mine, "anything")
    assert caught.value is mine
    assert caught.value.__cause__ is None
