"""Sign-ins, tokens, audit, revisions and idempotency keys as they are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from shardsched.errors import HistoryUnavailableError
from shardsched.people import People
from shardsched.people.audit import AuditEntry, AuditFilter, Result
from shardsched.people.error import AccountError
from shardsched.people.role import Role
from shardsched.people.table import METADATA

if TYPE_CHECKING:
    from pathlib import Path

    from shardsched.people.user import User
    from shardsched.testing import FakeClock


@pytest.fixture
def ann(people: People) -> User:
    """An operator."""
    return people.users.create("ann", Role.OPERATOR, "-")


def test_tables_are_those_of_the_migration(people: People, url: str) -> None:
    """What a new database gets by its steps is what the code reads and writes."""
    people.check()
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _is_ours})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def _is_ours(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or (name or "").startswith("console_")


def test_session_is_found_by_its_secret_only(people: People, ann: User, clock: FakeClock) -> None:
    """The database does not hold what the cookie holds, and uses are noted within a minute."""
    secret = people.sessions.create(ann, "10.0.0.1", "x" * 500)
    found = people.sessions.find(secret)
    assert found is not None
    session, user = found
    assert (user, session.address, len(session.agent), session.seen_at) == (ann, "10.0.0.1", 200, clock.now())
    assert session.id != secret
    assert people.sessions.find(session.id) is None
    assert people.sessions.find("\ud800") is None
    clock.advance(90)
    people.sessions.find(secret)
    assert people.sessions.of(ann)[0].seen_at == clock.now()


def test_session_of_another_cannot_be_ended(people: People, ann: User) -> None:
    """One's own only."""
    bob = people.users.create("bob", Role.VIEWER, "-")
    secret = people.sessions.create(ann, "", "")
    session = people.sessions.of(ann)[0]
    assert not people.sessions.end(session.id, user_id=bob.id)
    assert people.sessions.find(secret) is not None
    assert people.sessions.end(session.id, user_id=ann.id)
    assert people.sessions.find(secret) is None


def test_sessions_that_are_over_are_removed(people: People, ann: User, clock: FakeClock) -> None:
    """The table does not grow for ever."""
    for _ in range(3):
        people.sessions.create(ann, "", "")
        clock.advance(13 * 3600)
    assert len(people.sessions.of(ann)) == 0
    people.sessions.create(ann, "", "")
    assert len(people.sessions.of(ann)) == 1


def test_token_ends_in_time_and_when_revoked(people: People, ann: User, clock: FakeClock) -> None:
    """And a wrong secret under a right identity is nobody's."""
    secret, token = people.tokens.create(ann, "ci", Role.VIEWER, days=10, scope="news-*")
    found = people.tokens.find(secret)
    assert found is not None
    assert (found[0].owner, found[0].covers("news-1"), found[0].covers("shop")) == ("ann", True, False)
    assert people.tokens.get(token.id).used_at == clock.now()
    assert people.tokens.find(secret[:-1] + ("A" if secret[-1] != "A" else "B")) is None
    assert people.tokens.find("sck_") is None
    clock.advance(timedelta(days=10).total_seconds())
    assert people.tokens.find(secret) is None
    assert people.tokens.get(token.id).state(clock.now()) == "expired"
    other, made = people.tokens.create(ann, "x", Role.VIEWER)
    assert (people.tokens.revoke(made.id), people.tokens.revoke(made.id)) == (True, False)
    assert people.tokens.find(other) is None


@pytest.mark.parametrize(
    ("name", "role", "days", "scope", "field"),
    [
        ("", Role.VIEWER, 1, "", "name"),
        ("a\nb", Role.VIEWER, 1, "", "name"),
        ("x", Role.ADMIN, 1, "", "role"),
        ("x", Role.VIEWER, 0, "", "days"),
        ("x", Role.VIEWER, 367, "", "days"),
        ("x", Role.VIEWER, 1, "x" * 129, "scope"),
    ],
)
def test_token_is_refused(people: People, ann: User, name: str, role: Role, days: int, scope: str, field: str) -> None:
    """With the field at fault."""
    with pytest.raises(AccountError) as caught:
        people.tokens.create(ann, name, role, days=days, scope=scope)
    assert caught.value.field == field


def test_audit_entry_is_closed_once(people: People) -> None:
    """What is written stays as it is."""
    number = people.audit.begin(
        AuditEntry(actor="ann", action="job.pause", kind="job", object="news", before={"paused": False})
    )
    pending = people.audit.get(number)
    assert pending is not None
    assert (pending.result, pending.after) == (Result.PENDING, None)
    people.audit.close(number, Result.DONE, after={"paused": True})
    people.audit.close(number, Result.REFUSED, message="never")
    entry = people.audit.get(number)
    assert entry is not None
    assert (entry.result, entry.message, entry.before, entry.after) == (
        Result.DONE,
        "",
        {"paused": False},
        {"paused": True},
    )


