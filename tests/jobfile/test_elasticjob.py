"""ElasticJob's YAML."""

from __future__ import annotations

import pytest

from shardsched.core.setting import new_job
from shardsched.errors import JobFileError
from shardsched.jobfile import Form, Wish, parse_jobs
from tests.jobfile.test_native import NOW

SPRING = """\
spring: {datasource: {url: x}}
elasticjob:
  tracing: {type: RDB}
  regCenter:
    serverLists: localhost:6181
    namespace: shop
    digest: user:password
  jobs:
    booksJob:
      elasticJobClass: com.example.BooksJob
      cron: 0/5 * * * * ?
      timeZone: GMT+08:00
      shardingTotalCount: 3
      shardingItemParameters: 0=Beijing,1=Shanghai,2=Guangzhou
      jobParameter: all
      failover: true
      misfire: false
      jobShardingStrategyType: ROUND_ROBIN
      jobErrorHandlerType: THROW
      description: the books
      disabled: true
    scriptJob:
      elastic-job-type: SCRIPT
      cron: 0 0 3 * * ?
      sharding-total-count: 1
      props:
        script.command.line: "/opt/run.sh 'two words'"
    httpJob:
      elasticJobType: HTTP
      cron: 0 0 4 * * ?
      shardingTotalCount: 1
      props:
        http:
          uri: http://localhost:8080/execute
          method: post
          data: source=elasticjob
          read.timeout.milliseconds: 2500
          content.type: application/x-www-form-urlencoded
    oddJob:
      elasticJobClass: com.example.OddJob
      cron: 0 0 5 * * ?
      shardingTotalCount: 1
      monitorExecution: false
      maxTimeDiffSeconds: 5
      reconcileIntervalMinutes: 10
      jobShardingStrategyType: com.example.Mine
      jobErrorHandlerType: DINGTALK
      jobExecutorServiceHandlerType: CPU
      jobListenerTypes: [one]
      overwrite: true
      props: {dingtalk.webhook: x, streaming.process: true}
      colour: blue
    "bad name/job":
      elasticJobClass: com.example.BadName
      cron: 0 0 6 * * ?
      shardingTotalCount: 1
    manyJob: {cron: 0 0 6 * * ?, shardingTotalCount: many}
    maybeJob: {cron: 0 0 6 * * ?, failover: maybe}
    emptyScript: {elasticJobType: SCRIPT, cron: 0 0 6 * * ?}
    quoteScript: {elasticJobType: SCRIPT, cron: 0 0 6 * * ?, props: {script.command.line: "a 'b"}}
    emptyHttp: {elasticJobType: HTTP, cron: 0 0 6 * * ?}
    slowHttp: {elasticJobType: HTTP, props: {http.uri: "http://a", http.connect.timeout.milliseconds: soon}}
    scalar: 3
"""

RECORD = """\
cron: 0/1 * * * * ?
description: ''
disabled: false
failover: false
jobErrorHandlerType: IGNORE
jobName: test_job
jobParameter: param
jobShardingStrategyType: AVG_ALLOCATION
maxTimeDiffSeconds: -1
misfire: true
monitorExecution: true
overwrite: false
props: {}
reconcileIntervalMinutes: 0
shardingItemParameters: 0=A,1=B
shardingTotalCount: 2
staticSharding: false
"""


def test_spring_jobs_are_mapped() -> None:
    """What has a like here is taken, keys written with dashes too."""
    entries = {entry.name: entry for entry in parse_jobs(SPRING, Wish()).entries}
    assert list(entries) == ["booksJob", "scriptJob", "httpJob", "oddJob", "bad-name-job"]
    books = new_job("booksJob", "u", entries["booksJob"].settings, NOW)
    assert (books.handler, books.cron, books.timezone, books.items) == ("booksJob", "0/5 * * * * ?", "GMT+08:00", 3)
    assert dict(books.item_params) == {0: "Beijing", 1: "Shanghai", 2: "Guangzhou"}
    assert (books.param, books.failover, books.misfire, books.strategy) == ("all", True, "skip", "round-robin")
    assert (books.on_failure, books.description, books.paused) == ("raise", "the books", True)
    script = entries["scriptJob"].settings
    assert (script["handler"], script["task"]) == ("@shell", {"argv": ["/opt/run.sh", "two words"]})
    assert (script["failover"], script["misfire"], script["items"]) == (False, "once", 1)
    http = entries["httpJob"].settings
    assert http["handler"] == "@http"
    assert http["task"] == {
        "url": "http://localhost:8080/execute",
        "method": "POST",
        "body": "source=elasticjob",
        "headers": {"Content-Type": "application/x-www-form-urlencoded"},
        "timeout": 2.5,
    }
    assert entries["booksJob"].place == "line 9"


