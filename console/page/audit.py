"""What people did, for admins."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from flask import Blueprint, Response, render_template, request

from console import limit
from console.context import context
from console.label import ACTIONS, RESULTS
from console.locale import zone
from console.page_number import MAX_ID
from console.part import page_or_part
from console.role import role
from console.table_text import cell_text
from console.view import PAGE_SIZE
from shardsched.people.audit import AuditFilter

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

blueprint = Blueprint("audit", __name__)

EXPORT_ROWS = 10_000
_FILTERS = ("actor", "action", "object", "result", "since", "until")
_COLUMNS = ("at", "actor", "token", "address", "action", "kind", "object", "result", "message", "reason", "request_id")


@blueprint.get("/audit")
@role("admin")
def index() -> ResponseReturnValue:
    """List entries, the newest first."""
    before = request.args.get("before", "")
    number = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None
    entries = context().people.audit.page(wanted_entries(), before_id=number, limit=PAGE_SIZE + 1)
    values = {
        "entries": entries[:PAGE_SIZE],
        "next_before": entries[PAGE_SIZE - 1].id if len(entries) > PAGE_SIZE else None,
        "is_first": number is None,
        "is_filtered": any(request.args.get(name) for name in _FILTERS),
    }
    choices = {"areas": sorted({code.partition(".")[0] for code in ACTIONS}), "results": RESULTS}
    return page_or_part("audit/index.html", "audit/_part.html", values, lambda: choices)


@blueprint.get(f"/audit/<int(max={MAX_ID}):entry_id>")
@role("admin")
def show(entry_id: int) -> ResponseReturnValue:
    """Show one entry with what changed."""
    entry = context().people.audit.get(entry_id)
    if entry is None:
        return render_template("audit/show.html", entry=None), 404
    return render_template("audit/show.html", entry=entry)


@blueprint.get("/audit/export.csv")
@limit.limiter.limit(limit.EXPORTS, key_func=limit.who)
@role("admin")
def export() -> ResponseReturnValue:
    """Give the entries that the filters take as CSV, safe for spreadsheets."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, "before", "after"])
    for entry in context().people.audit.page(wanted_entries(), limit=EXPORT_ROWS):
        cells = [str(getattr(entry, column) or "") for column in _COLUMNS]
        documents = ["" if value is None else json.dumps(value) for value in (entry.before, entry.after)]
        writer.writerow([cell_text(cell) for cell in [*cells, *documents]])
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"'}
    return Response(text.getvalue(), mimetype="text/csv", headers=headers)


def wanted_entries() -> AuditFilter:
    """Return the filter in the address."""
    args = request.args
    return AuditFilter(
        actor=args.get("actor", "").strip(),
        action=args.get("action", "").strip(),
        object=args.get("object", "").strip(),
        result=args.get("result", "").strip(),
        since=_day(args.get("since", "")),
        until=_day(args.get("until", ""), days=1),
    )


def _day(text: str, *, days: int = 0) -> datetime | None:
    """Return the beginning of a day in the viewer's zone, or of one so many days later; None if it is none."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone()) + timedelta(days=days)
    except (ValueError, OverflowError):
        return None
