"""The settings of one row of XXL-JOB."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MISFIRES = {"": "once", "DO_NOTHING": "skip", "FIRE_ONCE_NOW": "once"}
_SCRIPTS = {
    # By kind, the words before the script's text and after it: what follows are its arguments.
    "GLUE_SHELL": ("/bin/bash -c", "glue"),
    "GLUE_PYTHON": ("python3 -c", ""),
    "GLUE_PYTHON2": ("python2 -c", ""),
    "GLUE_NODEJS": ("node -e", "glue"),
}
_ARGUMENTS = '"$SHARDSCHED_JOB_PARAM" "$SHARDSCHED_ITEM" "$SHARDSCHED_ITEMS"'
_MAX_SCRIPT_CHARS = 60_000
"""Longest script with its quotes; a task's text has at most 64 Ki characters."""
_DAY_S = 86_400
_ONE_OWNER = {"", "FIRST", "LAST", "CONSISTENT_HASH", "FAILOVER"}
"""Routes of which nothing is lost: the one item has one owner, and another takes over when it dies."""
_NO_LIKE = {
    "alarmemail": ("alarmEmail", Sentence("no mail is sent")),
    "jobgroup": ("jobGroup", Sentence("give the job labels, and each executor its own")),
}
_KNOWN = {
    *("id", "jobdesc", "name", "author", "scheduletype", "scheduleconf", "jobcron", "misfirestrategy"),
    *("executorroutestrategy", "executorhandler", "executorparam", "executorblockstrategy", "executortimeout"),
    *("executorfailretrycount", "executorfailstrategy", "gluetype", "gluesource", "glueremark", "glueupdatetime"),
    *("childjobid", "triggerstatus", "triggerlasttime", "triggernexttime", "jobstatus", "addtime", "updatetime"),
}


def job_settings(row: Mapping[str, str], remark: Callable[[str, str], None]) -> dict[str, Any]:
    """Return the settings of a row, whose keys are in lower case and without underscores.

    Args:
        row: The row.
        remark: Is told what is left behind, and why.

    Raises:
        ValueError: It cannot be taken, with the reason.
    """
    settings: dict[str, Any] = {"cron": _cron(row, remark), **_kind(row)}
    settings["description"] = _description(row)
    settings["paused"] = row.get("triggerstatus", "") == "0"
    timeout_s = _whole(row, "executortimeout", "executorTimeout")
    if timeout_s:
        settings["timeout"] = timeout_s
    settings["retries"] = _whole(row, "executorfailretrycount", "executorFailRetryCount")
    settings["misfire"] = _misfire(row, remark)
    if row.get("executorparam"):
        settings["param"] = row["executorparam"]
    _tell_route(row, remark)
    for key, (shown, reason) in _NO_LIKE.items():
        if row.get(key):
            remark(shown, reason)
    for key, value in row.items():
        if value and key not in _KNOWN and key not in _NO_LIKE:
            remark(key, Sentence("it is not known"))
    return settings


def _cron(row: Mapping[str, str], remark: Callable[[str, str], None]) -> str:
    kind = row.get("scheduletype", "") or ("CRON" if row.get("jobcron") else "NONE")
    conf = row.get("scheduleconf", "") or row.get("jobcron", "")
    if kind == "CRON":
        return conf.strip()
    if kind == "NONE":
        return ""
    if kind in {"FIX_RATE", "FIXED_RATE"}:
        cron = _rate(conf.strip())
        remark(
            "scheduleType",
            Sentence(
                "every %(conf)s s is counted from midnight, not from the start: %(cron)s", conf=conf.strip(), cron=cron
            ),
        )
        return cron
    message = Sentence(
        "scheduleType %(kind)s has no like: fires have times of their own; write a cron expression", kind=kind[:40]
    )
    raise ValueError(message)


