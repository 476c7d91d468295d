"""SMART's files: records that begin with `.I`, with a field for each mark; lists of relevant documents.

The marks are `.T` title, `.A` author, `.W` text, `.B` source, `.K` keywords; others keep their letter. The
list (`.REL`) has a query and a relevant document a line, and in the form of CISI two columns of zeros behind
them: it names relevant documents only, so their grade is 1. MEDLINE's list has TREC's four columns and is
`qrels`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from curation.sources.tables.bounds import LONGEST_LINE
from curation.sources.tables.classic.prose import shown, unwrapped
from curation.sources.tables.problems import Problems

NAMES = {"T": "title", "A": "author", "W": "text", "B": "source", "K": "keywords"}
RELEVANT = "1"

_RECORD = re.compile(r"\.I\s+(\S+)\s*")
_FIELD = re.compile(r"\.([A-Z])\s*")
_LIST = "Expected a query and a relevant document, and behind them nothing but zeros."


def smart_rows(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records (id, title, text, …) of a file, or the rows (query_id, document, grade) of a list."""
    for number, line in enumerate(lines := iter(lines), 1):
        if line.strip():
            rest = chain([(number, line)], enumerate(lines, number + 1))
            yield from _records(rest, problems) if line.startswith(".") else _relevant(rest, problems)


def is_list(text: str) -> bool:
    """Whether lines are a list of relevant documents with zeros behind them."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return bool(rows) and all(len(row) == 4 and not _is_odd(row) for row in rows)


def _records(lines: Iterable[tuple[int, str]], problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    begun, parts, mark, size = 0, dict[str, list[str]](), "", 0
    for number, line in lines:
        record = _RECORD.fullmatch(line)
        field = _FIELD.fullmatch(line)
        if record is not None:
            if begun:
                yield begun, _fields(parts)
            begun, parts, mark, size = number, {"I": [record[1]]}, "", 0
        elif line.startswith(".I") and not line[2:].strip():
            problems.add(number, "a record without an id", "Expected .I and a number.")
        elif field is not None and begun:
            mark = field[1]
            parts.setdefault(mark, []).append("")
        elif mark:
            parts[mark].append(line)
            size += len(line)
            if size > LONGEST_LINE:
                problems.stop(f"line {begun}: a record of more than {LONGEST_LINE // 10**6} MB")
        elif line.strip():
            problems.add(number, f"{shown(line)} belongs to no field", "Expected .I, then a mark such as .W.")
    if begun:
        yield begun, _fields(parts)


def _fields(parts: dict[str, list[str]]) -> dict[str, Any]:
    found = {NAMES.get(mark, mark.lower()): unwrapped("".join(lines)) for mark, lines in parts.items()}
    return {"id": found.pop("i"), "title": "", "text": "", **found}


def _relevant(lines: Iterable[tuple[int, str]], problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines:
        row = line.split()
        if not row:
            continue
        if len(row) < 2 or _is_odd(row):
            problems.add(number, f"found {shown(line)}", _LIST)
        else:
            yield number, {"query_id": row[0], "document": row[1], "grade": RELEVANT}


def _is_odd(row: list[str]) -> bool:
    return any(cell.strip("0") not in ("", ".") for cell in row[2:])
