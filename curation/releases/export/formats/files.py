"""What all formats write with: lines, tables, and what a writer tells of its files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Written:
    """What a writer did.

    Attributes
    ----------
    ids: how ids were changed.
    rows: file → rows, for formats whose rows are made from several grades.
    left_out: reason → number.
    """

    ids: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


def json_line(value: Any) -> str:
    """JSON on one line, with real characters and keys in their order."""
    return json.dumps(value, ensure_ascii=False)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """UTF-8, a line feed after each line, on every system."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str) -> None:
    """A table with a header; fields are quoted where they need it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        plain = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        quoted = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        plain.writerow(header)
        for row in rows:
            # Older Pythons do not quote a lone carriage return, and take it for the end of the row.
            writer = quoted if any("\r" in str(field) for field in row) else plain
            writer.writerow(row)
