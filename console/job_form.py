"""The settings of a job as fields of a form, and what is wrong with them beside the field where it is.

What a setting may be is decided by the scheduler itself; here texts become values and faults find their fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.job_revision import shown_settings
from console.job_task_form import (
    PREFIX,
    FormFault,
    field_name,
    lines_of,
    number_of,
    pairs_of,
    read_task,
    task_fields,
    task_values,
    whole_of,
)
from console.sentence_text import said
from console.text import gettext as _
from shardsched.core.item import format_item_params, format_items, parse_item_params, parse_items
from shardsched.core.setting import PUBLIC_NAMES, new_job, public_settings
from shardsched.core.task import is_builtin
from shardsched.errors import ConfigurationError, CronExpressionError, ItemParameterError, JobConfigError
from shardsched.jobfile.hidden import hidden_name, restored_task
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from werkzeug.datastructures import MultiDict

    from shardsched.core.job import JobConfig

CODE = "code"
PARAM_ROWS = 200
"""Item parameters shown as rows of a table; more are one text."""
_MAX_FAULTS = 12

_TEXTS = ("cron", "timezone", "param", "description", "on_failure")
_CHOICES = ("misfire", "isolation", "strategy", "after_mode", "after_on")
_NUMBERS = ("misfire_grace", "stop_grace", "retry_delay", "retry_backoff", "retry_max_delay")
_LIMITS = ("timeout", "warn_after")
_WHOLE = ("items", "priority", "retries")
_FLAGS = ("failover", "paused")
_LISTS = ("pause", "after")
_AREAS = frozenset({"param", "description", "pause", "after", "labels", "item_params_text"})


def read_form(form: MultiDict[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings in a form by the names that people use, and what cannot be read, by field."""
    faults: dict[str, str] = {}

    def read(name: str, make: Callable[[str], Any], empty: Any) -> Any:
        text = form.get(name, "").strip()
        try:
            return make(text) if text else empty
        except FormFault as fault:
            faults[name] = str(fault)
        except ItemParameterError as error:
            faults[name] = said(error)
        return empty

    settings: dict[str, Any] = {name: form.get(name, "").replace("\r\n", "\n") for name in ("param", "description")}
    settings |= {name: form.get(name, "").strip() for name in ("cron", "timezone", "on_failure", *_CHOICES)}
    settings |= {name: read(name, whole_of, None) for name in _WHOLE}
    settings |= {name: read(name, number_of, None) for name in (*_NUMBERS, *_LIMITS)}
    settings |= {name: [line.strip() for line in lines_of(form.get(name, ""))] for name in _LISTS}
    settings |= {name: name in form for name in _FLAGS}
    settings["labels"] = read("labels", lambda text: pairs_of(text, "="), {})
    settings["disabled_items"] = list(read("disabled_items", parse_items, ()))
    settings["item_params"] = _item_params(form, faults)
    kind = form.get("kind", CODE)
    settings["handler"] = kind if is_builtin(kind) else form.get("handler", "").strip()
    settings["task"] = read_task(kind, form, faults) if is_builtin(kind) else {}
    for name in (*_WHOLE, *_NUMBERS, *_CHOICES, "timezone", "on_failure"):
        if settings[name] in {None, ""}:
            del settings[name]  # the default, or told as a fault already
    return settings, faults


def _item_params(form: MultiDict[str, str], faults: dict[str, str]) -> dict[int, str]:
    if "item_params_text" in form:
        try:
            return parse_item_params(form["item_params_text"].strip())
        except ItemParameterError as error:
            faults["item_params"] = said(error)
            return {}
    params: dict[int, str] = {}
    for item, value in zip(form.getlist("param_item"), form.getlist("param_value"), strict=False):
        if not value:
            continue  # no parameter is the same as an empty one
        if not item.strip().isascii() or not item.strip().isdigit() or len(item.strip()) > 5:
            faults["item_params"] = _("%(item)s is not the number of an item.", item=item.strip() or "-")
        elif int(item) in params:
            faults["item_params"] = _("Item %(item)s is given twice.", item=int(item))
        else:
            params[int(item)] = value
    return params


