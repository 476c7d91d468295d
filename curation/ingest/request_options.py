"""Options shared by several import requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from curation.core.request import Option, option
from curation.ingest.readers.fields import file_fields

MARKUPS: dict[str, str] = {
    "plain": "Plain text",
    "html": "HTML",
    "markdown": "Markdown",
    "code": "Code",
    "file": "The markup of each file",
}
"""Name for people of each kind of markup in the texts of a corpus."""
CURRENT, EARLIER = "current", "earlier"
"""Choices of the text that judgments of a changed document are about: the current text or the earlier text.
"""
DATE_ORDERS = {"mdy": "month first (03/25/2026)", "dmy": "day first (25/03/2026)"}
SkipUnknown = Annotated[
    bool,
    Option(
        "Leave out lines with unknown queries or documents",
        "Leave out lines with unknown queries or documents. By default, the command refuses such a file.",
    ),
]
GradeMap = Annotated[
    str | None,
    Option(
        "Grades on another scale",
        "Grades on another scale: 100=3,10=2,1=1,0=0. A grade may also become cannot-tell or no-grade.",
    ),
]
Encoding = Annotated[
    str,
    Option(
        "Encoding",
        "Encoding of text files, such as latin-1 or cp1252.",
        choices=("utf-8", "utf-16", "latin-1", "cp1252"),
        accepts_others=True,
    ),
]
DateOrder = Annotated[
    str | None,
    Option(
        "Order of day and month",
        "How to read dates such as 03/04/2026: mdy or dmy. mdy has the month first, dmy the day.",
        choices=tuple(DATE_ORDERS),
        words=DATE_ORDERS,
        unset="the file has no such dates",
    ),
]


def columns_option(record: Any) -> Any:
    """Return the option --map for the fields of one kind of file."""
    labels = [(field.name, f"{field.label[:1].lower()}{field.label[1:]}") for field in file_fields(record)]
    field_list = [name if label == name else f"{name} ({label})" for name, label in labels]
    help = f"Column that holds a field, such as query=qid. Repeatable. Fields: {', '.join(field_list)}."
    return option((), "Columns", help, flag="--map", metavar="FIELD=COLUMN")


def format_option(formats: Sequence[str]) -> Any:
    """Return the option --format of an import that reads these formats."""
    default = "By default, the format is detected from the file's name or its first bytes."
    help = f"Format of the file. One of {', '.join(formats)}. {default}"
    return option(None, "Format", help, choices=tuple(formats), unset="recognized from the file")
