"""Rows that a tool marks as rejected, skipped or archived: these are no judgments, queries or answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from curation.ingest.readers.columns import like

_COLUMNS = ("status", "record_status", "decision", "verdict")
_OF_JUDGMENTS = ("answer", *_COLUMNS)
_NOT_TAKEN = re.compile(r"(reject|ignore|skip|discard|archive)(e?d|ped)?", re.IGNORECASE)


class RowMark(NamedTuple):
    """The column that marks a row, and what it says in lower case."""

    column: str
    said: str

    @property
    def is_rejection(self) -> bool:
        """Whether somebody looked, and said no."""
        return self.said.startswith("reject")


def mark_columns(columns: Sequence[str], used: Iterable[str], judged: bool = False) -> list[str]:
    """The columns that may mark rows: of these, and without those that are used for something else.

    Parameters
    ----------
    judged: `answer` is one too, as in files of Prodigy.
    """
    names = [like([name], columns) or name for name in (_OF_JUDGMENTS if judged else _COLUMNS)]
    return [name for name in names if name not in used]


def mark_of(values: Mapping[str, Any], columns: Iterable[str]) -> RowMark | None:
    """What marks a row as not to be taken, if something does."""
    for column in columns:
        said = values.get(column)
        if isinstance(said, str) and _NOT_TAKEN.fullmatch(said.strip()):
            return RowMark(column, said.strip().casefold())
    return None
