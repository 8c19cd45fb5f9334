"""The texts of codes: what is stored and sent is a code, what people read is in their language."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from console.text import lazy_gettext as _l

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROBLEMS = {
    "malformed": _l("The request cannot be read"),
    "not-signed-in": _l("Not signed in"),
    "forbidden": _l("Not allowed"),
    "out-of-scope": _l("Outside the token's scope"),
    "password-needed": _l("Password needed again"),
    "not-found": _l("Not found"),
    "method-not-allowed": _l("Not possible here"),
    "conflict": _l("It does not fit what is there now"),
    "stale-write": _l("Somebody else was first"),
    "user-exists": _l("There is a user of that name"),
    "not-first": _l("There are users already"),
    "last-admin": _l("The only admin stays"),
    "too-large": _l("Too large"),
    "wrong-media-type": _l("Of the wrong type"),
    "invalid": _l("Something in it is refused"),
    "if-match-required": _l("If-Match is missing"),
    "too-many-requests": _l("Too many requests"),
    "registry-away": _l("The registry does not answer"),
    "registry-refuses": _l("The registry refuses the console"),
    "registry-conflict": _l("The registry refused it"),
    "unreadable-record": _l("The record cannot be read"),
    "history-away": _l("The history database does not answer"),
    "error": _l("Something went wrong"),
}

_PROBLEM_HINTS = {
    "malformed": _l("Something in the request is not as it must be; go back and try again."),
    "forbidden": _l("This is not for you, or another site sent you here."),
    "not-found": _l("There is nothing at this address; perhaps it was deleted."),
    "method-not-allowed": _l("This address does not take that kind of request."),
    "too-large": _l("It has more than the console takes at once."),
    "wrong-media-type": _l("Send JSON, with the header Content-Type: application/json."),
    "invalid": _l("See the fields at fault."),
    "stale-write": _l("It was changed since it was read; look again and repeat the change."),
    "if-match-required": _l("Send the ETag of what the change was decided on as If-Match."),
    "too-many-requests": _l("Wait a minute, then try again."),
}

ROLES = {"viewer": _l("Viewer"), "operator": _l("Operator"), "admin": _l("Admin")}
ROLE_HINTS = {
    "viewer": _l("Sees jobs, executors and runs; changes nothing."),
    "operator": _l("Also runs, pauses, stops and edits jobs, and drains executors."),
    "admin": _l("Also deletes jobs, and manages users, tokens and the audit log."),
}
RESULTS = {"done": _l("Done"), "refused": _l("Refused"), "unknown": _l("Unknown"), "pending": _l("Pending")}
TOKEN_STATES = {"active": _l("Active"), "expired": _l("Expired"), "revoked": _l("Revoked")}
STRATEGIES = {
    "sticky": _l("Even, fewest moves"),
    "average": _l("Average (ElasticJob)"),
    "odevity": _l("Odd and even (ElasticJob)"),
    "round-robin": _l("Rotation (ElasticJob)"),
}
THEME_LABELS = {"auto": _l("As the system"), "light": _l("Light"), "dark": _l("Dark")}

ACTIONS = {
    "access.refused": _l("Was refused a page"),
    "setup.done": _l("Set the console up"),
    "setup.failed": _l("Gave a wrong setup code"),
    "session.begin": _l("Signed in"),
    "session.failed": _l("Failed to sign in"),
    "session.end": _l("Signed out"),
    "session.revoke": _l("Ended a sign-in"),
    "session.revoke_all": _l("Signed out everywhere"),
    "user.create": _l("Created a user"),
    "user.update": _l("Changed a user"),
    "user.password": _l("Changed a password"),
    "user.delete": _l("Deleted a user"),
    "job.trigger": _l("Ran a job"),
    "job.pause": _l("Paused a job"),
    "job.resume": _l("Resumed a job"),
    "job.stop": _l("Stopped a job's runs"),
    "executor.drain": _l("Drained an executor"),
    "executor.undrain": _l("Gave an executor items again"),
    "token.create": _l("Created a token"),
    "token.revoke": _l("Revoked a token"),
    "execution.rerun": _l("Ran items of a run again"),
    "execution.stop": _l("Stopped a run"),
    "executor.failover": _l("Failed an executor over"),
    "executor.forget": _l("Forgot an executor"),
    "job.create": _l("Created a job"),
    "job.update": _l("Changed a job"),
    "job.restore": _l("Restored a job's revision"),
    "job.failover": _l("Switched a job's failover"),
    "job.enable": _l("Enabled items"),
    "job.disable": _l("Disabled items"),
    "job.reset": _l("Cleared checkpoints"),
    "job.delete": _l("Deleted a job"),
    "job.bulk": _l("Acted on several jobs"),
    "job.import": _l("Imported jobs"),
}
"""Of the audit. The part before the dot is the area; add those of a new page here."""

PASSWORD_FAULTS = {
    "short": _l("At least 12 characters, please."),
    "long": _l("At most 128 characters, please."),
    "name": _l("It is mostly the user's name; take something else."),
    "guessable": _l("Easily guessed; take four or five unusual words."),
}


def problem_title(code: str) -> str:
    """Return what a problem is called."""
    return str(_PROBLEMS.get(code, ""))


def problem_hint(code: str) -> str:
    """Return what is usually meant by a problem, empty where there is nothing to say."""
    return str(_PROBLEM_HINTS.get(code, ""))


def action_text(code: str) -> str:
    """Return what an action is called; its code if it has no text."""
    return str(ACTIONS.get(code, code))


class Look(NamedTuple):
    """How a state is shown."""

    kind: str
    """Which of the colours of badges."""
    icon: str
    """Its glyph."""
    text: Any
    """Its word."""


_STATES = {
    # Jobs
    "enabled": Look("ok", "circle-check", _l("Enabled")),
    "paused": Look("quiet", "player-pause", _l("Paused")),
    "held": Look("bad", "hand-stop", _l("Held")),
    "unowned": Look("bad", "circle-dashed", _l("Unowned")),
    # Executors
    "live": Look("ok", "circle-check", _l("Online")),
    "drained": Look("warn", "arrow-down", _l("Drained")),
    "unfit": Look("bad", "alert-triangle", _l("Unfit")),
    "unreadable": Look("bad", "alert-circle", _l("Unreadable")),
    "gone": Look("quiet", "server-off", _l("Gone")),
    # Items and runs
    "new": Look("quiet", "minus", _l("Not run yet")),
    "waiting": Look("quiet", "clock", _l("Waiting")),
    "running": Look("info", "player-play", _l("Running")),
    "failover": Look("warn", "arrows-exchange", _l("Failover")),
    "done": Look("ok", "check", _l("Done")),
    "ok": Look("ok", "check", _l("Succeeded")),
    "failed": Look("bad", "x", _l("Failed")),
    "no_result": Look("bad", "x", _l("No result")),
    "timeout": Look("bad", "clock", _l("Timed out")),
    "stopped": Look("quiet", "player-stop", _l("Stopped")),
    "lease_lost": Look("warn", "plug-connected-x", _l("Lease lost")),
    "crashed": Look("bad", "bolt", _l("Crashed")),
    "oom": Look("bad", "database", _l("Out of memory")),
    "killed": Look("bad", "ban", _l("Killed")),
    "warden_lost": Look("warn", "shield", _l("Warden lost")),
    "start_failed": Look("bad", "x", _l("Could not start")),
    "interrupted": Look("warn", "player-stop", _l("Interrupted")),
    "lost": Look("bad", "circle-dashed", _l("Lost")),
    "missed": Look("warn", "player-skip-forward", _l("Missed")),
    "unread": Look("quiet", "clock", _l("Not looked at yet")),
    "retry": Look("warn", "repeat", _l("Waits for a retry")),
    "disabled": Look("quiet", "ban", _l("Disabled")),
    # Steps of an import
    "import-create": Look("ok", "plus", _l("Create")),
    "import-change": Look("info", "edit", _l("Change")),
    "import-unchanged": Look("quiet", "check", _l("Unchanged")),
    "import-skip": Look("quiet", "player-skip-forward", _l("Skipped")),
    "import-conflict": Look("bad", "alert-triangle", _l("Conflict")),
    "import-refused": Look("bad", "ban", _l("Refused")),
    # The audit and tokens
    "pending": Look("warn", "clock", _l("Pending")),
    "refused": Look("bad", "ban", _l("Refused")),
    "unknown": Look("warn", "alert-triangle", _l("Unknown")),
    "active": Look("ok", "circle-check", _l("Active")),
    "expired": Look("quiet", "clock", _l("Expired")),
    "revoked": Look("quiet", "ban", _l("Revoked")),
}

_GLYPHS = {
    "running": "▶",
    "failover": "↷",
    "failed": "!",
    "lost": "!",
    "missed": "»",
    "retry": "↻",
    "held": "!",
    "unreadable": "!",
    "done": "✓",
    "stopped": "■",
    "paused": "‖",
    "disabled": "-",
    "unowned": "?",
    "timeout": "!",
    "crashed": "!",
    "ok": "✓",
}

_AREAS = {
    "access": _l("Refused pages"),
    "setup": _l("Set-up"),
    "session": _l("Sign-ins"),
    "job": _l("Jobs"),
    "executor": _l("Executors"),
    "user": _l("Users"),
    "token": _l("Tokens"),
    "execution": _l("Executions"),
}

OUTCOMES = (
    *("running", "ok", "failed", "timeout", "no_result", "crashed", "oom", "killed", "start_failed"),
    *("lost", "lease_lost", "warden_lost", "refused", "stopped", "missed"),
)
"""How a run stands, as people look for it; `_STATES` has their texts."""
FAILED = tuple(code for code in OUTCOMES if code not in {"running", "ok", "refused", "stopped", "missed"})
"""The outcomes that count as failures in statistics."""
RANGES = {"1h": _l("1 hour"), "24h": _l("24 hours"), "7d": _l("7 days"), "30d": _l("30 days")}
RANKINGS = {"failing": _l("Failing"), "slow": _l("Slow"), "busy": _l("Busy")}
CAUSES = {
    "schedule": _l("Schedule"),
    "misfire": _l("Misfire"),
    "failover": _l("Failover"),
    "manual": _l("Manual"),
    "retry": _l("Retry"),
    "dependency": _l("Dependency"),
}
"""Why a run was started."""


def state_look(code: str) -> Look:
    """Return how a state is shown; one that is not known as its code."""
    return _STATES.get(code, Look("quiet", "info-circle", code))


def item_glyph(code: str) -> str:
    """Return the letter in an item's cell; items that wait have none."""
    return _GLYPHS.get(code, "")


def strip_text(items: Sequence[tuple[int, str, str]]) -> str:
    """Return a strip of items for who cannot see it: how many are in which state."""
    counts = Counter(code for _item, code, _words in items)
    return ", ".join(f"{count} {state_look(code).text}" for code, count in counts.items())


def area_text(area: str) -> str:
    """Return what an area of actions is called; its code if it has no text."""
    return str(_AREAS.get(area, area))


def role_choices() -> list[tuple[str, Any, Any]]:
    """Return the roles with their texts and what they may do."""
    return [(code, text, ROLE_HINTS[code]) for code, text in ROLES.items()]


_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def browser_text(agent: str) -> str:
    """Return what a browser says of itself in few words, as far as it is one of the usual."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    return " · ".join(filter(None, (browser, system))) or agent[:40] or "-"
