"""Rows of XXL-JOB."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from shardsched.core.setting import new_job
from shardsched.errors import JobFileError
from shardsched.jobfile import Entry, Form, Parsed, Wish, parse_jobs
from tests.jobfile.test_native import NOW

ROW: dict[str, Any] = {
    "id": 1,
    "jobGroup": 1,
    "jobDesc": "测试任务1",
    "addTime": "2018-11-03T14:21:31.000+00:00",
    "author": "XXL",
    "alarmEmail": "",
    "scheduleType": "CRON",
    "scheduleConf": "0 0 0 * * ? *",
    "misfireStrategy": "DO_NOTHING",
    "executorRouteStrategy": "FIRST",
    "executorHandler": "demoJobHandler",
    "executorParam": "a=1",
    "executorBlockStrategy": "DISCARD_LATER",
    "executorTimeout": 30,
    "executorFailRetryCount": 2,
    "glueType": "BEAN",
    "glueSource": "",
    "glueRemark": "GLUE代码初始化",
    "glueUpdatetime": "2018-11-03T14:21:31.000+00:00",
    "childJobId": "",
    "triggerStatus": 1,
    "triggerLastTime": 0,
    "triggerNextTime": 0,
}


def rows(*changes: dict[str, Any]) -> Parsed:
    """The jobs of rows that differ in something."""
    return parse_jobs(json.dumps([ROW | change for change in changes]), Wish())


def only(**changes: Any) -> Entry:
    """The job of one row."""
    parsed = rows(changes)
    assert parsed.refusals == ()
    return parsed.entries[0]


def told(**changes: Any) -> set[str]:
    """What is left behind of one row, but for what every row has."""
    return {remark.what for remark in rows(changes).remarks} - {"timezone", "jobGroup"}


def test_xxl_row_is_mapped() -> None:
    """What has a like here is taken."""
    entry = only()
    assert (entry.name, entry.place) == ("测试任务1", "row 1")
    config = new_job(entry.name, "u", entry.settings, NOW)
    assert (config.handler, config.cron, config.param) == ("demoJobHandler", "0 0 0 * * ? *", "a=1")
    assert (config.timeout_s, config.retries, config.misfire, config.paused) == (30, 2, "skip", False)
    assert config.description == "测试任务1 (author: XXL)"
    assert told() == set()


def test_xxl_answers_and_tables_are_read_alike() -> None:
    """The API wraps its rows, a table's columns are written otherwise, and a database gives CSV."""
    snake = {"child_jobid": "", "glue_updatetime": "x"} | {
        "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key): value
        for key, value in ROW.items()
        if key not in {"childJobId", "glueUpdatetime"}
    }
    lines = [",".join(snake), ",".join(f'"{value}"' if value != "" else "NULL" for value in snake.values())]
    wanted = only().settings
    for text in (
        json.dumps({"recordsTotal": 1, "data": [ROW]}),
        json.dumps({"code": 200, "content": {"data": [snake]}}),
        "\n".join(lines),
        "\n".join(lines).replace(",", ";"),
    ):
        for form in (Form.AUTO, Form.XXL_JOB):
            (entry,) = parse_jobs(text, Wish(form=form)).entries
            assert (entry.name, entry.settings) == ("测试任务1", wanted)


@pytest.mark.parametrize(
    ("kind", "conf", "cron"),
    [
        ("FIX_RATE", "30", "0/30 * * * * ?"),
        ("FIX_RATE", "300", "0 0/5 * * * ?"),
        ("FIX_RATE", "60", "0 0/1 * * * ?"),
        ("FIX_RATE", "7200", "0 0 0/2 * * ?"),
        ("FIX_RATE", "86400", "0 0 0 * * ?"),
        ("NONE", "", ""),
    ],
)
def test_xxl_schedule_is_mapped(kind: str, conf: str, cron: str) -> None:
    """A rate that divides a minute, an hour or a day is a cron expression; no schedule is none."""
    assert only(scheduleType=kind, scheduleConf=conf).settings["cron"] == cron


