"""Marks of rejected or skipped rows, which an import leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from curation.ingest.readers.column_search import match_column

_COLUMNS = ("status", "record_status", "decision", "verdict")
_OF_JUDGMENTS = ("answer", *_COLUMNS)
_LEFT_OUT_WORD = re.compile(r"(reject|ignore|skip|discard|archive)(e?d|ped)?", re.IGNORECASE)


def find_mark_columns(columns: Sequence[str], used: Iterable[str], judged: bool = False) -> list[str]:
    """Return the columns that may mark rows as rejected or skipped, except columns that the import reads for
    a field.

    Parameters
    ----------
    judged: whether the column `answer` may also mark rows, as in Prodigy's files.
    """
    names = [match_column([name], columns) or name for name in (_OF_JUDGMENTS if judged else _COLUMNS)]
    return [name for name in names if name not in used]


def find_mark(values: Mapping[str, Any], columns: Iterable[str]) -> tuple[str, str] | None:
    """Return the column and the lower-case word that mark a row as rejected or skipped, or None if nothing
    does."""
    for column in columns:
        word = values.get(column)
        if isinstance(word, str) and _LEFT_OUT_WORD.fullmatch(word.strip()):
            return column, word.strip().casefold()
    return None
