"""The log of failures and refusals, with one line for each, as text or as JSON.

Operators read the log. A line may contain annotators' names and visitors' addresses, but never passwords,
grades, queries or texts of documents.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from traceback import walk_tb
from typing import Any

from curation.core.characters import show_controls

LOG = logging.getLogger("goldgrade")
# Environment variable that is `json` for JSON lines; processes of jobs inherit it
FORM = "GOLDGRADE_LOG"
_CONTENT_PATTERN = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|\d+")
_LINE_FORMAT = "%(asctime)s %(levelname)s %(message)s"


def make_failure_id() -> str:
    """Make the id of a failure, which both the page and the log show."""
    return secrets.token_hex(4)


def configure() -> None:
    """Write the log to standard error, in the form that the environment variable requests."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonFormatter() if os.environ.get(FORM) == "json" else _TextFormatter())
    LOG.handlers = [handler]
    LOG.setLevel(logging.INFO)
    LOG.propagate = False


def write(level: int, message: str, *, error: BaseException | None = None, **fields: Any) -> None:
    """Write a log line; `fields` are the line's machine-readable values, without those that are None."""
    present = {name: value for name, value in fields.items() if value is not None}
    LOG.log(level, "%s", message, exc_info=error, extra={"fields": present})


def remove_content(sentence: str) -> str:
    """Remove quotations and numbers from a refusal's sentence, because they may be personal data or
    grades."""
    return _CONTENT_PATTERN.sub("…", sentence)


def describe_origin(error: BaseException) -> str:
    """Name an error's class and the code line that raised it, such as "RefusedError at decisions.py:188"."""
    frame = list(walk_tb(error.__traceback__))[-1:]
    position = "".join(f" at {Path(caller.f_code.co_filename).name}:{line}" for caller, line in frame)
    return f"{type(error).__name__}{position}"


class _TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__(_LINE_FORMAT)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        record.message = show_controls(" ".join(record.message.splitlines()))
        context = " ".join(f"{name}={_quote_value(value)}" for name, value in _get_fields(record).items())
        return f"{super().formatMessage(record)}{f' [{context}]' if context else ''}"

    def format(self, record: logging.LogRecord) -> str:
        return _escape_unprintable(super().format(record))


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **_get_fields(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _escape_unprintable(json.dumps(line, ensure_ascii=False, default=str))


def _get_fields(record: logging.LogRecord) -> dict[str, Any]:
    return getattr(record, "fields", {})


def _escape_unprintable(text: str) -> str:
    """Escape unprintable characters for JSON, such as those that change the direction of text."""
    return "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)


def _quote_value(value: Any) -> str:
    """Return a value as one line of text for the log, in quotes if needed."""
    text = str(value)
    return text if text.isprintable() and " " not in text and text else json.dumps(text)
