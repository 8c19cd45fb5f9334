"""ElasticJob's YAML: that of its Spring Boot starter, and the records it keeps in ZooKeeper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shardsched.core.name import name_fault
from shardsched.errors import JobFileError
from shardsched.jobfile.elasticjob_kind import http_task, script_task
from shardsched.jobfile.entry import Harvest
from shardsched.jobfile.naming import name_of
from shardsched.jobfile.text import Block, as_text
from shardsched.sentence import Sentence, sentence_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.jobfile.entry import Parsed

_STRATEGIES = {"AVG_ALLOCATION": "average", "ODEVITY": "odevity", "ROUND_ROBIN": "round-robin"}
_ERROR_HANDLERS = {"LOG": "log", "IGNORE": "ignore", "THROW": "raise"}
_ALIASES = {
    # What the releases before 3.0 called them.
    "jobClass": "elasticJobClass",
    "jobType": "elasticJobType",
    "jobErrorHandlerClass": "jobErrorHandlerType",
    "jobShardingStrategyClass": "jobShardingStrategyType",
}
_NO_LIKE = {
    "elasticJobClass": Sentence("its code is ported to a function decorated with @sharded_job"),
    "jobBootstrapBeanName": Sentence("a job without a cron expression runs when it is triggered"),
    "reconcileIntervalMinutes": Sentence("the leader compares what is with what should be by itself"),
    "jobListenerTypes": Sentence("listeners belong to the code; give them to @sharded_job"),
    "jobExecutorServiceHandlerType": Sentence(
        "each item runs in a process of its own; an executor's --slots bounds how many"
    ),
    "jobExecutorThreadPoolSizeProviderType": Sentence(
        "each item has its own process; an executor's --slots bounds them"
    ),
    "jobExtraConfigurations": Sentence("there is nothing like it"),
    "jobProperties": Sentence("there is nothing like it"),
    "label": Sentence("give the job labels, and each executor its own"),
    "staticSharding": Sentence("items move only when executors come or go"),
    "maxWaitMillis": Sentence("no run waits for another executor"),
}
_FILE_KEYS = {
    "regCenter": Sentence("the registry is given with --registry"),
    "tracing": Sentence("the history is kept without being asked for"),
    "dump": Sentence("'shardsched status' and 'shardsched job show' tell all"),
}
_KNOWN = {
    *("jobName", "cron", "timeZone", "shardingTotalCount", "shardingItemParameters", "jobParameter", "failover"),
    *("misfire", "monitorExecution", "maxTimeDiffSeconds", "jobShardingStrategyType", "jobErrorHandlerType", "props"),
    *("description", "disabled", "overwrite", "elasticJobType", "scriptCommandLine", "streamingProcess"),
}


def is_elasticjob(document: Any) -> bool:
    """Whether a document is one of ElasticJob's."""
    if not isinstance(document, dict):
        return False
    names = {_camel(key) for key in document}
    return any(name.partition(".")[0] == "elasticjob" for name in names) or {"jobName", "shardingTotalCount"} <= names


def parse_elasticjob(documents: list[Any]) -> Parsed:
    """Return the jobs of ElasticJob's documents.

    Raises:
        JobFileError: One of them is none of ElasticJob's.
    """
    harvest = Harvest("elasticjob")
    for document in documents:
        if document is None:
            continue
        if not is_elasticjob(document):
            raise JobFileError(Sentence("it has neither 'elasticjob' with 'jobs' nor a record with 'jobName'"))
        keys = {_camel(key): value for key, value in document.items()}
        if "jobName" in keys:
            _take(harvest, as_text(keys["jobName"]), document, "")
        else:
            _take_all(harvest, keys)
    return harvest.parsed()


def _take_all(harvest: Harvest, keys: Mapping[str, Any]) -> None:
    """Take the jobs below ``elasticjob``, whose keys may also be written with dots."""
    settings = _below_elasticjob(keys)
    for name, reason in _FILE_KEYS.items():
        if any(key.partition(".")[0] == name for key in settings):
            harvest.remark(f"elasticjob.{name}", reason)
    jobs = settings.get("jobs")
    if not isinstance(jobs, dict):
        raise JobFileError(Sentence("'elasticjob.jobs' is not a mapping of jobs by name"))
    for name, written in jobs.items():
        _take(harvest, name, written, jobs.place(name) if isinstance(jobs, Block) else "")


