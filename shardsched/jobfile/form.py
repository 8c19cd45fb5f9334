"""Which form a job file has, and what it holds in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from shardsched.errors import JobFileError
from shardsched.jobfile.crontab import looks_like_crontab, parse_crontab
from shardsched.jobfile.elasticjob import is_elasticjob, parse_elasticjob
from shardsched.jobfile.entry import Entry, Parsed, Remark
from shardsched.jobfile.native import parse_native
from shardsched.jobfile.text import load_json
from shardsched.jobfile.xxl_job import is_xxl_job, looks_like_csv, parse_xxl_csv, parse_xxl_rows
from shardsched.jobfile.yaml_text import load_yaml
from shardsched.sentence import Sentence


class Form(StrEnum):
    """The form of a job file."""

    AUTO = "auto"
    """To be found out by what the file holds."""
    YAML = "yaml"
    """Our own, in YAML."""
    JSON = "json"
    """Our own, in JSON."""
    CRONTAB = "crontab"
    """A crontab."""
    ELASTICJOB = "elasticjob"
    """ElasticJob's YAML."""
    XXL_JOB = "xxl-job"
    """Rows of XXL-JOB, in JSON or CSV."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of all jobs of a file."""

    form: Form = Form.AUTO
    """The file's form."""
    is_system: bool | None = None
    """Whether a crontab has a user before each command; None to find out."""
    handler: str | None = None
    """Handler of the jobs that run code, in the place of the file's."""
    timezone: str | None = None
    """Zone of the jobs for which the file names none."""
    prefix: str = ""
    """Put before each name."""


def parse_jobs(text: str, wish: Wish) -> Parsed:
    """Return what the text of a job file holds.

    Raises:
        JobFileError: The file as a whole cannot be read; the message names the line where it can.
    """
    return _adapted(_parsed(text, wish), wish)


def _parsed(text: str, wish: Wish) -> Parsed:
    if wish.form is Form.AUTO:
        return _found_out(text, wish)
    if wish.form is Form.YAML:
        return parse_native(_only(load_yaml(text)))
    if wish.form is Form.JSON:
        return parse_native(load_json(text))
    if wish.form is Form.CRONTAB:
        return parse_crontab(text, is_system=wish.is_system)
    if wish.form is Form.ELASTICJOB:
        return parse_elasticjob(load_yaml(text))
    return parse_xxl_rows(load_json(text)) if text.lstrip()[:1] in {"[", "{"} else parse_xxl_csv(text)


def _found_out(text: str, wish: Wish) -> Parsed:
    if not text.strip():
        raise JobFileError(Sentence("it is empty"))
    if text.lstrip()[0] in "[{":
        return _of_json(load_json(text))
    if looks_like_csv(text):
        return parse_xxl_csv(text)
    if looks_like_crontab(text):
        return parse_crontab(text, is_system=wish.is_system)
    documents = load_yaml(text)
    if any(is_elasticjob(document) for document in documents):
        return parse_elasticjob(documents)
    return parse_native(_only(documents))


def _of_json(document: Any) -> Parsed:
    if is_xxl_job(document):
        return parse_xxl_rows(document)
    return parse_elasticjob([document]) if is_elasticjob(document) else parse_native(document)


def _only(documents: list[Any]) -> Any:
    if len(documents) != 1:
        raise JobFileError(Sentence("it has %(count)s YAML documents; write one", count=len(documents)))
    return documents[0]


def _adapted(parsed: Parsed, wish: Wish) -> Parsed:
    names = {entry.name for entry in parsed.entries}
    entries = tuple(_wished(entry, wish, names) for entry in parsed.entries)
    remarks = tuple(replace(remark, name=wish.prefix + remark.name if remark.name else "") for remark in parsed.remarks)
    is_zoned = wish.timezone or parsed.form == "shardsched" or all("timezone" in entry.settings for entry in entries)
    if not is_zoned:
        reason = Sentence(
            "the file names none, and the machine's is not taken: times are read as UTC unless --timezone says more"
        )
        remarks = (Remark(what="timezone", reason=reason), *remarks)
    refusals = tuple(
        replace(refusal, name=wish.prefix + refusal.name if refusal.name else "") for refusal in parsed.refusals
    )
    return replace(parsed, entries=entries, refusals=refusals, remarks=remarks)


def _wished(entry: Entry, wish: Wish, names: set[str]) -> Entry:
    settings = dict(entry.settings)
    handler = settings.get("handler")
    if wish.handler is not None and not (isinstance(handler, str) and handler.startswith("@")):
        settings["handler"] = wish.handler
    if wish.timezone is not None:
        settings.setdefault("timezone", wish.timezone)
    after = settings.get("after")
    if wish.prefix and isinstance(after, list | tuple):
        settings["after"] = [wish.prefix + name if isinstance(name, str) and name in names else name for name in after]
    return replace(entry, name=wish.prefix + entry.name, settings=settings)
