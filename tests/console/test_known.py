"""Who may look while the history database is away: those whom it let in a short while ago, and nobody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.actor import Actor
from console.known import KEPT, MOST, Known, KnownPeople, recalled
from shardsched.people.role import Role
from shardsched.people.token import Token
from shardsched.people.user import User
from shardsched.people.web_session import IDLE, LIFE, WebSession
from shardsched.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = FakeClock().now()
ANN = User(
    id=1,
    name="ann",
    role=Role.ADMIN,
    password_hash="",
    epoch=1,
    version=1,
    language="",
    zone="",
    theme="auto",
    has_keys=True,
    created_at=NOW,
    signed_in_at=NOW,
)
SESSION = WebSession(id="s1", user_id=1, created_at=NOW, seen_at=NOW, proved_at=NOW, address="", agent="")
TOKEN = Token(
    id="t1",
    user_id=1,
    owner="ann",
    name="ci",
    role=Role.ADMIN,
    scope="",
    created_at=NOW,
    expires_at=NOW + timedelta(days=1),
    used_at=None,
    revoked_at=None,
)
BROWSER, PROGRAM = Actor(user=ANN, session=SESSION), Actor(user=ANN, token=TOKEN)


@given(st.integers(0, 10**6), st.integers(-1000, 2000))
def test_nobody_is_recalled_beyond_the_limit(boot: int, later: int) -> None:
    """Nor before they were let in; and who is recalled may only look, until that limit."""
    found = recalled(Known(user=ANN, session=SESSION, boot=boot), NOW, boot + later)
    assert (found is not None) == (0 <= later <= KEPT.total_seconds())
    if found is not None:
        assert (found.role, found.only_looks) == (Role.VIEWER, True)
        assert found.looks_until == NOW + KEPT - timedelta(seconds=later)


@pytest.mark.parametrize(
    "known",
    [
        Known(user=ANN, session=replace(SESSION, created_at=NOW - LIFE - timedelta(seconds=1)), boot=0.0),
        Known(user=ANN, session=replace(SESSION, seen_at=NOW - IDLE - timedelta(seconds=1)), boot=0.0),
        Known(user=ANN, token=replace(TOKEN, expires_at=NOW), boot=0.0),
        Known(user=ANN, token=replace(TOKEN, revoked_at=NOW), boot=0.0),
    ],
)
def test_what_would_be_over_anyway_is_over(known: Known) -> None:
    """The limits of sign-ins and tokens hold as ever."""
    assert recalled(known, NOW, 1.0) is None


@pytest.mark.parametrize(
    ("actor", "end"),
    [
        (BROWSER, lambda known: known.forget("secret")),
        (BROWSER, lambda known: known.forget_ended(session_id="s1")),
        (BROWSER, lambda known: known.forget_ended(user_id=1)),
        (PROGRAM, lambda known: known.forget_ended(token_id="t1")),
        (PROGRAM, lambda known: known.forget_ended(user_id=1)),
    ],
)
def test_what_was_ended_is_forgotten(actor: Actor, end: Callable[[KnownPeople], None]) -> None:
    """A sign-in, a token, or all of a user."""
    known = KnownPeople(FakeClock())
    known.keep("secret", actor, known.begin())
    assert known.recall("secret") is not None
    end(known)
    assert known.recall("secret") is None


@pytest.mark.parametrize("is_broken", [False, True])
def test_who_was_let_in_while_it_was_being_ended_is_not_kept(*, is_broken: bool) -> None:
    """Whatever comes first, the answer of the database or the ending, and also if nobody knows whether it ended."""
    known = KnownPeople(FakeClock())
    early = known.begin()
    with pytest.raises(ZeroDivisionError) if is_broken else known.ending(), known.ending(session_id="s1"):
        known.keep("early", BROWSER, early)
        known.keep("within", BROWSER, known.begin())
        if is_broken:
            raise ZeroDivisionError
    known.keep("late", BROWSER, early)
    assert [known.recall(secret) for secret in ("early", "within", "late", "unknown")] == [None] * 4


def test_others_stay_and_the_oldest_go() -> None:
    """Ending one ends no other, and memory has a bound."""
    known = KnownPeople(FakeClock())
    other = Actor(user=replace(ANN, id=2), session=replace(SESSION, id="s2", user_id=2))
    known.keep("other", other, known.begin())
    known.forget_ended(session_id="s1")
    known.forget_ended(user_id=1, token_id="t1")
    assert known.recall("other") is not None
    for number in range(MOST):
        known.keep(str(number), BROWSER, known.begin())
    assert known.recall("other") is None
    assert known.recall("0") is not None
