"""The words of what needs attention: what it is, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from console.piece import away
from console.sentence_text import said
from console.text import filled, ngettext
from console.text import lazy_gettext as _l
from console.text import lazy_ngettext as _nl

if TYPE_CHECKING:
    from console.need import Need


class Words(NamedTuple):
    """A need in words."""

    what: str
    """What it is."""
    cure: str
    """What to do."""


_WHAT: dict[str, Any] = {
    "no-executor": _l("No executor lives: nothing fires"),
    "no-leader": _l("No executor leads: items are not moved"),
    "moving": _l("%(count)s items of %(jobs)s jobs wait for the leader to assign them"),
    "executor-left": _l("left %(since)s"),
    "executor-unfit": _l("takes no items"),
    "executor-unreadable": _l("its record cannot be read"),
    "executor-handmade": _l("no executor can have that name; it was made by hand"),
    "clock-drift": _l("its clock is off by %(seconds)s s"),
    "drained-long": _l("drained since %(since)s"),
    "slots-short": _nl("%(num)s item waits for a free slot", "%(num)s items wait for a free slot"),
    "held": _l("held: it does not fire"),
    "unowned": _nl("no owner for item %(items)s", "no owner for items %(items)s"),
    "failing": _nl("item %(items)s failed", "items %(items)s failed"),
    "lost": _nl("the run of item %(items)s was lost", "the runs of items %(items)s were lost"),
    "missed": _nl("item %(items)s missed its fire", "items %(items)s missed their fire"),
    "unreadable": _nl("the record of item %(items)s cannot be read", "the records of items %(items)s cannot be read"),
    "no-failover-target": _l("only one executor can run it"),
}
_CURES: dict[str, Any] = {
    "no-executor": _l("Start one with “shardsched run MODULE”."),
    "no-leader": _l("One is elected within the session time-out; if not, look at the logs of the executors."),
    "moving": _l("It does so within seconds when an executor comes or goes; if not, look at the leader's log."),
    "executor-left": _l("If nobody stopped it, look at its log; its items have moved to others."),
    "executor-unreadable": _l("Restart it."),
    "executor-handmade": _l("Forget it on its page."),
    "clock-drift": _l("Set the machine's clock by NTP; beyond the limit it takes no items."),
    "drained-long": _l("Undrain it, or stop it for good."),
    "slots-short": _l("Start one more executor, or give this one more slots."),
    "failing": _l("Look at the log of the run, then run them again."),
    "lost": _l("With failover on, another executor takes over."),
    "missed": _l("Nobody could start them in time, and the misfire policy dropped it."),
    "unreadable": _l("Run “shardsched doctor --repair”."),
    "no-failover-target": _l("Start its module on another executor, so that it can fail over."),
}
"""Those that are missing are cured by what the scheduler says."""
_SAID = frozenset({"executor-unfit", "held", "unowned", "failing", "lost", "drained-long"})
"""Where what the scheduler says is worth more than our advice."""


def need_words(need: Need) -> Words:
    """Return a need in words of the reader's language."""
    values = {
        "since": away(need.at) if need.at else "",
        "count": need.count,
        "seconds": f"{need.number:+.1f}",
        "jobs": round(need.number),
    }
    advice = str(_CURES.get(need.code, ""))
    told = need.detail if need.code in _SAID else ""
    what = _WHAT[need.code]
    if isinstance(what, tuple):
        one, many = what
        text = ngettext(one, many, need.count, items=need.items.replace(",", ", "))
    else:
        text = filled(str(what), values)
    return Words(what=text, cure=said(told) or advice)
