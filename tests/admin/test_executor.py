"""Draining executors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.core.executor import decode_drain
from shardsched.errors import ConflictError, ExecutorNotFoundError, SettingsError

if TYPE_CHECKING:
    from shardsched.core.executor import DrainMark
    from tests.admin.stage import Stage


def mark_of(stage: Stage, name: str) -> DrainMark:
    """Return an executor's drain mark."""
    node = stage.registry.get(stage.paths.drained(name), fresh=True)
    assert node is not None
    return decode_drain(node.path, node.value)


def test_drain_live_executor_says_who_when_and_why(stage: Stage) -> None:
    """A drain mark tells people what they need to know."""
    stage.join("e1")
    assert stage.admin.executors.drain("e1", reason="disk", by="ann")
    mark = mark_of(stage, "e1")
    assert (mark.at, mark.by, mark.reason, mark.now) == (stage.clock.now(), "ann", "disk", False)


def test_drain_twice_alike_changes_nothing(stage: Stage) -> None:
    """Draining a drained executor changes nothing, unless it is asked for more."""
    stage.join("e1")
    stage.admin.executors.drain("e1", reason="disk")
    assert not stage.admin.executors.drain("e1")
    assert stage.admin.executors.drain("e1", now=True)
    assert mark_of(stage, "e1").now
    assert not stage.admin.executors.drain("e1", now=True)
    assert not stage.admin.executors.drain("e1")
    assert mark_of(stage, "e1").now


def test_drain_survives_restarts_of_the_executor(stage: Stage) -> None:
    """The mark stays when the executor ends, and counts for the next one of the name."""
    stage.join("e1")
    stage.admin.executors.drain("e1")
    for _ in range(3):
        stage.leave("e1")
        stage.join("e1")
    assert stage.admin.status().executors[0].state == "drained"


def test_drain_unknown_executor_is_not_found(stage: Stage) -> None:
    """A name that neither lives nor is drained is a slip."""
    for name in ("e9", "", "..", "a/b", "\ud800"):
        with pytest.raises(ExecutorNotFoundError):
            stage.admin.executors.drain(name)
        with pytest.raises(ExecutorNotFoundError):
            stage.admin.executors.undrain(name)


def test_drain_drained_one_that_is_gone_can_be_changed_and_lifted(stage: Stage) -> None:
    """A mark that outlived its executor can be changed and taken off."""
    stage.join("e1")
    stage.admin.executors.drain("e1")
    stage.leave("e1")
    assert stage.admin.executors.drain("e1", now=True)
    assert stage.admin.executors.undrain("e1")
    with pytest.raises(ExecutorNotFoundError):
        stage.admin.executors.undrain("e1")


def test_undrain_not_drained_says_so(stage: Stage) -> None:
    """Undraining a live executor that is not drained changes nothing and says so."""
    stage.join("e1")
    assert not stage.admin.executors.undrain("e1")


def test_drain_unreadable_mark_is_replaced(stage: Stage) -> None:
    """A mark that cannot be read does not stand in the way."""
    stage.join("e1")
    stage.put(stage.paths.drained("e1"), b"broken")
    assert stage.admin.executors.drain("e1", by="ann")
    assert mark_of(stage, "e1").by == "ann"


def test_drain_reason_that_cannot_be_stored_is_refused(stage: Stage) -> None:
    """Half a character is refused before anything is written."""
    stage.join("e1")
    with pytest.raises(SettingsError):
        stage.admin.executors.drain("e1", reason="\ud800")


def test_forget_removes_what_nobody_holds(stage: Stage) -> None:
    """A record that was made by hand, and a mark; but nothing of an executor that lives."""
    stage.join("e1")
    with pytest.raises(ConflictError, match="lives"):
        stage.admin.executors.forget("e1")
    stage.put(stage.paths.executor("by hand"), b"{")
    stage.put(stage.paths.drained("by hand"), b"{")
    stage.admin.executors.forget("by hand")
    assert not [path for path in stage.tree() if "by hand" in path]
    with pytest.raises(ExecutorNotFoundError):
        stage.admin.executors.forget("by hand")
