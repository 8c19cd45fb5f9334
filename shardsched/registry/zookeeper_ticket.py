"""A session's id and password as one text, to be kept by an executor for its successor."""

from __future__ import annotations

PASSWORD_BYTES = 16


def write_ticket(session_id: int, password: bytes) -> str:
    """Return the ticket of a session: a secret."""
    return f"{session_id & 0xFFFF_FFFF_FFFF_FFFF:016x}:{password.hex()}"


def read_ticket(ticket: str) -> tuple[int, bytes] | None:
    """Return the session of a ticket, or None if it is unreadable."""
    name, _, secret = ticket.partition(":")
    try:
        session_id, password = bytes.fromhex(name), bytes.fromhex(secret)
    except ValueError:
        return None
    if len(session_id) != 8 or len(password) != PASSWORD_BYTES:
        return None
    return int.from_bytes(session_id, signed=True), password