def test_xxl_old_row_has_its_cron_elsewhere() -> None:
    """The releases before 2.3 had one kind of schedule."""
    old = {key: value for key, value in ROW.items() if key not in {"scheduleType", "scheduleConf"}}
    (entry,) = parse_jobs(json.dumps([old | {"jobCron": "0 0 1 * * ?"}]), Wish()).entries
    assert entry.settings["cron"] == "0 0 1 * * ?"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scheduleType": "FIX_DELAY", "scheduleConf": "30"}, "FIX_DELAY"),
        ({"scheduleType": "FIX_RATE", "scheduleConf": "7"}, "7 s divides"),
        ({"scheduleType": "FIX_RATE", "scheduleConf": "-7"}, "divides"),
        ({"scheduleType": "FIX_RATE", "scheduleConf": "172800"}, "divides"),
        ({"glueType": "GLUE_GROOVY", "glueSource": "x"}, "GLUE_GROOVY"),
        ({"glueType": "GLUE_SHELL", "glueSource": " "}, "glueSource"),
        ({"glueType": "GLUE_SHELL", "glueSource": "x" * 70_000}, "characters"),
        ({"executorHandler": ""}, "executorHandler"),
        ({"executorTimeout": "soon"}, "executorTimeout"),
        ({"executorFailRetryCount": True}, "executorFailRetryCount"),
    ],
)
def test_xxl_row_that_cannot_be_taken_is_refused_alone(changes: dict[str, Any], words: str) -> None:
    """What would run otherwise than it did, or not at all, is refused with the reason."""
    parsed = rows(changes, {"jobDesc": "other"})
    assert [entry.name for entry in parsed.entries] == ["other"]
    assert [words in refusal.reason for refusal in parsed.refusals] == [True]


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({"executorRouteStrategy": "SHARDING_BROADCAST"}, {"executorRouteStrategy"}),
        ({"executorRouteStrategy": "RANDOM"}, {"executorRouteStrategy"}),
        ({"executorRouteStrategy": "FAILOVER"}, set()),
        ({"executorBlockStrategy": "COVER_EARLY"}, {"executorBlockStrategy"}),
        ({"executorBlockStrategy": "SERIAL_EXECUTION"}, {"executorBlockStrategy"}),
        ({"executorBlockStrategy": "SERIAL_EXECUTION", "misfireStrategy": "FIRE_ONCE_NOW"}, set()),
        ({"misfireStrategy": "FIRE_ONCE_NOW"}, {"executorBlockStrategy"}),
        ({"misfireStrategy": "ODD", "executorBlockStrategy": "ODD"}, {"misfireStrategy", "executorBlockStrategy"}),
        ({"scheduleType": "FIX_RATE", "scheduleConf": "30"}, {"scheduleType"}),
        ({"alarmEmail": "a@b"}, {"alarmEmail"}),
        ({"childJobId": "1,77"}, {"childJobId"}),
        ({"colour": "blue"}, {"colour"}),
    ],
)
def test_xxl_what_has_no_like_is_told(changes: dict[str, Any], keys: set[str]) -> None:
    """Each strategy without a like is named."""
    assert told(**changes) == keys


def test_xxl_children_come_after_their_parents() -> None:
    """A child names the jobs after which it fires; each of them is enough."""
    parsed = rows(
        {"id": 1, "jobDesc": "one", "childJobId": "3, 3"},
        {"id": 2, "jobDesc": "two", "childJobId": "3"},
        {"id": 3, "jobDesc": "three", "scheduleType": "NONE", "triggerStatus": 0},
        {"id": 4, "jobDesc": "three"},
    )
    names = [entry.name for entry in parsed.entries]
    assert names == ["one", "two", "three", "three-2"]
    child = parsed.entries[2].settings
    assert (child["after"], child["after_mode"], child["after_on"]) == (["one", "two"], "any", "success")
    assert (child["paused"], "after" in parsed.entries[3].settings) == (True, False)


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("GLUE_SHELL", "#!/bin/bash\necho \"$1|$2|$3\" 'it''s' ${BASH_VERSION:+bash}"),
        ("GLUE_PYTHON", "import sys\nprint('|'.join(sys.argv[1:]), \"its\", 'bash')"),
    ],
)
def test_xxl_script_gets_its_arguments(kind: str, source: str) -> None:
    """A script runs by its own interpreter, with parameter, index and total as its arguments."""
    task = only(glueType=kind, glueSource=source).settings["task"]
    environment = {"SHARDSCHED_JOB_PARAM": "a b", "SHARDSCHED_ITEM": "0", "SHARDSCHED_ITEMS": "1"}
    done = subprocess.run(
        ["/bin/sh", "-c", task["shell"]],
        env=environment | {"PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "a b|0|1 its bash\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"data": 3}', "list of rows"),
        ("[", "not JSON"),
        ('jobDesc,jobCron\n"a', "not CSV"),
    ],
)
def test_xxl_not_one_is_refused(text: str, words: str) -> None:
    """Another document is refused as a whole."""
    with pytest.raises(JobFileError, match=words):
        parse_jobs(text, Wish(form=Form.XXL_JOB))


def test_xxl_broken_rows_are_refused_alone() -> None:
    """A row with too few or too many columns, or that is no object, is told with its place."""
    parsed = parse_jobs("jobDesc,jobCron,executorHandler\na,0 0 1 * * ?,h\nb\nc,d,e,f\n", Wish())
    assert ([entry.name for entry in parsed.entries], [refusal.place for refusal in parsed.refusals]) == (
        ["a"],
        ["line 3", "line 4"],
    )
    assert [refusal.place for refusal in parse_jobs(json.dumps([ROW, 3]), Wish()).refusals] == ["row 2"]
