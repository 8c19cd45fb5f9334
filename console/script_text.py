"""The texts that scripts show, in the language of whoever looks."""

from __future__ import annotations

from console.text import gettext as _


def script_texts() -> dict[str, str | list[str]]:
    """Return them by the name that scripts use."""
    return {
        "live": _("Live"),
        "now": _("now"),
        "paused": _("Paused"),
        "reconnecting": _("Reconnecting…"),
        "dismiss": _("Dismiss"),
        "copied": _("Copied"),
        "changed": _("What was asked about has changed meanwhile; nothing was done."),
        "failed": _("That did not work"),
        "unsaved": _("There are changes that are not saved."),
        "reasons": [
            _("The registry does not answer"),
            _("The history database does not answer"),
            _("The history database takes nothing in"),
        ],
        "no_answer": _("The console does not answer."),
    }
