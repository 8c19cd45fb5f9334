"""What can be done to a job in its row of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from console.address import url_for
from console.kept import kept
from console.piece import row_act, row_link, together
from console.text import gettext as _

if TYPE_CHECKING:
    from markupsafe import Markup

    from console.job_list import Row
    from console.job_view import Whys


class _Shown(NamedTuple):
    """What the buttons show."""

    name: str
    is_paused: bool
    can_pause: bool
    why_not_run: str
    why_not_turn: str
    why_not_stop: str


def row_menu(row: Row, whys: Whys) -> Markup:
    """Return the buttons of a job's row; they send the form ``row``, which stands outside of what is polled.

    Args:
        row: The job.
        whys: Why things cannot be done to it.
    """
    config = row.status.entry.config
    is_paused = config is not None and config.paused
    return _menu(_Shown(row.name, is_paused, config is not None, whys.run, whys.change, whys.stop))


@kept
def _menu(shown: _Shown) -> Markup:
    name = shown.name
    run = row_act(url_for("job.trigger", name=name), "player-play", _("Run %(name)s now", name=name), shown.why_not_run)
    if shown.is_paused:
        text = _("Resume %(name)s", name=name)
        turn = row_act(url_for("job.resume", name=name), "player-skip-forward", text, shown.why_not_turn)
    else:
        why = shown.why_not_turn or ("" if shown.can_pause else _("Its configuration cannot be read"))
        turn = row_act(url_for("job.pause", name=name), "player-pause", _("Pause %(name)s", name=name), why)
    question = _("Stop what runs of %(name)s?", name=name)
    stop = row_act(
        url_for("job.stop", name=name), "player-stop", _("Stop %(name)s", name=name), shown.why_not_stop, question
    )
    edit = row_link(url_for("job.edit", name=name), "edit", _("Edit %(name)s", name=name))
    return together(run, turn, stop, edit)
