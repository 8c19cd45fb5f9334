"""Users: unique names, versions, and that somebody is always admin."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from shardsched.people import People
from shardsched.people.audit import AuditEntry, AuditFilter
from shardsched.people.error import AccountConflictError, AccountError, AccountNotFoundError
from shardsched.people.role import Role

if TYPE_CHECKING:
    from shardsched.testing import FakeClock


def test_user_is_kept(people: People, clock: FakeClock) -> None:
    """With all that was given, also after closing."""
    assert people.users.is_empty()
    made = people.users.create("Li.Wei", Role.ADMIN, "hash")
    assert people.users.named("lI.wEI") == people.users.find(made.id) == made
    assert (made.name, made.role, made.epoch, made.version, made.created_at) == (
        "Li.Wei",
        Role.ADMIN,
        1,
        1,
        clock.now(),
    )
    assert "hash" not in repr(made)


@pytest.mark.parametrize("name", ["", "x", "-x", "a b", "a" * 65, "<b>", "a/b", "a\nb", "a\0b", "\ud800ab", "_ab"])
def test_name_is_refused(people: People, name: str) -> None:
    """What would not do in a page, a path or a log."""
    with pytest.raises(AccountError):
        people.users.create(name, Role.VIEWER, "-")


@pytest.mark.parametrize("other", ["ann", "ANN", "Ann", " ann ", "\uff41nn"])
def test_name_that_reads_alike_is_taken(people: People, other: str) -> None:
    """Nobody passes for another by case or width."""
    people.users.create("ann", Role.VIEWER, "-")
    with pytest.raises(AccountConflictError) as caught:
        people.users.create(other, Role.VIEWER, "-")
    assert caught.value.code == "exists"


def test_first_user_is_made_while_there_is_none(people: People) -> None:
    """Who comes later is told to sign in."""
    people.users.create("ann", Role.ADMIN, "-", only_first=True)
    with pytest.raises(AccountConflictError) as caught:
        people.users.create("bob", Role.ADMIN, "-", only_first=True)
    assert caught.value.code == "not_first"


def test_one_is_first_whoever_is_faster(people: People, url: str, clock: FakeClock) -> None:
    """Two consoles on one database that are set up at the same moment have one admin, not two."""
    other = People(url, "fleet", clock)
    people.check()
    other.check()
    gate, refused = threading.Barrier(8), list[str]()

    def set_up(records: People, name: str) -> None:
        gate.wait(10)
        try:
            records.users.create(name, Role.ADMIN, "-", only_first=True)
        except AccountConflictError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=set_up, args=((people, other)[n % 2], f"user-{n}")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    other.close()
    assert refused == ["not_first"] * 7
    assert people.users.page()[1] == 1


def test_stale_change_is_refused(people: People) -> None:
    """A change says on which version it was decided."""
    user = people.users.create("ann", Role.VIEWER, "-")
    people.users.update(user.id, {"zone": "UTC"}, expected_version=user.version)
    with pytest.raises(AccountConflictError) as caught:
        people.users.update(user.id, {"role": Role.ADMIN}, expected_version=user.version)
    assert caught.value.code == "stale"
    with pytest.raises(AccountConflictError):
        people.users.delete(user.id, expected_version=user.version)


def test_change_of_rights_begins_another_epoch(people: People) -> None:
    """What was signed in before is void; taste changes nothing."""
    people.users.create("boss", Role.ADMIN, "-")
    user = people.users.create("ann", Role.VIEWER, "-")
    assert people.users.update(user.id, {"theme": "dark"}).epoch == 1
    assert people.users.update(user.id, {"role": Role.OPERATOR}).epoch == 2
    assert people.users.update(user.id, {"password_hash": "new"}).epoch == 3


def test_one_admin_stays_whoever_is_first(people: People) -> None:
    """Two admins who demote each other at the same moment do not both succeed."""
    admins = [people.users.create(name, Role.ADMIN, "-") for name in ("ann", "bob")]
    gate, refused = threading.Barrier(2), list[str]()

    def demote(user_id: int) -> None:
        gate.wait(10)
        try:
            people.users.update(user_id, {"role": Role.VIEWER})
        except AccountConflictError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=demote, args=(admin.id,)) for admin in admins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert refused == ["last_admin"]
    assert sum(user.role is Role.ADMIN for user in people.users.page()[0]) == 1


def test_deleted_user_leaves_nothing_that_works(people: People) -> None:
    """Sign-ins and tokens go with them, and a new user of the name gets none of it."""
    people.users.create("boss", Role.ADMIN, "-")
    user = people.users.create("ann", Role.VIEWER, "-")
    session = people.sessions.create(user, "127.0.0.1", "a browser")
    secret, _token = people.tokens.create(user, "ci", Role.VIEWER)
    people.users.delete(user.id)
    again = people.users.create("ann", Role.VIEWER, "-")
    assert people.sessions.find(session) is None
    assert people.tokens.find(secret) is None
    assert people.tokens.list(again) == []
    with pytest.raises(AccountNotFoundError):
        people.users.delete(user.id)


def test_records_belong_to_their_fleet(people: People, url: str, clock: FakeClock) -> None:
    """Two fleets in one database share their users, and neither their audit nor their revisions."""
    other = People(url, "other", clock)
    people.users.create("ann", Role.VIEWER, "-")
    people.audit.begin(AuditEntry(actor="ann", action="user.create"))
    people.revisions.add("job", "news", {"cron": "@daily"}, actor="ann")
    assert other.users.named("ann") is not None
    assert other.audit.page(AuditFilter()) == []
    assert other.revisions.page("job", "news") == []
    other.close()
