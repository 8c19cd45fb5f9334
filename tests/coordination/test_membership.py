"""Taking a place in the fleet, keeping it, and giving it up."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.coordination.process import process_start
from shardsched.core.executor import decode_executor
from shardsched.errors import NameTakenError, RegistryUnavailableError
from shardsched.registry.base import Create
from tests.coordination.stage import Stage, lose_reply

if TYPE_CHECKING:
    from pathlib import Path

    from shardsched.core.executor import ExecutorRecord


def stored(stage: Stage, name: str = "e1") -> ExecutorRecord | None:
    """Return an executor's stored record."""
    node = stage.people.get(stage.paths.executor(name))
    return None if node is None else decode_executor(node.path, name, node.value)


def dead_process() -> tuple[int, str]:
    """Return number and start of a process of this machine that is gone."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        started = process_start(process.pid)
        process.communicate(b"\n")
    assert started is not None
    return process.pid, started


def test_join_creates_fence_and_record(stage: Stage) -> None:
    """Joining takes fence and name at once, both of our session."""
    client = stage.client()
    record = stored(stage)
    assert record is not None
    assert record.incarnation == client.lease.incarnation
    fence = stage.people.get(stage.paths.session(record.incarnation))
    assert fence is not None
    assert fence.owner == client.registry.session_id


def test_join_under_a_name_that_lives_is_refused(stage: Stage) -> None:
    """A living executor keeps its name; the error names the holder, and nothing is left of the attempt."""
    holder = stage.client(host="other")
    late = stage.client(is_joined=False)
    with pytest.raises(NameTakenError, match="other"):
        late.membership.join(patience_s=0.0)
    assert late.lease.standing == "absent"
    assert stage.people.children(stage.paths.under("sessions")) == (holder.lease.incarnation,)


def test_join_after_the_holder_expired_succeeds(stage: Stage) -> None:
    """A name is free once its holder's session is over."""
    stage.client(host="other")
    late = stage.client(is_joined=False)
    stage.expire(late)
    late.membership.join(patience_s=0.0)
    assert late.lease.standing == "active"


def test_join_takes_over_from_a_dead_process_of_this_host(stage: Stage) -> None:
    """The name of a process of this machine that is gone is taken at once, with its session still standing."""
    pid, started = dead_process()
    dead = stage.client(pid=pid, process_start=started)
    late = stage.client(is_joined=False, pid=os.getpid(), process_start=process_start(os.getpid()) or "")
    late.membership.join(patience_s=0.0)
    record = stored(stage)
    assert record is not None
    assert record.pid == os.getpid()
    assert stage.people.get(stage.paths.session(dead.lease.incarnation)) is not None


@pytest.mark.parametrize(("host", "is_alive"), [("other", False), ("h", True)])
def test_join_does_not_take_over_from_others(stage: Stage, host: str, *, is_alive: bool) -> None:
    """The same number on another machine says nothing, and a living process of this one keeps its name."""
    alive = (os.getpid(), process_start(os.getpid()) or "")
    pid, started = alive if is_alive else dead_process()
    stage.client(host=host, pid=pid, process_start=started)
    late = stage.client(is_joined=False, pid=1, process_start="")
    with pytest.raises(NameTakenError):
        late.membership.join(patience_s=0.0)


def test_join_again_takes_over_from_our_own_earlier_session(stage: Stage) -> None:
    """After a loss that left our record standing, joining again replaces it at once."""
    client = stage.client()
    first = client.lease.incarnation
    client.lease.lose()
    client.membership.join(patience_s=0.0)
    record = stored(stage)
    assert record is not None
    assert record.incarnation == client.lease.incarnation != first


def test_join_whose_answer_was_lost_can_be_repeated(stage: Stage) -> None:
    """An attempt that was done without our knowing does not stand in the way of the next."""
    client = stage.client(is_joined=False)
    lose_reply(client.registry)
    with pytest.raises(RegistryUnavailableError):
        client.membership.join(patience_s=0.0)
    client.membership.join(patience_s=0.0)
    record = stored(stage)
    assert record is not None
    assert record.incarnation == client.lease.incarnation