def _below_elasticjob(keys: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, value in keys.items():
        head, _, tail = key.partition(".")
        if head == "elasticjob" and tail:
            settings[tail] = value
        elif head == "elasticjob" and isinstance(value, dict):
            settings |= {_camel(name): below for name, below in value.items()}
    return settings


def _take(harvest: Harvest, given: str, written: Any, place: str) -> None:
    name = given if name_fault(given) is None else name_of(given)
    if not isinstance(written, dict):
        harvest.refuse(name or given, Sentence("its settings are not a mapping"), place)
        return
    keys = {_ALIASES.get(_camel(key), _camel(key)): value for key, value in written.items() if value is not None}
    if name != given:
        harvest.remark(
            "jobName", Sentence("%(given)r may not be a name here", given=given[:80]), name=name, place=place
        )
    job = _Job(harvest, name, place, keys)
    try:
        settings = job.settings()
    except ValueError as error:
        harvest.refuse(name or given, sentence_of(error), place)
        return
    harvest.add(name, settings, place)


class _Job:
    """Reads one job."""

    def __init__(self, harvest: Harvest, name: str, place: str, keys: Mapping[str, Any]) -> None:
        self._harvest = harvest
        self._name = name
        self._place = place
        self._keys = keys

    def settings(self) -> dict[str, Any]:
        """Return its settings.

        Raises:
            ValueError: It cannot be taken, with the reason.
        """
        settings: dict[str, Any] = {"cron": as_text(self._keys.get("cron")).strip()}
        settings |= self._kind()
        settings["failover"] = _flag(self._keys, "failover", default=False)
        settings["misfire"] = "once" if _flag(self._keys, "misfire", default=True) else "skip"
        settings["paused"] = _flag(self._keys, "disabled", default=False)
        settings |= self._copied()
        self._choose(
            settings, "strategy", "jobShardingStrategyType", _STRATEGIES, Sentence("items are spread as 'sticky' does")
        )
        self._choose(settings, "on_failure", "jobErrorHandlerType", _ERROR_HANDLERS, Sentence("a failure is logged"))
        self._tell_the_rest()
        return settings

    def _copied(self) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        if "shardingTotalCount" in self._keys:
            copied["items"] = _whole(self._keys, "shardingTotalCount")
        texts = {"timezone": "timeZone", "param": "jobParameter", "description": "description"}
        texts["item_params"] = "shardingItemParameters"
        for setting, key in texts.items():
            text = as_text(self._keys.get(key))
            if text:
                copied[setting] = text
        return copied

    def _kind(self) -> dict[str, Any]:
        """Return what it runs: a built-in kind, or code of the job's own name."""
        kind = as_text(self._keys.get("elasticJobType")).upper()
        props = flat_props(self._keys.get("props"))
        line = props.pop("script.command.line", "") or as_text(self._keys.get("scriptCommandLine"))
        is_http = kind == "HTTP" or (not kind and any(key.startswith("http.") for key in props))
        if kind == "SCRIPT" or (not kind and line):
            task = script_task(line)
            self._remark(
                "props.script.command.line",
                Sentence("the sharding context is not appended as JSON; see SHARDSCHED_ITEM"),
            )
        elif is_http:
            task = http_task(props)
        else:
            task = {}
            if kind == "DATAFLOW" or props.pop("streaming.process", ""):
                self._remark("elasticJobType", Sentence("its fetching and processing is ported as a dataflow job"))
        for key in props:
            self._remark(f"props.{key}", Sentence("there is nothing like it; give it as the job's parameter"))
        return task or {"handler": self._name}

    def _choose(
        self, settings: dict[str, Any], setting: str, key: str, choices: Mapping[str, str], otherwise: str
    ) -> None:
        text = as_text(self._keys.get(key))
        if text in choices:
            settings[setting] = choices[text]
        elif text:
            self._remark(key, Sentence("%(text)s is not known; %(otherwise)s", text=text[:80], otherwise=otherwise))

    def _tell_the_rest(self) -> None:
        if not _flag(self._keys, "monitorExecution", default=True):
            self._remark("monitorExecution", Sentence("what runs is always recorded"))
        if as_text(self._keys.get("maxTimeDiffSeconds", "-1")) not in {"-1", "0"}:
            self._remark(
                "maxTimeDiffSeconds", Sentence("an executor whose clock is off by more than 60 s takes no items")
            )
        if _flag(self._keys, "overwrite", default=False):
            self._remark("overwrite", Sentence("it belongs to the code; give it to @sharded_job"))
        for key, value in self._keys.items():
            if key in _NO_LIKE and value not in ("", [], {}):
                self._remark(key, _NO_LIKE[key])
            elif key not in _KNOWN and key not in _NO_LIKE:
                self._remark(key, Sentence("it is not known"))

    def _remark(self, key: str, reason: str) -> None:
        self._harvest.remark(key, reason, name=self._name, place=self._place)


def _camel(key: str) -> str:
    """Return a key as Java writes it; Spring takes dashes too."""
    return re.sub(r"-(\w)", lambda found: found[1].upper(), key)


def flat_props(props: Any, above: str = "") -> dict[str, str]:
    """Return properties by their names with dots; in YAML they may also stand one below the other."""
    flat: dict[str, str] = {}
    for key, value in props.items() if isinstance(props, dict) else ():
        if isinstance(value, dict):
            flat |= flat_props(value, f"{above}{key}.")
        else:
            flat[f"{above}{key}"] = as_text(value)
    return flat


def _flag(keys: Mapping[str, Any], key: str, *, default: bool) -> bool:
    text = as_text(keys.get(key, default)).lower()
    if text not in {"true", "false"}:
        message = Sentence("%(key)s is %(text)r; write true or false", key=key, text=text[:80])
        raise ValueError(message)
    return text == "true"


def _whole(keys: Mapping[str, Any], key: str) -> int:
    text = as_text(keys[key])
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        message = Sentence("%(key)s is %(text)r; write a whole number", key=key, text=text[:80])
        raise ValueError(message)
    return int(text)
