"""Reading of files in the SMART system's format.

A file has documents or queries, or is a list of relevant documents.

A record begins with `.I` and has a field for each mark: `.T` title, `.A` author, `.W` text, `.B` source, `.K`
keywords. A field for any other mark has the letter of the mark as its name. The list of the collection CISI
(`.REL`) has a query and a relevant document on each line, followed by two columns of zeros; the grade is 1.
The list of the collection MEDLINE has TREC's four columns and is read as `qrels`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from curation.ingest.readers.bounds import start_record_text
from curation.ingest.readers.problems import Problems, quoted_excerpt
from curation.ingest.readers.sgml import join_paragraph_lines

_FIELDS = {"T": "title", "A": "author", "W": "text", "B": "source", "K": "keywords"}
_RELEVANT = "1"
"""Grade of each document on a list of relevant documents."""
_RECORD = re.compile(r"\.I\s+(\S+)\s*")
_MARK = re.compile(r"^\.([A-Z])[^\S\n]*+(?:\n|\Z)", re.MULTILINE)
_PAIR = re.compile(r"\s*+(\S++)\s++(\S++)(?:\s++0*+\.?0*+)*+")
_LIST = "Expected a query and a relevant document, followed only by zeros."
Rows = Iterator[tuple[int, dict[str, Any]]]
"""Number of the line on which a record begins, and the fields of the record."""


def read_smart_rows(lines: Iterable[str], problems: Problems) -> Rows:
    """Yield the records (id, title, text, …) of a SMART file, or the rows (query_id, document, grade) of a
    list of relevant documents."""
    for number, line in enumerate(lines := iter(lines), 1):
        if line.strip():
            rest = chain([(number, line)], enumerate(lines, number + 1))
            yield from (
                _read_records(rest, problems) if line.startswith(".") else _read_listed_pairs(rest, problems)
            )


def is_smart_qrels(text: str) -> bool:
    """Return whether the lines are a list of relevant documents, each followed by zeros."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return bool(rows) and all(len(row) == 4 and _PAIR.fullmatch(" ".join(row)) for row in rows)


def _read_records(lines: Iterable[tuple[int, str]], problems: Problems) -> Rows:
    first_line, name, text, has_mark = 0, "", start_record_text(problems, ""), False
    for number, line in lines:
        record = _RECORD.fullmatch(line)
        if record is not None:
            if first_line:
                yield first_line, _split_fields(name, text.whole())
            first_line, name, has_mark = number, record[1], False
            text = start_record_text(problems, f"line {number}: the record")
        elif line.startswith(".I") and not line[2:].strip():
            problems.add(number, "a record without an id", "Expected a line with .I and a number.")
        elif first_line and (has_mark or _MARK.fullmatch(line)):
            has_mark = True
            text.add(line)
        elif line.strip():
            problems.add(
                number, f"{quoted_excerpt(line)} belongs to no field", "Expected .I, then a line such as .W."
            )
    if first_line:
        yield first_line, _split_fields(name, text.whole())


def _split_fields(name: str, text: str) -> dict[str, Any]:
    _, *pieces = _MARK.split(text)
    fields = {"id": name, "title": "", "text": ""}
    texts_of_mark: defaultdict[str, list[str]] = defaultdict(list)
    for mark, part in zip(pieces[::2], pieces[1::2], strict=True):
        texts_of_mark[mark].append(part)
    for mark, texts in texts_of_mark.items():
        fields[_FIELDS.get(mark, mark.lower())] = join_paragraph_lines("".join(texts))
    return fields


def _read_listed_pairs(lines: Iterable[tuple[int, str]], problems: Problems) -> Rows:
    for number, line in lines:
        pair = _PAIR.fullmatch(line)
        if pair is not None:
            yield number, {"query_id": pair[1], "document": pair[2], "grade": _RELEVANT}
        elif line.strip():
            problems.add(number, f"found {quoted_excerpt(line)}", _LIST)