def test_join_under_an_unreadable_record_is_refused(stage: Stage) -> None:
    """A record that cannot be read belongs to somebody; it is not taken over."""
    stage.write([Create(stage.paths.executor("e1"), b"rubbish")])
    late = stage.client(is_joined=False)
    with pytest.raises(NameTakenError, match="cannot be read"):
        late.membership.join(patience_s=0.0)


def test_ticket_ends_the_session_of_a_dead_predecessor(stage: Stage, tmp_path: Path) -> None:
    """A start under the same name ends at once what its dead predecessor's session still holds, markers too."""
    pid, started = dead_process()
    dead = stage.client(home=tmp_path, pid=pid, process_start=started)
    stage.write([Create(stage.paths.markers("j"))])
    dead.registry.transact([Create(stage.paths.marker("j", 0), ephemeral=True)])
    stage.client(home=tmp_path, pid=os.getpid(), process_start=process_start(os.getpid()) or "")
    assert not stage.has_marker()
    assert (tmp_path / "session").stat().st_mode & 0o077 == 0


def test_ticket_of_a_living_process_is_left_alone(stage: Stage, tmp_path: Path) -> None:
    """A predecessor that lives keeps its session, whatever its ticket's folder says."""
    alive: dict[str, Any] = {"pid": os.getpid(), "process_start": process_start(os.getpid()) or ""}
    first = stage.client(home=tmp_path, **alive)
    late = stage.client(is_joined=False, home=tmp_path, pid=1, process_start="x:1")
    with pytest.raises(NameTakenError):
        late.membership.join(patience_s=0.0)
    first.lease.beat()
    assert first.lease.standing == "active"


@pytest.mark.parametrize("text", ["", "rubbish", "x y z", "12", "99999999 a:1"])
def test_ticket_that_is_rubbish_does_no_harm(stage: Stage, tmp_path: Path, text: str) -> None:
    """A ticket file that was damaged keeps nobody from joining."""
    (tmp_path / "session").write_text(text)
    assert stage.client(home=tmp_path).lease.standing == "active"


def test_update_is_seen_by_the_fleet_and_kept_over_a_loss(stage: Stage) -> None:
    """That an executor takes no items stands in its record, also in that of its next session."""
    client = stage.client()
    client.membership.update(unfit="its clock is off")
    record = stored(stage)
    assert record is not None
    assert record.unfit == "its clock is off"
    client.lease.lose()
    client.membership.join(patience_s=0.0)
    record = stored(stage)
    assert record is not None
    assert record.unfit == "its clock is off"


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_update_without_an_answer_is_repeated(stage: Stage, moment: str) -> None:
    """What the fleet may not have been told is told again, also when it was taken back meanwhile."""
    client = stage.client()
    lose_reply(client.registry, moment=moment)
    with pytest.raises(RegistryUnavailableError):
        client.membership.update(unfit="its clock is off")
    client.membership.update(unfit=None)
    record = stored(stage)
    assert record is not None
    assert record.unfit is None
    lose_reply(client.registry, moment=moment)
    with pytest.raises(RegistryUnavailableError):
        client.membership.update(unfit="its clock is off")
    client.membership.refresh()
    record = stored(stage)
    assert record is not None
    assert record.unfit == "its clock is off"


def test_leave_gives_all_up_at_once(stage: Stage, tmp_path: Path) -> None:
    """A clean stop takes record, fence and ticket away, without waiting for a time-out."""
    client = stage.client(home=tmp_path)
    client.membership.leave()
    assert stored(stage) is None
    assert stage.people.children(stage.paths.under("sessions")) == ()
    assert not (tmp_path / "session").exists()
    assert client.lease.standing == "absent"


@pytest.mark.parametrize("is_lost", [True, False])
def test_leave_without_an_answer_is_quiet(stage: Stage, *, is_lost: bool) -> None:
    """Leaving needs no answer, neither from a registry that is away nor in a session that is over."""
    client = stage.client()
    if is_lost:
        stage.expire()
    else:
        client.registry.disconnect()
    client.membership.leave()
    assert client.lease.standing == "absent"
