"""Our own job files: a format version, and the jobs by name with all of their settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shardsched.core.secret import shown_task
from shardsched.core.setting import public_settings
from shardsched.errors import JobFileError
from shardsched.jobfile.entry import Harvest
from shardsched.jobfile.text import Block
from shardsched.jobfile.yaml_text import dump_yaml
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shardsched.core.job import JobConfig
    from shardsched.jobfile.entry import Parsed

FORMAT = 1
"""Version of the files' form. A file of a higher one is refused, never guessed at."""
_KEYS = ("format", "jobs")


def job_document(configs: Iterable[JobConfig], *, with_secrets: bool = False) -> dict[str, Any]:
    """Return jobs as the document of a job file, in the order of their names.

    Args:
        configs: The jobs.
        with_secrets: Whether the secrets of tasks are written. Where they are hidden, an import takes them from the
            stored job, and refuses the job if there is none.
    """
    jobs = {config.name: public_settings(config) for config in sorted(configs, key=lambda config: config.name)}
    for settings in () if with_secrets else jobs.values():
        settings["task"] = shown_task(settings["task"])
    return {"format": FORMAT, "jobs": jobs}


def write_yaml(document: Mapping[str, Any]) -> str:
    """Return a document as YAML."""
    return dump_yaml(dict(document))


def write_json(document: Mapping[str, Any]) -> str:
    """Return a document as JSON."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def parse_native(document: Any) -> Parsed:
    """Return the jobs of a job file.

    Raises:
        JobFileError: It is not such a document, or of a newer release.
    """
    if not isinstance(document, dict):
        raise JobFileError(Sentence("it is not a mapping with the keys 'format' and 'jobs'"))
    unknown = [key for key in document if key not in _KEYS]
    if unknown:
        raise JobFileError(
            Sentence("there is no key %(unknown)r beside 'format' and 'jobs'; remove it", unknown=unknown[0][:64])
        )
    form = document.get("format")
    if isinstance(form, bool) or not isinstance(form, int) or form < 1:
        raise JobFileError(Sentence("it has no format version; write 'format: %(format)s'", format=FORMAT))
    if form > FORMAT:
        raise JobFileError(
            Sentence(
                "it has format %(form)s, of a newer release; upgrade this one (it reads %(format)s)",
                form=str(form)[:20],
                format=FORMAT,
            )
        )
    jobs = document.get("jobs")
    if jobs is not None and not isinstance(jobs, dict):
        raise JobFileError(Sentence("'jobs' is not a mapping of jobs by name"))
    harvest = Harvest("shardsched")
    for name, settings in (jobs or {}).items():
        place = jobs.place(name) if isinstance(jobs, Block) else ""
        if isinstance(settings, dict):
            harvest.add(name, _settings(settings), place)
        else:
            harvest.refuse(name, Sentence("its settings are not a mapping; write one setting a line"), place)
    return harvest.parsed()


def _settings(written: Mapping[str, Any]) -> dict[str, Any]:
    settings = dict(written)
    params = settings.get("item_params")
    if isinstance(params, dict):
        settings["item_params"] = {_item(key): text for key, text in params.items()}
    return settings


def _item(key: str) -> int | str:
    """Return an item's number; what is none stays, and is refused with the settings."""
    is_number = key.isascii() and key.isdigit() and len(key) <= 5 and key == str(int(key))
    return int(key) if is_number else key
