"""XXL-JOB's jobs: rows of its table ``xxl_job_info``, as its pages' API gives them in JSON or a database in CSV."""

from __future__ import annotations

import csv
import io
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from shardsched.errors import JobFileError
from shardsched.jobfile.entry import Harvest
from shardsched.jobfile.naming import Names, name_of
from shardsched.jobfile.text import as_text
from shardsched.jobfile.xxl_setting import job_settings
from shardsched.sentence import Foreign, Sentence, sentence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shardsched.jobfile.entry import Parsed

Row = dict[str, str]
"""One row; its keys in lower case and without underscores, since the API and the table write them differently."""

_MARKS = {"scheduleconf", "jobcron", "executorhandler", "gluetype"}
_NOTHING = {"null", "NULL", "\\N"}


def is_xxl_job(document: Any) -> bool:
    """Whether a JSON document holds rows of XXL-JOB."""
    rows = _rows(document)
    return (
        rows is not None
        and rows[:1] != []
        and isinstance(rows[0], dict)
        and bool(_MARKS & {_key(key) for key in rows[0]})
    )


def looks_like_csv(text: str) -> bool:
    """Whether the first line of a text names columns of XXL-JOB's table."""
    heading = re.split(r"[,;\t]", text.lstrip().partition("\n")[0])
    return len(heading) > 1 and bool(_MARKS & {_key(column.strip(' "')) for column in heading})


def parse_xxl_rows(document: Any) -> Parsed:
    """Return the jobs of a JSON document.

    Raises:
        JobFileError: It holds no list of rows.
    """
    rows = _rows(document)
    if rows is None:
        raise JobFileError(
            Sentence("it is neither a list of rows of xxl_job_info nor an object with such a list as its 'data'")
        )
    return _parse((Sentence("row %(row)s", row=number), row) for number, row in enumerate(rows, 1))


def parse_xxl_csv(text: str) -> Parsed:
    """Return the jobs of a CSV text whose first line names the columns.

    Raises:
        JobFileError: It cannot be read as CSV.
    """
    heading = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=heading.count)
    reader = csv.DictReader(io.StringIO(text.lstrip(), newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[str, Any]] = []
    try:
        for row in reader:
            line = Sentence("line %(line)s", line=reader.line_num)
            is_whole = None not in row and None not in row.values()
            rows.append(
                (
                    line,
                    row if is_whole else Sentence("it has not %(count)s columns", count=len(reader.fieldnames or ())),
                )
            )
    except csv.Error as error:
        raise JobFileError(
            Sentence("it is not CSV: %(error)s", error=Foreign(error)), line=reader.line_num or 1
        ) from None
    return _parse(rows)


def _rows(document: Any) -> list[Any] | None:
    """Return the list of rows, at most three mappings deep: the API wraps its answer in ``data``."""
    for _ in range(3):
        if isinstance(document, list):
            return document
        if not isinstance(document, dict):
            return None
        document = next((document[key] for key in ("data", "content", "rows", "records") if key in document), None)
    return document if isinstance(document, list) else None


def _key(key: Any) -> str:
    return str(key).replace("_", "").replace("\ufeff", "").lower()


def _parse(places: Iterable[tuple[str, Any]]) -> Parsed:
    harvest = Harvest("xxl-job")
    rows: dict[str, tuple[str, Row]] = {}
    names = Names()
    for place, written in places:
        if not isinstance(written, dict):
            harvest.refuse("", written if isinstance(written, str) else Sentence("it is not an object"), place)
            continue
        row = {_key(key): _value(value) for key, value in written.items()}
        wanted = name_of(row.get("jobdesc", "") or row.get("name", "")) or name_of(row.get("executorhandler", ""))
        name = names.unique(wanted or name_of(f"xxl-{row.get('id') or place.partition(' ')[2]}"))
        rows[name] = (place, row)
    after = _upstreams(harvest, rows)
    for name, (place, row) in rows.items():
        try:
            settings = job_settings(row, partial(harvest.remark, name=name, place=place))
        except ValueError as error:
            harvest.refuse(name, sentence_of(error), place)
            continue
        if name in after:
            settings |= {"after": after[name], "after_mode": "any", "after_on": "success"}
        harvest.add(name, settings, place)
    return harvest.parsed()


def _value(value: Any) -> str:
    text = as_text(value)
    return "" if text in _NOTHING else text


def _upstreams(harvest: Harvest, rows: Mapping[str, tuple[str, Row]]) -> dict[str, list[str]]:
    """Return, by job, the jobs that name it as their child."""
    by_id = {row["id"]: name for name, (_, row) in rows.items() if row.get("id")}
    after: dict[str, list[str]] = {}
    for name, (place, row) in rows.items():
        for child_id in filter(None, map(str.strip, row.get("childjobid", "").split(","))):
            child = by_id.get(child_id)
            if child is None:
                harvest.remark(
                    "childJobId",
                    Sentence("there is no row %(row)r in the file", row=child_id[:20]),
                    name=name,
                    place=place,
                )
            elif child == name:
                harvest.remark("childJobId", Sentence("a job cannot come after itself"), name=name, place=place)
            elif name not in after.setdefault(child, []):
                after[child].append(name)
    return after
