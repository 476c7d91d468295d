"""The record by which an export format is known, and what all formats write with: lines and tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


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


@dataclass(frozen=True)
class ExportFormat:
    """An export format.

    Attributes
    ----------
    name: as `goldset export --format` names it.
    write: writes its files into a folder.
    note: what the help adds to the name in brackets.
    readers: what reads it, as people choose by.
    sealed_by_default: whether grades of sealed parts are written where no parts are named.
    never_sealed: whether grades of sealed parts can be named at all.
    takes_unjudged: whether it has a place for pairs without a grade.
    takes_negatives: whether each positive has hard negatives with it.
    """

    name: str
    write: Callable[[Path, Gold], Written]
    note: str = ""
    sealed_by_default: bool = True
    never_sealed: bool = False
    takes_unjudged: bool = False
    takes_negatives: bool = False
    readers: str = ""

    @property
    def help(self) -> str:
        """The name, with its note."""
        return f"{self.name} ({self.note})" if self.note else self.name