def test_spring_what_has_no_like_is_told_by_key() -> None:
    """Each key that is left behind is named with its job and what becomes of it; no secret is."""
    remarks = parse_jobs(SPRING, Wish()).remarks
    odd = {remark.what for remark in remarks if remark.name == "oddJob"}
    assert odd == {
        "elasticJobClass",
        "elasticJobType",
        "monitorExecution",
        "maxTimeDiffSeconds",
        "reconcileIntervalMinutes",
        "jobShardingStrategyType",
        "jobErrorHandlerType",
        "jobExecutorServiceHandlerType",
        "jobListenerTypes",
        "overwrite",
        "props.dingtalk.webhook",
        "colour",
    }
    assert {remark.what for remark in remarks if not remark.name} == {
        "timezone",
        "elasticjob.regCenter",
        "elasticjob.tracing",
    }
    assert {remark.what for remark in remarks if remark.name == "bad-name-job"} == {"jobName", "elasticJobClass"}
    assert "password" not in str(remarks)


def test_spring_entry_that_cannot_be_taken_is_refused_alone() -> None:
    """Each refused entry has its reason, and the others are taken."""
    refusals = {refusal.name: refusal.reason for refusal in parse_jobs(SPRING, Wish()).refusals}
    words = {
        "manyJob": "shardingTotalCount",
        "maybeJob": "failover",
        "emptyScript": "script.command.line",
        "quoteScript": "quote",
        "emptyHttp": "http.uri",
        "slowHttp": "http.connect",
        "scalar": "mapping",
    }
    assert {name for name, reason in refusals.items() if words[name] in reason} == set(words)


def test_record_of_zookeeper_is_taken() -> None:
    """A job's record as ElasticJob stores it, or several as documents of one file."""
    other = RECORD.replace("test_job", "other")
    parsed = parse_jobs(f"{RECORD}---\n{other}---\n{other}---\n", Wish(timezone="Asia/Shanghai"))
    assert [entry.name for entry in parsed.entries] == ["test_job", "other"]
    assert [refusal.name for refusal in parsed.refusals] == ["other"]
    assert parsed.remarks == () or {remark.what for remark in parsed.remarks} == {
        "reconcileIntervalMinutes",
        "staticSharding",
    }
    config = new_job("test_job", "u", parsed.entries[0].settings, NOW)
    assert (config.timezone, config.strategy, config.on_failure) == ("Asia/Shanghai", "average", "ignore")


def test_record_of_the_second_release_in_json_is_taken() -> None:
    """The releases before 3.0 stored JSON, and called some things otherwise."""
    text = """{"jobName": "old", "jobClass": "com.example.Old", "jobType": "SCRIPT", "cron": "0 0 3 * * ?",
        "shardingTotalCount": 1, "scriptCommandLine": "/opt/old.sh", "streamingProcess": false, "jobProperties": {}}"""
    (entry,) = parse_jobs(text, Wish()).entries
    assert entry.settings["task"] == {"argv": ["/opt/old.sh"]}


@pytest.mark.parametrize("text", ["elasticjob: 3", "elasticjob: {jobs: [a]}", "elasticjob.jobs: 3", "a: 1", "3"])
def test_elasticjob_not_one_is_refused(text: str) -> None:
    """Another YAML is refused as a whole."""
    with pytest.raises(JobFileError, match="elasticjob"):
        parse_jobs(text, Wish(form=Form.ELASTICJOB))
