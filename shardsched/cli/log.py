"""How the command line logs: one line a record on standard error, as text or JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TextFormatter(logging.Formatter):
    """Time in UTC, level, message, then the event's fields as ``name=value``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line, with a traceback below it if there is one."""
        fields = " ".join(f"{name}={_shown(value)}" for name, value in _fields(record).items() if name != "event")
        line = f"{_time(record)} {record.levelname:<7} {record.getMessage()}" + (f"  [{fields}]" if fields else "")
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object a line: ``time``, ``level``, ``logger``, ``message``, and the event's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        document = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return json.dumps(document | _fields(record), default=str)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if text.isprintable() and " " not in text and text else json.dumps(text)


def configure_logging(*, as_json: bool, is_verbose: bool) -> None:
    """Have everything from INFO on written to standard error; with verbose, our own from DEBUG on."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("shardsched").setLevel(logging.DEBUG if is_verbose else logging.INFO)
