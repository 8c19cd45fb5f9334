"""What templates have at hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from flask import current_app, flash, g, get_flashed_messages, request
from markupsafe import Markup

from console import label, locale, piece, run_text
from console.address import url_for
from console.asset import asset, icon, imports
from console.away import away
from console.context import actor_or_none, context
from console.diff import diff_lines, value_text
from console.navigation import ADMINISTRATION, PAGES, visible
from console.script_text import script_texts
from console.sentence_text import said, said_html
from console.text import gettext, ngettext, template_gettext
from shardsched.people.role import Role

if TYPE_CHECKING:
    from datetime import datetime

    from flask import Flask, Response

PAGE_SIZE = 50


def init_views(app: Flask) -> None:
    """Give templates their functions and filters."""
    app.jinja_env.globals.update(
        ADMINISTRATION=ADMINISTRATION,
        LANGUAGES=locale.LANGUAGES,
        PAGES=PAGES,
        THEMES=locale.THEMES,
        Role=Role,
        _=template_gettext,
        _n=ngettext,
        action_text=label.action_text,
        actor=actor_or_none,
        asset=asset,
        clock_now=_now,
        console=context,
        diff_lines=diff_lines,
        value_text=value_text,
        here=here,
        has_page=lambda endpoint: endpoint in current_app.view_functions,
        icon=icon,
        imports=imports,
        label=label,
        language=locale.language,
        piece=piece,
        ask_proof_for=needs_proof,
        run_text=run_text,
        request_id=lambda: g.get("request_id", ""),
        script_texts=script_texts,
        shown_toasts=shown_toasts,
        theme=locale.theme,
        visible=visible,
        why_not=why_not,
        url_for=url_for,
        lacks=lacks,
        what_is_away=away,
        with_query=with_query,
        zone_name=locale.zone_name,
    )
    app.jinja_env.filters.update(
        attributes=piece.attributes,
        clock=locale.time_text,
        json_block=json_block,
        json_text=json_text,
        said=said_html,
        said_text=said,
        span=locale.span_text,
    )
    app.jinja_env.filters["epoch"] = lambda at: round(at.timestamp())
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.after_request(_send_toasts)


def why_not(needed: str) -> str:
    """Return why whoever looks cannot do what a role may, empty if they can: for buttons that stay in their place.

    What operators do is done to the fleet, so that the registry must answer too.
    """
    known: dict[str, str] = g.setdefault("whys", {})
    if needed not in known:
        gone = away()
        known[needed] = gone.history or lacks(needed) or (gone.registry if needed == Role.OPERATOR else "")
    return known[needed]


def lacks(needed: str) -> str:
    """Return that whoever looks lacks a role, empty if they have it, also while they may only look."""
    who = actor_or_none()
    has = who is not None and (who.user.role if who.only_looks else who.role).includes(Role(needed))
    return "" if has else gettext("Needs the role %(role)s", role=label.ROLES[needed])


def needs_proof() -> bool:
    """Whether whoever looks must give the password again before the dangerous things."""
    who = actor_or_none()
    return who is not None and who.session is not None and not who.session.is_proved(context().clock.now())


def with_query(path: str = "", /, **changes: Any) -> str:
    """Return the present address with some parameters of its query changed, or left out when None or empty.

    Args:
        path: Another path that takes the same query.
        **changes: The parameters.
    """
    query: dict[str, Any] = {**request.args.to_dict(), **changes}
    given = {name: value for name, value in query.items() if value not in {None, ""}}
    # Not by `url_for`: it takes some names for orders, such as to lead elsewhere, and whoever made the link chose them.
    return (path or quote(request.script_root + request.path, safe="/:@")) + (f"?{urlencode(given)}" if given else "")


def here() -> str:
    """Return the present address, to come back to; the start where it cannot be got by looking."""
    return request.full_path.rstrip("?") if request.method == "GET" and request.endpoint else "/"


def _now() -> datetime:
    return context().clock.now()


def json_block(value: Any) -> Markup:
    """Return JSON that may stand in a ``<script type="application/json">``: nothing in it can end the element."""
    return json_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def json_text(text: str) -> Markup:
    """Return a text that is JSON already, as `json_block` does."""
    safe = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Markup(safe)  # noqa: S704 - no character that means anything in HTML is left


def toast(text: str, *, kind: str = "done", undo: str = "", undo_label: str = "") -> None:
    """Tell whoever asked what became of it, in a corner of the page, for some seconds.

    Args:
        text: In their language.
        kind: ``done``, ``warning`` or ``failed``.
        undo: Address to post to if they change their mind at once.
        undo_label: What that button says.
    """
    message = {"text": text, "kind": kind, "undo": undo, "label": undo_label or gettext("Undo")}
    if "HX-Request" in request.headers:
        g.setdefault("toasts", []).append(message)
    else:
        flash(json.dumps(message), "toast")


def shown_toasts() -> list[Any]:
    """Return what waits to be told on this page."""
    return [json.loads(str(text)) for text in get_flashed_messages(category_filter=["toast"])]


def _send_toasts(response: Response) -> Response:
    toasts = g.pop("toasts", None)
    if toasts:
        response.headers["HX-Trigger"] = json.dumps({"toast": {"messages": toasts}})
    return response
