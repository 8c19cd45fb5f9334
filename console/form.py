"""What forms of all pages have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from console.label import PASSWORD_FAULTS
from console.sentence_text import said
from console.text import gettext as _
from shardsched.people.user import NAME_RULE

if TYPE_CHECKING:
    from shardsched.people.error import AccountError


def faults_of(error: AccountError) -> dict[str, str]:
    """Return what is wrong by the name of the field, in the language of whoever looks."""
    return {error.field: _fault_text(error)}


def _fault_text(error: AccountError) -> str:
    texts = {
        "code": _("That is not the code, or its hour is over; the log has a new one after a restart."),
        "old": _("That is not your present password."),
    }
    if error.code in PASSWORD_FAULTS:
        return str(PASSWORD_FAULTS[error.code])
    if error.field == "name" and NAME_RULE in str(error):
        return _("2 to 64 letters, digits and any of . _ - @ +, beginning with a letter or digit.")
    return texts.get(error.code, said(error))


def local_address(given: str | None) -> str:
    """Return an address of this console, ``/`` if another site's or none is given: nobody is sent elsewhere."""
    if not given or not given.startswith("/") or given.startswith("//") or "\\" in given or not given.isprintable():
        return "/"
    return given


def path_of(address: str) -> str:
    """Return an address without its site; empty if it cannot be read."""
    try:
        return urlsplit(address)._replace(scheme="", netloc="").geturl()
    except ValueError:
        return ""