def test_audit_takes_any_text(people: People) -> None:
    """NUL, half characters and endless names are made storable, not refused."""
    hostile = "a\0b\ud800" + "x" * 5000
    number = people.audit.begin(AuditEntry(actor="x" * 99, action="session.failed", object=hostile, message=hostile))
    entry = people.audit.get(number)
    assert entry is not None
    assert (len(entry.object), len(entry.message), len(entry.actor)) == (128, 2000, 64)
    assert "\0" not in entry.object


def test_audit_is_filtered(people: People, clock: FakeClock) -> None:
    """By each of its fields, alone and together."""
    begin = clock.now()
    for actor, action, result in (
        ("ann", "job.pause", Result.DONE),
        ("ann", "user.create", Result.REFUSED),
        ("bob", "job.stop", Result.DONE),
    ):
        people.audit.begin(
            AuditEntry(actor=actor, action=action, kind=action.partition(".")[0], object="x", result=result)
        )
        clock.advance(60)

    def actions(wanted: AuditFilter) -> list[str]:
        return [entry.action for entry in people.audit.page(wanted)]

    assert actions(AuditFilter()) == ["job.stop", "user.create", "job.pause"]
    assert actions(AuditFilter(actor="ann")) == ["user.create", "job.pause"]
    assert actions(AuditFilter(action="job")) == ["job.stop", "job.pause"]
    assert actions(AuditFilter(action="job.pause")) == ["job.pause"]
    assert actions(AuditFilter(action="%")) == []
    assert actions(AuditFilter(result="refused", kind="user", object="x")) == ["user.create"]
    assert actions(AuditFilter(kinds=frozenset({"user", "session"}))) == ["user.create"]
    assert actions(AuditFilter(since=begin + timedelta(seconds=60), until=begin + timedelta(seconds=120))) == [
        "user.create"
    ]


def test_revisions_count_up_and_say_who_made_a_version(people: People) -> None:
    """Each object by itself; what was deleted has no value."""
    revisions = people.revisions
    assert [revisions.add("job", "news", {"items": n}, actor="ann", tag=f"t{n}") for n in (1, 2, 3)] == [1, 2, 3]
    assert revisions.add("job", "shop", {}, actor="bob") == 1
    assert revisions.add("job", "news", None, actor="bob", tag="t4") == 4
    assert [revision.number for revision in revisions.page("job", "news", limit=2)] == [4, 3]
    assert [revision.number for revision in revisions.page("job", "news", before=3)] == [2, 1]
    second = revisions.get("job", "news", 2)
    assert second is not None
    assert second.value == {"items": 2}
    tagged = revisions.tagged("job", "news", "t4")
    assert tagged is not None
    assert (tagged.actor, tagged.value) == ("bob", None)
    assert revisions.tagged("job", "news", "t9") is None


def test_version_that_was_found_gets_its_author(people: People) -> None:
    """Once is a version kept, whoever is first: the one who made it, or somebody who only looked."""
    revisions = people.revisions
    assert revisions.note("job", "news", {"items": 1}, tag="t1")
    assert not revisions.note("job", "news", {"items": 1}, tag="t1")
    assert revisions.add("job", "news", {"items": 1}, actor="ann", tag="t1") == 1
    assert revisions.add("job", "news", {"items": 2}, actor="bob", tag="t2") == 2
    assert not revisions.note("job", "news", {"items": 2}, tag="t2")
    assert revisions.note("job", "news", {"items": 3}, tag="t3")
    assert [(one.number, one.actor) for one in revisions.page("job", "news")] == [(3, ""), (2, "bob"), (1, "ann")]


def test_idempotency_key_is_freed_after_a_day(people: People, clock: FakeClock) -> None:
    """The answer is given again until then."""
    keys = people.idempotency
    assert keys.begin("k", "d1") is None
    keys.close("k", 201, "{}", "/x")
    again = keys.begin("k", "d2")
    assert again is not None
    assert (again.digest, again.status, again.body, again.location) == ("d1", 201, "{}", "/x")
    clock.advance(timedelta(hours=24, seconds=1).total_seconds())
    assert keys.begin("k", "d2") is None
    keys.forget("k")
    assert keys.begin("k", "d3") is None


def test_database_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """In one sentence, with its place and without a password."""
    people = People("postgresql://me:hunter2@127.0.0.1:1/x", "fleet")
    with pytest.raises(HistoryUnavailableError) as caught:
        people.check()
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in people.place