def form_values(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings, by the names that people use and as JSON, as the texts of a form's fields."""
    handler = settings["handler"]
    values: dict[str, Any] = {name: settings[name] for name in (*_TEXTS, *_CHOICES)}
    values |= {name: number_text(settings[name]) for name in (*_WHOLE, *_NUMBERS, *_LIMITS)}
    values |= {name: "\n".join(settings[name]) for name in _LISTS}
    values |= {name: settings[name] for name in _FLAGS}
    values["labels"] = "\n".join(f"{key}={value}" for key, value in settings["labels"].items())
    values["disabled_items"] = format_items(settings["disabled_items"])
    params = {int(item): text for item, text in settings["item_params"].items()}
    if len(params) > PARAM_ROWS:
        values["item_params_text"] = format_item_params(params)
    values["item_params"] = [(str(item), text) for item, text in sorted(params.items())]
    values["kind"] = handler if is_builtin(handler) else CODE
    values["handler"] = "" if is_builtin(handler) else handler
    return values | task_values(handler, settings["task"])


def given_values(form: MultiDict[str, str]) -> dict[str, Any]:
    """Return what was sent, to be shown again."""
    values: dict[str, Any] = form.to_dict()
    values |= {name: name in form for name in _FLAGS}
    rows = zip(form.getlist("param_item"), form.getlist("param_value"), strict=False)
    values["item_params"] = [row for row in rows if any(row)]
    return values


def number_text(value: float | None) -> str:
    """Return a number as it is typed; empty for none."""
    if value is None:
        return ""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def keep_untouched(
    settings: dict[str, Any], faults: dict[str, str], form: MultiDict[str, str], stored: JobConfig
) -> dict[str, Any]:
    """Return the settings of a form, those whose fields nobody touched as they are stored, to the last bit.

    Not every text can be typed into a field; what is only looked at must not be changed by it.
    """
    shown, kept = form_values(shown_settings(stored)), dict(settings)
    as_stored = public_settings(stored) | {"item_params": dict(stored.item_params)}
    for setting in PUBLIC_NAMES.values():
        fields = _fields_of(setting, stored.handler)
        if setting in {"failover", "paused", *_CHOICES} or not all(_is_same(name, form, shown) for name in fields):
            continue
        kept[setting] = as_stored[setting]
        for name in (*fields, setting):
            faults.pop(name, None)
    return kept


def _fields_of(setting: str, handler: str) -> tuple[str, ...]:
    if setting == "task":
        return ("kind", *task_fields(handler))
    if setting == "handler":
        return ("kind", "handler")
    return ("item_params_text", "item_params") if setting == "item_params" else (setting,)


def _is_same(name: str, form: MultiDict[str, str], shown: Mapping[str, Any]) -> bool:
    if name == "item_params":
        if "item_params_text" in form:
            return True
        rows = [row for row in zip(form.getlist("param_item"), form.getlist("param_value"), strict=False) if any(row)]
        return [(item, _one_line(text)) for item, text in rows] == [
            (item, _one_line(text)) for item, text in shown["item_params"]
        ]
    before, after = shown.get(name) or "", form.get(name, "")
    if name in _AREAS or name.startswith(PREFIX):
        return _with_plain_ends(before) == _with_plain_ends(after)
    return _one_line(before) == _one_line(after)


def _one_line(text: str) -> str:
    """Return a text as a field of one line gives it back."""
    return text.replace("\r", "").replace("\n", "")


def _with_plain_ends(text: str) -> str:
    """Return a text with the ends of lines as we keep them; browsers send others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def with_secrets(settings: dict[str, Any], stored: Mapping[str, Any], faults: dict[str, str]) -> dict[str, Any]:
    """Return settings in whose task what is shown as ``***`` is what is stored."""
    task = restored_task(settings["task"], stored)
    name = hidden_name(task)
    if name is not None:
        key = name.partition(".")[0]
        text = _("%(name)s is hidden and not known here; write its value.", name=name)
        faults.setdefault(field_name(settings["handler"], key), text)
    return settings | {"task": task}


def unmasked(settings: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON has them, ready to be stored: keys of items are numbers, secrets are filled in.

    Raises:
        ConfigurationError: A key is not the number of an item, or a secret is not known.
    """
    made = dict(settings)
    if made.get("item_params") is not None and "item_params" in made:
        made["item_params"] = {item_number(item): text for item, text in made["item_params"].items()}
    if made.get("task"):
        made["task"] = restored_task(made["task"], stored)
        name = hidden_name(made["task"])
        if name is not None:
            message = Sentence("the task's %(name)r is hidden and not known here; write its value", name=name[:80])
            raise JobConfigError(message, setting="task")
    return made


def item_number(text: str | int) -> int:
    """Return the item that a key of JSON names.

    Raises:
        ItemParameterError: It names none.
    """
    if isinstance(text, int) or (text.isascii() and text.isdigit() and len(text) <= 5):
        return int(text)
    raise ItemParameterError(Sentence("item parameters: %(text)r is not the number of an item", text=text[:60]))


def settings_faults(name: str, settings: Mapping[str, Any], now: datetime) -> dict[str, str]:
    """Return what the scheduler would refuse, by field; empty where it takes all."""
    faults: dict[str, str] = {}
    left, checked = dict(settings), name
    for _count in range(_MAX_FAULTS):
        try:
            new_job(checked, "-", left, now)
        except ConfigurationError as error:
            field = fault_field(error, str(left.get("handler", "")))
            if field in faults:
                break
            faults[field] = said(error)
            if field == "name":
                checked = "x"
            elif not _leave_out(left, error):
                break
        else:
            break
    return faults


def _leave_out(settings: dict[str, Any], error: ConfigurationError) -> bool:
    """Put a setting at fault aside, so that the next fault is found; return whether that can be done."""
    setting = fault_setting(error)
    if setting in {"handler", "task"}:
        settings |= {"handler": "x", "task": {}}
        return True
    return settings.pop(setting, None) is not None


def fault_setting(error: ConfigurationError) -> str:
    """Return the name of the setting at fault, empty where it is none in particular."""
    if isinstance(error, CronExpressionError):
        return "timezone" if error.field == "timezone" else "cron"
    if isinstance(error, ItemParameterError):
        return "item_params"
    setting = error.setting if isinstance(error, JobConfigError) else ""
    # Some messages begin with the setting, some with "a value of" it.
    words = (word for word in str(error).split(" ", 4)[:4] if word in PUBLIC_NAMES.values())
    return setting or next(words, "")


def fault_field(error: ConfigurationError, handler: str) -> str:
    """Return the name of the field at fault, empty where it is none in particular."""
    setting = fault_setting(error)
    if setting == "task":
        key = error.key if isinstance(error, JobConfigError) else ""
        return field_name(handler, key) if key else "kind"
    return setting
