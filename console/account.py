"""What is done to users, sign-ins and tokens: checked, audited, whatever page or program asks.

Nothing here knows of pages; all of it needs a request, for who asks.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from console.actor import ForbiddenError
from console.context import actor, context
from console.locale import LANGUAGES, THEMES, is_zone
from console.password import check_password
from console.trail import audited, note
from shardsched.people.audit import Result
from shardsched.people.error import AccountError, AccountNotFoundError
from shardsched.people.role import Role
from shardsched.people.token import DEFAULT_DAYS
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from shardsched.people.token import Token
    from shardsched.people.user import User


def authenticate(name: str, password: str) -> User | None:
    """Return the user with a name and password, None if there is none; keep that it was tried."""
    parts = context()
    user = parts.people.users.named(name)
    if not parts.passwords.verify(user.password_hash if user else None, password) or user is None:
        note("session.failed", "user", name, result=Result.REFUSED)
        return None
    renewed = parts.passwords.hash(password) if parts.passwords.is_outdated(user.password_hash) else None
    parts.people.users.note_sign_in(user.id, renewed)
    return user


def confirm_password(password: str) -> bool:
    """Whether it is the password of who asks; if so, they may do for a while what needs it."""
    who = actor()
    is_right = context().passwords.verify(who.user.password_hash, password)
    if is_right and who.session is not None:
        context().people.sessions.prove(who.session.id)
    if not is_right:
        note("session.failed", "user", who.name, result=Result.REFUSED)
    return is_right


def set_up(code: str, name: str, password: str) -> User:
    """Make the first user, an admin, if the one-time code is right.

    Raises:
        AccountError: The code, the name or the password is refused.
        AccountConflictError: There are users already.
    """
    parts = context()
    with parts.setup_code.spending():
        if not parts.setup_code.matches(code):
            note("setup.failed", result=Result.REFUSED)
            raise AccountError(Sentence("that is not the code, or its hour is over"), field="code", code="code")
        check_password(password, name)
        with audited("setup.done", "user", name) as deed:
            user = parts.people.users.create(name, Role.ADMIN, parts.passwords.hash(password), only_first=True)
            deed.after = user_document(user)
    return user


def user_document(user: User) -> dict[str, Any]:
    """Return what the audit keeps of a user: no hash, nothing of their taste."""
    return {"name": user.name, "role": user.role.value}


def parse_role(text: str) -> Role:
    """Return the role of a name.

    Raises:
        AccountError: There is none.
    """
    if text not in list(Role):
        raise AccountError(
            Sentence("%(text)a is no role; give one of %(roles)s", text=text[:20], roles=", ".join(Role)), field="role"
        )
    return Role(text)


def parse_days(text: str) -> int:
    """Return a number of days.

    Raises:
        AccountError: It is no number.
    """
    if not text.isascii() or not text.isdigit() or len(text) > 4:
        raise AccountError(Sentence("give a number of days"), field="days")
    return int(text)


def find_user(user_id: int) -> User:
    """Return a user, for admins.

    Raises:
        AccountNotFoundError: There is none.
        ForbiddenError: Who asks is no admin.
    """
    actor().require(Role.ADMIN)
    user = context().people.users.find(user_id)
    if user is None:
        raise AccountNotFoundError(kind="user", name=str(user_id))
    return user


def create_user(name: str, role: Role, password: str) -> User:
    """Make a user.

    Raises:
        AccountError: The name or the password is refused.
        AccountConflictError: The name is taken.
        ForbiddenError: Who asks is no admin, or their token is for some jobs only.
    """
    actor().require_all(Role.ADMIN)
    check_password(password, name)
    with audited("user.create", "user", name) as deed:
        user = context().people.users.create(name, role, context().passwords.hash(password))
        deed.after = user_document(user)
    return user


def change_user(
    user_id: int, *, role: Role | None = None, password: str | None = None, expected_version: int | None = None
) -> User:
    """Change a user's role or password, or both: their sign-ins end, and with a new password their tokens too.

    Raises:
        AccountError: The password is refused.
        AccountConflictError: They were changed meanwhile, or nobody would be admin any more.
        AccountNotFoundError: There is no such user.
        ForbiddenError: Who asks is no admin, or their token is for some jobs only.
    """
    actor().require_all(Role.ADMIN)
    before = find_user(user_id)
    changes: dict[str, Any] = {}
    if role is not None and role is not before.role:
        changes["role"] = role
    if password:
        changes["password_hash"] = context().passwords.hash(check_password(password, before.name))
    if not changes:
        return before
    with (
        audited("user.update", "user", before.name, before=user_document(before)) as deed,
        context().known.ending(user_id=user_id),
    ):
        user = context().people.users.update(user_id, changes, expected_version=expected_version)
        if password:
            context().people.tokens.revoke_all(user_id)
        deed.after = user_document(user) | ({"password": "***"} if password else {})
    return user


def delete_user(user_id: int, *, expected_version: int | None = None) -> User:
    """Remove a user, their sign-ins and their tokens.

    Raises:
        AccountConflictError: They were changed meanwhile, or nobody would be admin any more.
        AccountNotFoundError: There is no such user.
        ForbiddenError: Who asks is no admin, or their token is for some jobs only.
    """
    actor().require_all(Role.ADMIN)
    before = find_user(user_id)
    with (
        audited("user.delete", "user", before.name, before=user_document(before)),
        context().known.ending(user_id=user_id),
    ):
        return context().people.users.delete(user_id, expected_version=expected_version)


def change_own_password(old: str, new: str) -> User:
    """Change the password of who asks; everything else that is signed in ends.

    Raises:
        AccountError: The old one is wrong, or the new one is refused.
    """
    who = actor()
    if not context().passwords.verify(who.user.password_hash, old):
        note("session.failed", "user", who.name, result=Result.REFUSED)
        raise AccountError(Sentence("that is not your present password"), field="old", code="old")
    changes = {"password_hash": context().passwords.hash(check_password(new, who.name))}
    with audited("user.password", "user", who.name), context().known.ending(user_id=who.user.id):
        return context().people.users.update(who.user.id, changes)


def save_preferences(changes: dict[str, Any]) -> User:
    """Keep the language, zone, theme and keys of who asks.

    Raises:
        AccountError: One of them is not known.
    """
    known = {"language": lambda value: value in {"", *LANGUAGES}, "theme": lambda value: value in THEMES}
    known |= {"zone": lambda value: not value or is_zone(value), "has_keys": lambda value: isinstance(value, bool)}
    for field, value in changes.items():
        if field not in known or not known[field](value):
            raise AccountError(Sentence("%(value)a is no %(field)s", value=value, field=field), field=field)
    return context().people.users.update(actor().user.id, changes)


def create_token(name: str, role: Role, days: int = DEFAULT_DAYS, scope: str = "") -> tuple[str, Token]:
    """Make a token of who asks, and return its secret too.

    Raises:
        AccountError: Something of it is refused, or it would outlive the token with which it is made.
        ForbiddenError: Who asks uses a token that may less.
    """
    who = actor()
    who.require(role)
    if who.token is not None:
        if who.token.scope != scope:
            raise ForbiddenError("scope")
        if context().clock.now() + timedelta(days=days) > who.token.expires_at:
            raise AccountError(
                Sentence("a token ends no later than the one it is made with; give fewer days"), field="days"
            )
    with audited("token.create", "token", name) as deed:
        secret, token = context().people.tokens.create(who.user, name, role, days=days, scope=scope)
        deed.after = token_document(token)
    return secret, token


def revoke_token(identity: str) -> Token:
    """End a token: one's own, or any as an admin.

    Raises:
        AccountNotFoundError: There is no such token, or it is not theirs.
    """
    who, token = actor(), context().people.tokens.get(identity)
    if token.user_id != who.user.id and not who.may(Role.ADMIN):
        raise AccountNotFoundError(kind="token", name=identity)
    with (
        audited("token.revoke", "token", token.name, before=token_document(token)),
        context().known.ending(token_id=identity),
    ):
        context().people.tokens.revoke(identity)
    return context().people.tokens.get(identity)


def token_document(token: Token) -> dict[str, Any]:
    """Return what the audit keeps of a token."""
    return {
        "id": token.id,
        "owner": token.owner,
        "role": token.role.value,
        "scope": token.scope,
        "expires_at": token.expires_at.isoformat(timespec="seconds"),
    }


def end_session(session_id: str) -> bool:
    """End one sign-in of who asks, and return whether there was one."""
    with audited("session.revoke", "user", actor().name), context().known.ending(session_id=session_id):
        return context().people.sessions.end(session_id, user_id=actor().user.id)


def end_everything() -> None:
    """End all sign-ins and tokens of who asks."""
    who = actor()
    with audited("session.revoke_all", "user", who.name), context().known.ending(user_id=who.user.id):
        context().people.sessions.end_all(who.user.id)
        context().people.tokens.revoke_all(who.user.id)
