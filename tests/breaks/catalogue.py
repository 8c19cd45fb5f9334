"""What is broken on purpose to see whether the tests notice: each a small exact replacement of text in the product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LEDGER = "shardsched/coordination/ledger.py"
ASSIGNMENT = "shardsched/coordination/assignment.py"
DUE = "shardsched/core/due.py"


class StaleBreakError(Exception):
    """A text that is to be replaced is not, or not once, in the tree: the break must be written anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """One mistake."""

    name: str
    """What it is."""
    path: str
    """The module, from the root of the tree."""
    old: str
    """A text that is there once."""
    new: str
    """What stands there instead."""
    tests: tuple[str, ...] = ()
    """Tests beside the simulation that must fail."""
    is_simulated: bool = True
    """Whether the simulation runs the broken code; it has no real processes."""

    def broken_text(self, root: Path) -> str:
        """Return the broken module.

        Raises:
            StaleBreakError: The text is not there once.
        """
        text = (root / self.path).read_text()
        count = text.count(self.old)
        if count != 1:
            message = f"{self.name}: the text to be replaced is {count} times in {self.path}; write the break anew"
            raise StaleBreakError(message)
        return text.replace(self.old, self.new)


BREAKS = (
    Break(
        name="claims without the check of the fence",
        path=LEDGER,
        old="""            fence,
            Check(self._paths.job(entry.name), entry.version),
""",
        new="""            Check(self._paths.epoch),
            Check(self._paths.job(entry.name), entry.version),
""",
        tests=("tests/coordination/test_ledger.py",),
    ),
    Break(
        name="claims without the check of the configuration",
        path=LEDGER,
        old="""            fence,
            Check(self._paths.job(entry.name), entry.version),
""",
        new="""            fence,
            Check(self._paths.epoch),
""",
        tests=("tests/coordination/test_ledger.py",),
    ),
    Break(
        name="claims without the check of the assignment",
        path=LEDGER,
        old="""            Check(self._paths.assignment(entry.name), entry.assignment_version or 0),
        ]
        claims: list""",
        new="""            Check(self._paths.assignment(entry.name)),
        ]
        claims: list""",
        tests=("tests/coordination/test_ledger.py",),
    ),
    Break(
        name="the cursor written beside the claim, not in it",
        path=LEDGER,
        old="""            operations.append(self._write_cursor(entry.name, run.item, claimed.cursor, view.cursor_version))
""",
        new="""            beside = [self._write_cursor(entry.name, run.item, claimed.cursor, view.cursor_version)]
            version = getattr(self._registry.transact(beside), "versions", (0,))[0]
            operations.append(Check(self._paths.cursor(entry.name, run.item), version))
""",
        tests=("tests/coordination/test_ledger.py",),
    ),
    Break(
        name="markers given back whatever became of the cursor",
        path=LEDGER,
        old="""            operations.insert(1, Check(self._paths.cursor(job, release.item), view.cursor_version))
""",
        new="""            operations.insert(1, Check(self._paths.cursor(job, release.item)))
""",
        tests=("tests/coordination/test_ledger.py",),
    ),
    Break(
        name="a lease without its margin",
        path="shardsched/coordination/session.py",
        old="""    return timeout_s / HEARTBEATS_PER_TIMEOUT + tick_s / 2 + RATE_MARGIN_S
""",
        new="""    return 0.0
""",
        tests=("tests/coordination/test_session.py",),
    ),
    Break(
        name="a session given up before its lease ends",
        path="shardsched/coordination/session.py",
        old="""            is_spent = now >= self._alive_until + self._margin_s
""",
        new="""            is_spent = now >= self._alive_until - self._margin_s
""",
        tests=("tests/coordination/test_session.py",),
    ),
    Break(
        name="failover of finished items",
        path=DUE,
        old="""    if cursor is not None and cursor.state is ItemState.RUNNING:
        return _abandoned""",
        new="""    if cursor is not None and cursor.state in {ItemState.RUNNING, ItemState.DONE}:
        return _abandoned""",
        tests=("tests/core/test_due.py", "tests/core/test_due_abandoned.py"),
    ),
    Break(
        name="failover of failed items",
        path=DUE,
        old="""    if cursor is not None and cursor.state is ItemState.RUNNING:
        return _abandoned""",
        new="""    if cursor is not None and cursor.state in {ItemState.RUNNING, ItemState.FAILED}:
        return _abandoned""",
        tests=("tests/core/test_due.py", "tests/core/test_due_abandoned.py"),
    ),
    Break(
        name="a leader that writes without its epoch",
        path=ASSIGNMENT,
        old="""[Check(self._paths.session(term.incarnation)), self._election.check(term)]
""",
        new="""[Check(self._paths.session(term.incarnation)), Check(self._paths.epoch)]
""",
        tests=("tests/coordination/test_leadership.py",),
    ),
    Break(
        name="assignments decided on a stale mirror",
        path=ASSIGNMENT,
        old="""        if self._is_behind(fleet, term):
            return False
""",
        new="",
        tests=("tests/coordination/test_leadership.py",),
    ),
    Break(
        name="assignments written over others",
        path=ASSIGNMENT,
        old="""                operations.append(Put(path, write.value, entry.assignment_version))
""",
        new="""                operations.append(Put(path, write.value))
""",
        tests=("tests/coordination/test_leadership.py",),
    ),
    Break(
        name="assignments written for an earlier configuration",
        path=ASSIGNMENT,
        old="""            operations.append(Check(self._paths.job(entry.name), entry.version))
""",
        new="""            operations.append(Check(self._paths.job(entry.name)))
""",
        tests=("tests/coordination/test_leadership.py",),
    ),
    Break(
        name="a leader that does not know its own term after a lost answer",
        path="shardsched/coordination/election.py",
        old="""        return self._recover(incarnation, session_id)
""",
        new="""        return None
""",
        tests=("tests/coordination/test_election.py",),
    ),
    Break(
        name="layouts ignored when the count changes",
        path="shardsched/core/assignment.py",
        old="""        for layout in reversed(self.layouts):
            if layout.from_fire is None or layout.from_fire <= fire:
                return layout
        return self.layouts[0]
""",
        new="""        return self.newest
""",
        tests=("tests/core/test_assignment.py",),
    ),
    Break(
        name="a new count from now on, not after what was claimed",
        path="shardsched/core/rebalance.py",
        old="""    latest = claimed[entry.name] or config.armed_at
""",
        new="""    latest = config.armed_at
""",
        tests=("tests/coordination/test_leadership.py",),
    ),
    Break(
        name="a warden that spares grandchildren",
        path="shardsched/execution/sweep.py",
        old="""    leftovers = [pid for pid in own_children() if pid not in known and _belongs(pid, ward.pid, mark)]
""",
        new="""    leftovers = [pid for pid in own_children() if pid == mark.number]
""",
        tests=("tests/execution/test_pool_stop.py", "tests/execution/test_pool_run.py"),
        is_simulated=False,
    ),
    Break(
        name="a warden that does not look at the lease",
        path="shardsched/execution/warden.py",
        old="""        if now >= self._lease.soft or left_s <= 0:
""",
        new="""        if now >= self._lease.soft + 60:
""",
        tests=("tests/execution/test_pool_stop.py", "tests/execution/test_pool_failure.py"),
        is_simulated=False,
    ),
)
"""All of them."""
