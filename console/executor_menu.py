"""What can be done to an executor, as buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from console import executor_view
from console.address import url_for
from console.kept import kept
from console.piece import button, together
from console.text import gettext as _
from console.text import ngettext
from console.view import why_not
from shardsched.people.role import Role

if TYPE_CHECKING:
    from markupsafe import Markup

    from shardsched.admin.executor_status import ExecutorStatus


class _Shown(NamedTuple):
    """What the buttons show."""

    number: int
    name: str
    running: int
    whys: tuple[str, ...]


def menu(one: ExecutorStatus, number: int) -> Markup:
    """Return the buttons of an executor; they send the form ``row``, which stands outside of what is polled.

    Args:
        one: The executor.
        number: Its own on the page.
    """
    barred = why_not(Role.OPERATOR)
    whys = tuple([barred or executor_view.why_not(one, action) for action in executor_view.ACTIONS])
    return _menu(_Shown(number, one.name, one.running, whys))


@kept
def _menu(shown: _Shown) -> Markup:
    name = shown.name
    drain = _("Drain %(name)s? Its items go to others; what runs there finishes.", name=name)
    failover = ngettext(
        "Stop the %(num)s item that %(name)s runs, and have another run it now?",
        "Stop the %(num)s items that %(name)s runs, and have others run them now?",
        shown.running,
        name=name,
    )
    forget = _("Forget %(name)s? One of that name that joins later takes items again.", name=name)
    texts: dict[str, tuple[str, str, str, dict[str, str]]] = {
        "drain": (_("Drain"), "arrow-down", "", {"data_confirm": drain}),
        "undrain": (_("Undrain"), "arrow-up", "", {}),
        "failover": (_("Fail over now"), "arrows-exchange", "danger", {"data_confirm": failover}),
        "forget": (_("Forget"), "trash", "danger", {"data_confirm": forget, "data_confirm_name": name}),
    }
    made = []
    for action, why in zip(executor_view.ACTIONS, shown.whys, strict=True):
        text, icon_name, kind, asked = texts[action]
        address, note = url_for(f"executor.{action}", name=name), f"a{shown.number}-{action}"
        made.append(button(text, icon_name, kind, why, form="row", formaction=address, note=note, **asked))
    return together(*made)