def _rate(text: str) -> str:
    """Return the cron expression that fires every so many seconds.

    Raises:
        ValueError: There is none, since it does not divide a minute, an hour or a day.
    """
    every = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
    if every and every < 60 and 60 % every == 0:
        return f"0/{every} * * * * ?"
    if every and every % 60 == 0 and every < 3600 and 3600 % every == 0:
        return f"0 0/{every // 60} * * * ?"
    if every and every % 3600 == 0 and _DAY_S % every == 0:
        return "0 0 0 * * ?" if every == _DAY_S else f"0 0 0/{every // 3600} * * ?"
    message = Sentence(
        "every %(text)s s divides neither a minute, an hour nor a day; write a cron expression", text=text[:20]
    )
    raise ValueError(message)


def _kind(row: Mapping[str, str]) -> dict[str, Any]:
    kind = row.get("gluetype", "") or "BEAN"
    if kind == "BEAN":
        if not row.get("executorhandler"):
            message = Sentence("it is a BEAN without executorHandler; give one with --handler")
            raise ValueError(message)
        return {"handler": row["executorhandler"]}
    if kind not in _SCRIPTS:
        message = Sentence(
            "glueType %(kind)s cannot be run here; port its source to Python or to a shell command", kind=kind[:40]
        )
        raise ValueError(message)
    source = row.get("gluesource", "")
    if not source.strip():
        message = Sentence("it is %(kind)s without glueSource; give its source", kind=kind)
        raise ValueError(message)
    before, after = _SCRIPTS[kind]
    quoted = shlex.quote(source.replace("\r\n", "\n"))
    if len(quoted) > _MAX_SCRIPT_CHARS:
        message = Sentence(
            "glueSource has more than %(most)s characters; put it into a file on the executors",
            most=_MAX_SCRIPT_CHARS,
        )
        raise ValueError(message)
    words = " ".join(filter(None, ("exec", before, quoted, after, _ARGUMENTS)))
    return {"handler": "@shell", "task": {"shell": words}}


def _description(row: Mapping[str, str]) -> str:
    author = f" (author: {row['author']})" if row.get("author") else ""
    return (row.get("jobdesc", "") or row.get("name", ""))[:1900] + author[:100]


def _misfire(row: Mapping[str, str], remark: Callable[[str, str], None]) -> str:
    given, block = row.get("misfirestrategy", ""), row.get("executorblockstrategy", "")
    misfire = _MISFIRES.get(given)
    if misfire is None:
        remark("misfireStrategy", Sentence("%(given)s is not known; a missed fire runs once", given=given[:40]))
        misfire = "once"
    if block == "COVER_EARLY":
        remark(
            "executorBlockStrategy",
            Sentence("a run is not ended by the next fire, which is missed: misfire says what then"),
        )
    elif block == "SERIAL_EXECUTION" and misfire == "skip":
        remark("executorBlockStrategy", Sentence("a fire due while a run goes on is skipped, as misfireStrategy says"))
    elif block == "DISCARD_LATER" and misfire == "once":
        remark(
            "executorBlockStrategy", Sentence("a fire due while a run goes on runs after it, as misfireStrategy says")
        )
    elif block not in {"", "SERIAL_EXECUTION", "DISCARD_LATER"}:
        remark(
            "executorBlockStrategy",
            Sentence("%(block)s is not known; runs of one item never overlap", block=block[:40]),
        )
    return misfire


def _tell_route(row: Mapping[str, str], remark: Callable[[str, str], None]) -> None:
    route = row.get("executorroutestrategy", "")
    if route == "SHARDING_BROADCAST":
        remark(
            "executorRouteStrategy",
            Sentence("SHARDING_BROADCAST: the file has no number of items; it has 1 until you set it"),
        )
    elif route not in _ONE_OWNER:
        remark(
            "executorRouteStrategy",
            Sentence("%(route)s: its one item stays with one executor while that lives", route=route[:40]),
        )


def _whole(row: Mapping[str, str], key: str, shown: str) -> int:
    text = row.get(key, "").strip()
    if text.startswith("-") or not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        message = Sentence("%(shown)s is %(text)r; write a whole number", shown=shown, text=text[:40])
        raise ValueError(message)
    return int(text)
